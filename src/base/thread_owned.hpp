// An object for each thread that asks for one, which goes with the thread. Unlike a thread_local
// with a destructor, which the C library ends the process for when there is no memory to register
// it, this throws.
#pragma once

#include <memory>
#include <new>
#include <system_error>

#include <pthread.h>

namespace gsort {

// To be a static object: a thread that outlives it keeps what it has.
template <class T>
class ThreadOwned {
 public:
  ThreadOwned() {
    const int refused = pthread_key_create(&key_, [](void* own) { delete static_cast<T*>(own); });
    if (refused != 0) throw std::system_error(refused, std::generic_category());
  }
  ~ThreadOwned() { pthread_key_delete(key_); }
  ThreadOwned(const ThreadOwned&) = delete;
  ThreadOwned& operator=(const ThreadOwned&) = delete;

  // The calling thread's; made at its first call. Throws: std::bad_alloc.
  [[nodiscard]] T& own() const {
    if (void* const own = pthread_getspecific(key_)) return *static_cast<T*>(own);
    auto made = std::make_unique<T>();
    if (pthread_setspecific(key_, made.get()) != 0) throw std::bad_alloc();
    return *made.release();
  }

 private:
  pthread_key_t key_{};
};

}  // namespace gsort
