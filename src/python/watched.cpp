#include "python/watched.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "base/current_error.hpp"
#include "report/status.hpp"

namespace nb = nanobind;

namespace gsort::python {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{100};

// The thread that works, and how it ends.
class Worker {
 public:
  Worker(const std::function<void(Meter&)>& work, Meter& meter)
      : thread_([this, &work, &meter] { run(work, meter); }) {}

  // Returns whether it has ended.
  bool wait() {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, kBetweenLooks, [&] { return has_ended_; });
  }

  // Requires: is called once.
  std::exception_ptr join() {
    thread_.join();
    return failure_;
  }

 private:
  void run(const std::function<void(Meter&)>& work, Meter& meter) {
    try {
      work(meter);
    } catch (...) {
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    ended_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::exception_ptr failure_;
  std::jthread thread_;
};

void tell(const nb::object& watch, StatusTracker& tracker, const Meter& meter) {
  if (watch.is_none()) return;
  const Status status =
      tracker.look(meter.current_phase(), static_cast<double>(meter.now_ns()) * 1e-9);
  watch(name_of(status.phase), status.bytes, status.total_bytes, status.seconds,
        status.bytes_per_second, status.seconds_left, status_line(status));
}

// What ended the watching early, if anything did.
std::exception_ptr watch_until_end(Worker& worker, const nb::object& watch, StatusTracker& tracker,
                                   Meter& meter) {
  const nb::gil_scoped_release released;
  while (!worker.wait()) {
    const nb::gil_scoped_acquire held;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      tell(watch, tracker, meter);
    } catch (...) {
      meter.request_stop();
      return std::current_exception();
    }
  }
  return nullptr;
}

std::exception_ptr join_without_lock(Worker& worker) {
  const nb::gil_scoped_release released;
  return worker.join();
}

}  // namespace

void run_watched(const nb::object& watch, const std::function<void(Meter&)>& work) {
  try {
    Meter meter;
    StatusTracker tracker;
    Worker worker(work, meter);
    const std::exception_ptr raised = watch_until_end(worker, watch, tracker, meter);
    const std::exception_ptr failure = join_without_lock(worker);
    if (raised) std::rethrow_exception(raised);
    if (failure) std::rethrow_exception(failure);
    tell(watch, tracker, meter);
  } catch (nb::python_error&) {
    throw;
  } catch (...) {
    throw current_error();
  }
}

}  // namespace gsort::python
