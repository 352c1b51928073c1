// An object for each thread that asks for one, which goes with the thread. Unlike a thread_local
// with a destructor, which the C library ends the process for when there is no memory to register
// it, this throws.
#pragma once

#include <memory>
#include <new>
#include <system_error>

#include <pthread.h>

namespace gsort {

// For global objects. It has no destructor: at exit, other threads may still ask for their own.
template <class T>
class ThreadOwned {
 public:
  ThreadOwned() noexcept
      : refused_(pthread_key_create(&key_, [](void* own) { delete static_cast<T*>(own); })) {}
  ~ThreadOwned() = default;
  ThreadOwned(const ThreadOwned&) = delete;
  ThreadOwned& operator=(const ThreadOwned&) = delete;

  // The calling thread's; made at its first call. Throws: std::bad_alloc; std::system_error where
  // the process has too many such objects.
  [[nodiscard]] T& own() const {
    if (refused_ != 0) throw std::system_error(refused_, std::generic_category());
    if (void* const own = pthread_getspecific(key_)) return *static_cast<T*>(own);
    auto made = std::make_unique<T>();
    if (pthread_setspecific(key_, made.get()) != 0) throw std::bad_alloc();
    return *made.release();
  }

 private:
  pthread_key_t key_{};
  int refused_;  // after the key, which it is made with
};

}  // namespace gsort
