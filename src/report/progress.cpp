#include "report/progress.hpp"

#include <new>
#include <system_error>
#include <utility>

namespace gsort {
namespace {

// Returns to the first column, and clears the line.
constexpr const char* kWipe = "\r\x1b[K";

}  // namespace

Progress::Progress(const Meter& meter, Request request)
    : Progress(Source{[&meter] { return meter.current_phase(); },
                      [&meter] { return static_cast<double>(meter.now_ns()) * 1e-9; },
                      [] { return std::nullopt; }},
               std::move(request)) {}

Progress::Progress(Source source, Request request)
    : source_(std::move(source)), request_(std::move(request)) {
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error&) {  // a sort without progress is better than none
  }
}

Progress::~Progress() {
  end();
}

void Progress::done(std::uint64_t bytes) {
  end();
  const double seconds = source_.seconds();
  if (request_.form == Form::kJson) request_.write(done_json(seconds, bytes) + '\n');
  if (request_.form == Form::kLines && has_said_) {
    request_.write("gsort: " + done_line(seconds, bytes) + '\n');
  }
}

void Progress::end() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  if (line_is_shown_) request_.write(kWipe);
  line_is_shown_ = false;
}

void Progress::run(const std::stop_token& stop) {
  next_ = Clock::now() + kQuiet;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (woken_.wait_for(lock, stop, kBetweenLooks, [&] { return stop.stop_requested(); })) return;
    }
    try {
      look();
    } catch (const std::bad_alloc&) {  // a sort without progress is better than none
    }
  }
}

void Progress::look() {
  Status status = tracker_.look(source_.phase(), source_.seconds());
  status.slowest = source_.slowest();
  if (request_.take_request()) {
    request_.write((line_is_shown_ ? kWipe : "") + ("gsort: " + status_line(status)) + '\n');
    line_is_shown_ = false;
  }
  if (request_.form == Form::kSilent || Clock::now() < next_) return;
  say(status);
  next_ = Clock::now() + (request_.form == Form::kRewritten ? kBetweenLooks : kBetweenLines);
}

void Progress::say(const Status& status) {
  has_said_ = true;
  switch (request_.form) {
    case Form::kSilent:
      return;
    case Form::kRewritten: {
      const unsigned columns = request_.columns();
      line_is_shown_ = true;
      // A line that fills the terminal would continue in the next one, and stay there.
      request_.write(kWipe + status_line(status).substr(0, columns > 1 ? columns - 1 : 0));
      return;
    }
    case Form::kLines:
      request_.write("gsort: " + status_line(status) + '\n');
      return;
    case Form::kJson:
      request_.write(status_json(status) + '\n');
  }
}

}  // namespace gsort
