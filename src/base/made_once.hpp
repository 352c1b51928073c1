// Objects that are made at their first use: by a process, and for each thread.
//
// Objects of a process are never destroyed, since destructors of the host program may still sort.
// While a static variable of a function is initialised, other threads wait for it; in a process
// that is forked in this time, they would wait forever. Here no thread waits: each one makes an
// object of its own, and one of these is kept. Requires: `make` is a lambda that captures nothing,
// because all of its calls share one object.
#pragma once

#include <atomic>
#include <memory>
#include <new>
#include <system_error>

#include <pthread.h>

namespace gsort {

namespace detail {

inline constinit std::atomic<unsigned> fork_count{0};

// Registered before main(): later, another thread could fork at the same time.
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

// The number of forks between this process and the one that loaded gsort.
[[nodiscard]] inline unsigned forks_before() noexcept {
  return detail::fork_count;
}

// For objects that do not change: forked processes use the same one.
template <class Make>
const auto& made_once(Make make) {
  return detail::made_in(0, make);
}

// For objects that threads lock: a forked process makes its own, because threads that it does not
// have may hold the lock of the old one.
template <class Make>
auto& made_once_a_process(Make make) {
  return detail::made_in(forks_before(), make);
}

// Gives each thread that asks an object of its own, which is destroyed with the thread. For global
// variables. If there is no memory to register the destructor, this throws; for a thread_local, the
// C library would end the process. It has no destructor itself: at exit, other threads may still
// ask for their objects.
template <class T>
class ThreadOwned {
 public:
  ThreadOwned() noexcept
      : refused_(pthread_key_create(&key_, [](void* own) { delete static_cast<T*>(own); })) {}
  ~ThreadOwned() = default;
  ThreadOwned(const ThreadOwned&) = delete;
  ThreadOwned& operator=(const ThreadOwned&) = delete;

  // The object of the calling thread, made at its first call. Throws: std::bad_alloc;
  // std::system_error if the process has too many such objects.
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
