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

// Holds the lock, also in threads that Python did not create. The thread that ends the interpreter
// has the lock when the interpreter deletes the objects that are left.
class Locked {
 public:
  Locked()
      : state_(take_or_sleep([] {
          while (!Py_IsInitialized() && !is_held()) ::pause();
          return PyGILState_Ensure();
        })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  // PyGILState_Check() alone is true for each thread once the interpreter has ended.
  static bool is_held() {
    return PyGILState_GetThisThreadState() != nullptr && PyGILState_Check() != 0;
  }

  PyGILState_STATE state_;
};

// Releases the lock. Requires: this thread holds it.
class Unlocked {
 public:
  Unlocked() : thread_(PyEval_SaveThread()) {}
  ~Unlocked() {
    take_or_sleep([this] { PyEval_RestoreThread(thread_); });
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* thread_;
};

}  // namespace gsort::python
