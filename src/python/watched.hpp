// Runs C++ work for which Python waits: in a separate thread, without the interpreter's lock, and
// until the user presses Ctrl-C.
#pragma once

#include <functional>

#include <nanobind/nanobind.h>

#include "base/meter.hpp"

namespace gsort::python {

// The work calls it at most once, before steps that cannot be undone. Returns when `watch` has been
// called for the last time. Throws: Error(kStopped).
using LastLook = std::function<void()>;

// Runs `work(meter, last_look)`. Meanwhile, ten times a second, checks for signals and calls
// `watch`, unless it is None, with the progress: (phase, bytes, total bytes or None, seconds, bytes
// a second, seconds left or None, the status line), and once more at the last look or, without one,
// when the work is done. An exception of either ends the work, and is raised after that. Requires:
// the interpreter's lock is held. Throws: Error, from the work; nanobind::python_error.
void run_watched(const nanobind::object& watch,
                 const std::function<void(Meter&, const LastLook&)>& work);

}  // namespace gsort::python
