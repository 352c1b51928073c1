#include "base/parallel.hpp"

#include <exception>
#include <mutex>

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

// ThreadSanitizer cannot see into the prebuilt library; these say what its scheduler guarantees:
// what happened before the call happens before the workers, and the workers before the return.
#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#else
namespace {
void __tsan_acquire(void* /*address*/) {}  // NOLINT
void __tsan_release(void* /*address*/) {}  // NOLINT
}  // namespace
#endif

namespace gsort {

void run_workers(unsigned workers, const std::function<void(unsigned worker)>& work) {
  if (workers <= 1) {
    work(0);
    return;
  }
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
  tbb::task_arena arena(static_cast<int>(workers));
  __tsan_release(&started);
  arena.execute([&] {
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
