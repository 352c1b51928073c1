// Runs other work in the middle of a process, at one of its system calls. Then the process goes on
// or dies.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/system/sys.hpp"
#include "unit/io/support.hpp"

namespace gsort::test {

struct Moment {
  io::sys::Call call;
  std::uint64_t nth;
};

// Puts TempFolders into memory if there is room: a disk makes these tests slower without finding
// more.
inline void use_folders_in_memory() {
  if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 0);
}

// Returns whether there is such a call.
inline bool goes_on(Moment moment, const std::function<void()>& process,
                    const std::function<void()>& others) {
  bool has_come = false;
  const auto then = [&] {
    has_come = true;
    others();
  };
  const io::test::FaultScope at({moment.call, moment.nth, 0, false, then});
  process();
  return has_come;
}

// The same for a child process, which dies there. Its status tells what fails in it or the others.
inline bool dies(Moment moment, const std::function<void()>& process,
                 const std::function<void()>& others) {
  constexpr int kAtTheCall = 9;
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto then = [&] {
      others();
      ::_exit(testing::Test::HasFailure() ? 1 : kAtTheCall);
    };
    io::sys::inject({moment.call, moment.nth, 0, false, then});
    try {
      process();
    } catch (...) {
      ::_exit(1);  // not the parent's way to the end
    }
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && (status == 0 || WEXITSTATUS(status) == kAtTheCall)) << status;
  return status != 0;
}

}  // namespace gsort::test
