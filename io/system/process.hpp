// The process in which gsort runs: the program's own, or that of a program that uses the library.
// The handlers of signals, the umask and the limits of such a host are not touched.
#pragma once

#include <sys/types.h>

namespace gsort::io {

// Called by main() of a program of gsort, before anything is opened: from now on the process is
// gsort's own. So signals may wait (held_signals.hpp), the limit of open files may be raised, and
// SIGXFSZ is ignored: a write beyond the limit of file sizes is an Error.
//
// Makes numbers 0, 1 and 2 that came in closed stand for /dev/null, opened so that using them fails
// as if they were closed (EBADF). Else the next file would get such a number: a sorted output as
// number 2 would have messages written over it.
// Throws: Error(kResource) when /dev/null cannot be opened.
void take_process();

[[nodiscard]] bool process_is_own();

// The umask. There is no call that only reads it: the kernel shows it in /proc. Without /proc it is
// set for a moment if the process is gsort's own; else it is taken for the strictest one.
[[nodiscard]] mode_t file_mode_mask();

}  // namespace gsort::io
