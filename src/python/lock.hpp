// The interpreter's lock, held or released for a scope. When the interpreter ends, other threads no
// longer get the lock. Python before 3.14 ends a thread that asks for it by unwinding its stack,
// which destructors and nanobind do not permit. Here such threads sleep until the process ends, as
// in later versions of Python.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace gsort::python {

// Returns take(), which takes the lock; sleeps until the process ends if Python ends the thread.
template <class Take>
auto take_or_sleep(const Take& take) {
  try {
    return take();
  } catch (abi::__forced_unwind&) {
    for (;;) ::pause();
  }
}

// Whether this thread ends the interpreter, and has released the lock in a call of this module: it
// gets the lock again.
inline thread_local bool returns_to_the_end = false;

// Whether this thread gets the lock, or waits until it does. After the interpreter has begun to
// end, only the thread that ends it does: there, destructors of Python's objects may call this
// module.
inline bool may_lock() {
  if (Py_IsInitialized() || returns_to_the_end) return true;
  // PyGILState_Check() alone is true for each thread once the interpreter has ended.
  return PyGILState_GetThisThreadState() != nullptr && PyGILState_Check() != 0;
}

// Holds the lock, also in threads that Python did not create.
class Locked {
 public:
  Locked()
      : state_(take_or_sleep([] {
          while (!may_lock()) ::pause();
          return PyGILState_Ensure();
        })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

// Releases the lock. Requires: this thread holds it.
class Unlocked {
 public:
  Unlocked() : returned_before_(returns_to_the_end) {
    returns_to_the_end = !Py_IsInitialized();
    thread_ = PyEval_SaveThread();
  }
  ~Unlocked() {
    take_or_sleep([this] { PyEval_RestoreThread(thread_); });
    returns_to_the_end = returned_before_;
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  const bool returned_before_;
  PyThreadState* thread_ = nullptr;
};

}  // namespace gsort::python
