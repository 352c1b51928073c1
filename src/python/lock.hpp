// The interpreter's lock, held or released for a scope. When the interpreter ends, threads that
// want its lock get it no more: Python before 3.14 ends them by an exception that passes neither
// destructors nor nanobind. Here they sleep until the process has ended, as with later Pythons.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace gsort::python {

// Returns take(), which takes the lock.
template <class Take>
auto take_or_sleep(const Take& take) {
  try {
    return take();
  } catch (abi::__forced_unwind&) {
    for (;;) ::pause();
  }
}

// Also for threads that Python does not know.
class Locked {
 public:
  Locked()
      : state_(take_or_sleep([] {
          while (!Py_IsInitialized()) ::pause();
          return PyGILState_Ensure();
        })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

// Requires: the lock is held.
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
