// SIGUSR1 asks for a status line. The handler does nothing but set a flag, which is all that a
// signal handler can safely do; whoever shows the progress looks at the flag.
#pragma once

namespace gsort::io {

// From now on SIGUSR1 sets the flag instead of ending the process; calls that it interrupts go on.
void hear_status_signal();

// Whether the signal has come since the last call. Thread-safe.
[[nodiscard]] bool take_status_request();

}  // namespace gsort::io
