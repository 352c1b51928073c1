// The process in which gsort runs: its own, or that of a program that uses the library. The library
// does not touch the signal handlers, the umask and the limits of such a host.
#pragma once

#include <cfenv>

#include <sys/types.h>

namespace gsort::io {

// main() of each program of gsort calls this before it opens anything: from now on the process
// belongs to gsort. So signals may wait (held_signals.hpp), the limit of open files may be raised,
// large allocations go back to the system when they are freed, and SIGXFSZ is ignored: a write
// beyond the limit of file sizes causes an Error.
//
// Opens /dev/null as descriptors 0, 1 and 2 if they are closed at the start, so that using them
// fails as if they were closed (EBADF). Otherwise the next file would get such a number: messages
// would be written over a sorted output that is number 2. Throws: Error(kResource) if /dev/null
// cannot be opened.
void take_process();

[[nodiscard]] bool process_is_own();

// Whether RLIMIT_AS limits the address space.
[[nodiscard]] bool address_space_is_limited();

// While it lives, operations on floats in this thread, and in threads that it starts, round to
// nearest, keep denormal numbers and do not trap: conversions of text need this. The program that
// calls the library may have set other modes, as -ffast-math does; the destructor restores them.
class DefaultFloats {
 public:
  DefaultFloats() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloats() { std::fesetenv(&before_); }
  DefaultFloats(const DefaultFloats&) = delete;
  DefaultFloats& operator=(const DefaultFloats&) = delete;

 private:
  std::fenv_t before_{};
};

// The umask. No system call reads it without changing it, but the kernel shows it in /proc. Without
// /proc it is set for a moment if the process is gsort's own; otherwise the strictest umask is
// assumed.
[[nodiscard]] mode_t file_mode_mask();

}  // namespace gsort::io
