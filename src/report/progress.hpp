// Progress: a thread that says now and then how far a sort has come, and when it is asked to.
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
    kSilent,     // nothing, until asked
    kRewritten,  // one line of a terminal, written over and over
    kLines,      // a line now and then
    kJson,       // the same as JSON
  };
  struct Request {
    Form form = Form::kSilent;
    std::function<void(const std::string&)> write;  // puts text to the user; must not throw
    std::function<bool()> take_request;  // whether a status line was asked for since the last call
    std::function<unsigned()> columns;   // of the terminal, for kRewritten
  };
  // The state that it reads, from its thread.
  struct Source {
    std::function<PhaseRecord()> phase;  // how far the sort is
    std::function<double()> seconds;     // since the start
    std::function<std::optional<SlowestProcess>()> slowest;
  };
  // The first line comes after a second, so that short sorts stay calm; at most six a second.
  static constexpr std::chrono::milliseconds kQuiet{1000};
  static constexpr std::chrono::milliseconds kBetweenLooks{170};
  static constexpr std::chrono::milliseconds kBetweenLines{1000};

  // The meter outlives it. What the request holds is called from the thread. Where the system
  // allows no thread, nothing is said.
  Progress(const Meter& meter, Request request);
  Progress(Source source, Request request);

  // Ends the thread and wipes a line that would be written over.
  ~Progress();

  // The same for a sort of `bytes` that has succeeded, which the last line says: as JSON always, as
  // a line if there was one before. At a terminal the summary stands in its place. Once.
  void done(std::uint64_t bytes);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void end();
  void run(const std::stop_token& stop);
  void say(const Status& status);

  Source source_;
  Request request_;
  StatusTracker tracker_;
  bool line_is_shown_ = false;
  bool has_said_ = false;  // anything that was not asked for
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;
};

}  // namespace gsort
