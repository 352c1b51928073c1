// SIGUSR1 asks for a status line. The handler only sets a flag, which is all that a signal handler
// can safely do; the progress display reads the flag.
#pragma once

namespace gsort::io {

// From now on SIGUSR1 sets the flag instead of ending the process; interrupted calls go on.
void hear_status_signal();

// Whether the signal has come since the last call. Thread-safe.
[[nodiscard]] bool take_status_request();

}  // namespace gsort::io
