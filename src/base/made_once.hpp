// Objects that are made at their first use: by a process, and for each thread.
//
// Those of a process are never destroyed, since destructors of the host program may still sort. A
// static variable of a function makes the threads that come meanwhile wait; in a process that is
// forked meanwhile they would wait forever. These do not wait: each makes an object of its own, and
// one of them is kept. Requires of `make`: it is a lambda that captures nothing, since all calls of
// it share one object.
#pragma once

#include <atomic>
#include <memory>
#include <new>
#include <system_error>

#include <pthread.h>

namespace gsort {

namespace detail {

inline constinit std::atomic<unsigned> fork_count{0};

// Before main(): later, another thread may fork meanwhile.
[[maybe_unused]] inline const int forks_are_counted =
    ::pthread_atfork(nullptr, nullptr, [] { ++fork_count; });

template <class Make>
auto& made_in(unsigned forks, Make make) {
  struct Made {
    unsigned forks;
    decltype(make()) object;
  };
  static constinit std::atomic<Made*> kept{nullptr};
  Made* found = kept.load(std::memory_order_acquire);
  if (found != nullptr && found->forks == forks) return found->object;
  Made* const own = new Made{forks, make()};
  if (kept.compare_exchange_strong(found, own, std::memory_order_acq_rel)) return own->object;
  delete own;
  return found->object;
}

}  // namespace detail

// How many forks lie between this process and the one that loaded gsort.
[[nodiscard]] inline unsigned forks_before() noexcept {
  return detail::fork_count;
}

// For what stays as it is made.
template <class Make>
const auto& made_once(Make make) {
  return detail::made_in(0, make);
}

// For what threads lock: a forked process makes one of its own, since threads that it does not have
// may hold that of the other.
template <class Make>
auto& made_once_a_process(Make make) {
  return detail::made_in(forks_before(), make);
}

// An object for each thread that asks for one, which goes with the thread. Unlike a thread_local
// with a destructor, which the C library ends the process for when there is no memory to register
// it, this throws. For global objects. It has no destructor: at exit, other threads may still ask
// for their own.
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
