#include "base/parallel.hpp"

#include <algorithm>
#include <exception>
#include <latch>
#include <mutex>
#include <vector>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "base/thread.hpp"

// ThreadSanitizer cannot see into the prebuilt library; these say what its scheduler guarantees:
// what happened before the call happens before the workers, and the workers before the return.
#if defined(GSORT_TELLS_TSAN)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#else
namespace {
void __tsan_acquire(void* /*address*/) {}  // NOLINT
void __tsan_release(void* /*address*/) {}  // NOLINT
}  // namespace
#endif

namespace gsort {
namespace {

constexpr unsigned kMostWorkers = 1024;

// oneTBB cannot go on when it is refused a thread somewhere deep in its pool. So the system is
// asked first for as many as there may be, all at once.
void require_threads(unsigned wanted) {
  static std::mutex mutex;
  static unsigned tried = 1;
  const std::scoped_lock lock(mutex);
  if (wanted <= tried) return;
  std::latch leave(1);
  std::vector<std::jthread> threads;
  threads.reserve(wanted - 1);  // one that finds no place here would be waited for
  try {
    while (threads.size() + 1 < wanted) {
      threads.push_back(start_thread("sorting", [&leave] { leave.wait(); }));
    }
  } catch (...) {
    leave.count_down();
    throw;
  }
  leave.count_down();
  tried = wanted;
}

}  // namespace

void run_workers(unsigned workers, const std::function<void(unsigned worker)>& work) {
  if (workers <= 1) {
    work(0);
    return;
  }
  require_threads(std::min(workers, kMostWorkers));
  std::mutex mutex;
  std::exception_ptr first_failure;
  char started = 0;
  char finished = 0;
  const auto guarded = [&](unsigned worker) {
    __tsan_acquire(&started);
    try {
      work(worker);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!first_failure) first_failure = std::current_exception();
    }
    __tsan_release(&finished);
  };
  // Without this oneTBB prints a warning, and gives less, when more are asked for than there are
  // cores.
  static const tbb::global_control no_limit(tbb::global_control::max_allowed_parallelism,
                                            kMostWorkers);
  tbb::task_arena arena(static_cast<int>(std::min(workers, kMostWorkers)));
  __tsan_release(&started);
  // A thread that is refused all the same leaves the pool so that later calls wait for ever: no
  // exception of oneTBB may pass.
  arena.execute([&]() noexcept {
    tbb::task_group group;
    for (unsigned worker = 1; worker < workers; ++worker) {
      group.run([&guarded, worker] { guarded(worker); });
    }
    guarded(0);
    group.wait();
  });
  __tsan_acquire(&finished);
  if (first_failure) std::rethrow_exception(first_failure);
}

}  // namespace gsort
