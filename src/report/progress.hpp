// Progress: a thread that prints the progress of a sort from time to time, and on request.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/meter.hpp"
#include "report/status.hpp"

namespace gsort {

class Progress {
 public:
  enum class Form : std::uint8_t {
    kSilent,     // nothing, unless requested
    kRewritten,  // one line of a terminal, overwritten each time
    kLines,      // a line from time to time
    kJson,       // the same as JSON
  };
  struct Request {
    Form form = Form::kSilent;
    std::function<void(const std::string&)> write;  // puts text to the user; must not throw
    std::function<bool()> take_request;  // whether a status line was requested since the last call
    std::function<unsigned()> columns;   // of the terminal, for kRewritten
  };
  // The state that it reads, from its thread.
  struct Source {
    std::function<PhaseRecord()> phase;  // the progress of the sort
    std::function<double()> seconds;     // since the start
    std::function<std::optional<SlowestProcess>()> slowest;
  };
  // The first line comes after a second, so that short sorts print nothing; at most six lines a
  // second.
  static constexpr std::chrono::milliseconds kQuiet{1000};
  static constexpr std::chrono::milliseconds kBetweenLooks{170};
  static constexpr std::chrono::milliseconds kBetweenLines{1000};

  // The meter outlives it. The thread calls the functions of the request. Nothing is
  // printed if the system allows no thread, or while no memory is left.
  Progress(const Meter& meter, Request request);
  Progress(Source source, Request request);

  // Ends the thread and clears a line that would be overwritten.
  ~Progress();

  // The same after a sort of `bytes` has succeeded; call it once. Prints a last line: always in
  // JSON, as text only if there was a line before. At a terminal, the summary takes its place.
  void done(std::uint64_t bytes);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  void end();
  void run(const std::stop_token& stop);
  void look();
  void say(const Status& status);

  Source source_;
  Request request_;
  StatusTracker tracker_;
  Clock::time_point next_;  // the earliest time of the next line
  bool line_is_shown_ = false;
  bool has_said_ = false;  // anything that was not requested
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;
};

}  // namespace gsort
