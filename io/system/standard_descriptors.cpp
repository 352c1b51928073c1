#include "io/system/standard_descriptors.hpp"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "io/system/file.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {

void occupy_standard_descriptors() {
  constexpr const char* kNowhere = "/dev/null";
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (sys::is_open(fd)) continue;
    // All lower numbers are taken, so this is the one that the kernel gives.
    const int flags = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (sys::open_at(AT_FDCWD, kNowhere, flags) < 0) {
      throw Error::from_errno(ErrorKind::kResource, "opening", errno)
          .path(kNowhere)
          .hint(hint_for(errno));
    }
  }
}

}  // namespace gsort::io
