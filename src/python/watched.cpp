#include "python/watched.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "base/current_error.hpp"
#include "io/system/process.hpp"
#include "python/lock.hpp"
#include "report/status.hpp"

namespace nb = nanobind;

namespace gsort::python {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{100};

using Work = std::function<void(Meter&, const LastLook&)>;

// The thread that works, and how it ends.
class Worker {
 public:
  enum class State : std::uint8_t { kWorks, kWaitsForLook, kHasEnded };

  Worker(const Work& work, Meter& meter) : thread_([this, &work, &meter] { run(work, meter); }) {}

  // Waits at most kBetweenLooks for a state other than kWorks.
  State wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kBetweenLooks, [&] { return state_ != State::kWorks; });
    return state_;
  }

  // Lets the work continue after its last look.
  void go_on() {
    const std::lock_guard lock(mutex_);
    is_looked_at_ = true;
    if (state_ == State::kWaitsForLook) state_ = State::kWorks;
    changed_.notify_all();
  }

  // Requires: is called once.
  std::exception_ptr join() {
    thread_.join();
    return failure_;
  }

 private:
  void run(const Work& work, Meter& meter) {
    const io::DefaultFloats floats;
    try {
      work(meter, [&] {
        wait_for_look();
        const Span throws_if_stopped(&meter, Stage::kSync);
      });
    } catch (...) {
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    state_ = State::kHasEnded;
    changed_.notify_all();
  }

  void wait_for_look() {
    std::unique_lock lock(mutex_);
    if (is_looked_at_) return;
    state_ = State::kWaitsForLook;
    changed_.notify_all();
    changed_.wait(lock, [&] { return is_looked_at_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kWorks;
  bool is_looked_at_ = false;
  std::exception_ptr failure_;
  std::jthread thread_;
};

void tell(const nb::object& watch, StatusTracker& tracker, const Meter& meter) {
  if (watch.is_none()) return;
  const Status status =
      tracker.look(meter.current_phase(), static_cast<double>(meter.now_ns()) * 1e-9);
  const std::string line = status_line(status);
  // The function may give the lock away, and then not get it again.
  take_or_sleep([&] {
    watch(name_of(status.phase), status.bytes, status.total_bytes, status.seconds,
          status.bytes_per_second, status.seconds_left, line);
  });
}

// Watches until the last look or the end, and returns which came. Throws: the exception that ended
// watching early.
Worker::State watch_work(Worker& worker, const nb::object& watch, StatusTracker& tracker,
                         Meter& meter) {
  const Unlocked released;
  for (;;) {
    const Worker::State state = worker.wait();
    if (state == Worker::State::kHasEnded) return state;
    const Locked held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    tell(watch, tracker, meter);
    if (state == Worker::State::kWaitsForLook) return state;
  }
}

std::exception_ptr join_without_lock(Worker& worker) {
  const Unlocked released;
  return worker.join();
}

}  // namespace

void run_watched(const nb::object& watch, const Work& work) {
  try {
    Meter meter;
    StatusTracker tracker;
    Worker worker(work, meter);
    std::exception_ptr raised;
    auto state = Worker::State::kWorks;
    try {
      state = watch_work(worker, watch, tracker, meter);
    } catch (...) {
      raised = std::current_exception();
      meter.request_stop();
    }
    worker.go_on();
    const std::exception_ptr failure = join_without_lock(worker);
    if (raised) std::rethrow_exception(raised);
    if (failure) std::rethrow_exception(failure);
    if (state == Worker::State::kHasEnded) tell(watch, tracker, meter);
  } catch (nb::python_error&) {
    throw;
  } catch (...) {
    throw current_error();
  }
}

}  // namespace gsort::python
