// The pool has one list of calls that want help and of threads that wait for a call. A caller works
// on its own call, too, so a thread that cannot start, or is busy, costs only time.
#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <new>
#include <thread>

#include "base/failure.hpp"
#include "base/made_once.hpp"

namespace gsort {
namespace {

constexpr std::size_t kMostThreads = 1024;

// One call of run_workers(). The pool uses the public members, under its lock.
class Call {
 public:
  Call(unsigned workers, const std::function<void(unsigned worker)>& work)
      : helpers_wanted(workers - 1), workers_(workers), work_(work) {}

  // Runs one worker after the other, until all have been begun.
  void work() noexcept {
    for (unsigned worker = next_++; worker < workers_; worker = next_++) {
      try {
        work_(worker);
      } catch (...) {
        failure_.capture();
      }
    }
  }

  // Call it when no thread works on this call any more.
  void rethrow_failure() { failure_.rethrow(); }

  std::size_t helpers_wanted;
  std::size_t helpers = 0;  // at work
  std::condition_variable helper_left;

 private:
  const unsigned workers_;
  const std::function<void(unsigned worker)>& work_;
  std::atomic<unsigned> next_{0};
  Failure failure_;
};

class Pool {
 public:
  // Ends the threads that wait for a call. A later call starts new ones.
  void end_idle_threads() {
    std::list<Helper> ending;
    {
      const std::scoped_lock lock(mutex_);
      for (auto next = helpers_.begin(); next != helpers_.end();) {
        const auto helper = next++;
        if (!helper->is_idle) continue;
        helper->is_ending = true;
        --idle_;
        ending.splice(ending.end(), helpers_, helper);
      }
    }
    call_came_.notify_all();
  }

  // Returns when all workers have returned.
  void run(Call& call) {
    const auto place = offer(call);
    call.work();
    withdraw(call, place);
  }

 private:
  using Place = std::list<Call*>::iterator;

  struct Helper {
    bool is_idle = true;  // waits for a call, or is about to
    bool is_ending = false;
    std::jthread thread;
  };

  Place offer(Call& call) {
    std::unique_lock lock(mutex_);
    const auto place = calls_.insert(calls_.end(), &call);
    const std::size_t wanted = call.helpers_wanted;
    helpers_wanted_ += wanted;
    add_threads();
    lock.unlock();
    for (std::size_t helper = 0; helper < wanted; ++helper) call_came_.notify_one();
    return place;
  }

  // Adds the threads that are wanted and missing, or as many as the system allows.
  void add_threads() noexcept {
    try {
      while (idle_ < helpers_wanted_ && helpers_.size() < kMostThreads) {
        std::list<Helper> added(1);
        Helper& helper = added.front();
        helper.thread = std::jthread([this, &helper] { help(helper); });
        helpers_.splice(helpers_.end(), added);
        ++idle_;
      }
    } catch (const std::exception&) {  // the caller works alone, or with the existing threads
    }
  }

  void help(Helper& self) {
    std::fesetenv(FE_DFL_ENV);  // the thread outlives the call that starts it, whose mode it has
    std::unique_lock lock(mutex_);
    while (true) {
      call_came_.wait(lock, [&] { return self.is_ending || helpers_wanted_ > 0; });
      if (self.is_ending) return;
      Call& call = **std::ranges::find_if(calls_, [](Call* it) { return it->helpers_wanted > 0; });
      --call.helpers_wanted;
      --helpers_wanted_;
      self.is_idle = false;
      --idle_;
      ++call.helpers;
      lock.unlock();
      call.work();
      lock.lock();
      self.is_idle = true;
      ++idle_;
      // Under the lock: afterwards the call may be gone.
      if (--call.helpers == 0) call.helper_left.notify_one();
    }
  }

  void withdraw(Call& call, Place place) {
    std::unique_lock lock(mutex_);
    helpers_wanted_ -= call.helpers_wanted;
    calls_.erase(place);
    call.helper_left.wait(lock, [&] { return call.helpers == 0; });
  }

  std::mutex mutex_;  // guards all of these, and the calls' public members
  std::condition_variable call_came_;
  std::list<Call*> calls_;
  std::size_t helpers_wanted_ = 0;  // by all calls
  std::size_t idle_ = 0;            // of the threads
  std::list<Helper> helpers_;
};

Pool& pool_of_process() {
  return made_once_a_process([] { return Pool(); });
}

// At exit the idle threads end. The pool stays: destructors of the host program may still sort.
struct AtExit {
  AtExit() = default;
  AtExit(const AtExit&) = delete;
  AtExit& operator=(const AtExit&) = delete;
  ~AtExit() {
    try {
      pool_of_process().end_idle_threads();
    } catch (const std::bad_alloc&) {  // there was no pool, so there are no threads
    }
  }
};
const AtExit kAtExit;

}  // namespace

void run_workers(unsigned workers, const std::function<void(unsigned worker)>& work) {
  if (workers <= 1) {
    work(0);
    return;
  }
  Call call(workers, work);
  pool_of_process().run(call);
  call.rethrow_failure();
}

// The first exception is kept before on_failure() is called, which may make other workers fail.
void for_each_number(unsigned workers, std::uint64_t count,
                     const std::function<void(unsigned worker, std::uint64_t number)>& work,
                     const std::function<void()>& on_failure) {
  std::atomic<std::uint64_t> next{0};
  Failure failure;
  run_workers(workers, [&](unsigned worker) {
    try {
      for (std::uint64_t i = next++; i < count && !failure.failed(); i = next++) work(worker, i);
    } catch (...) {
      failure.capture();
      on_failure();
    }
  });
  failure.rethrow();
}

}  // namespace gsort
