// Work of C++ that Python waits for: in a thread of its own, without the interpreter's lock, and
// ended when the user presses Ctrl-C.
#pragma once

#include <functional>

#include <nanobind/nanobind.h>

#include "base/meter.hpp"

namespace gsort::python {

// The work calls it at most once, before it does what cannot be undone. Returns when `watch` has
// been called for the last time. Throws: Error(kStopped).
using LastLook = std::function<void()>;

// Runs `work(meter, last_look)`. Meanwhile, ten times a second, looks for signals and calls
// `watch`, unless it is None, with how far the work is: (phase, bytes, total bytes or None,
// seconds, bytes a second, seconds left or None, the status line), and once more at the last look
// or, without one, when the work is done. What either raises ends the work, and is raised when it
// has ended. Requires: the interpreter's lock is held. Throws: Error, from the work;
// nanobind::python_error.
void run_watched(const nanobind::object& watch,
                 const std::function<void(Meter&, const LastLook&)>& work);

}  // namespace gsort::python
