#include "io/system/process.hpp"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "io/system/file.hpp"
#include "io/system/kernel_text.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

std::atomic<bool> is_own{false};

void occupy_standard_descriptors() {
  constexpr const char* kNowhere = "/dev/null";
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (sys::is_open(fd)) continue;
    // All lower numbers are taken, so this is the one that the kernel gives.
    const int flags = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open(kNowhere, flags | O_CLOEXEC) < 0) {
      throw failed_call(ErrorKind::kResource, "opening", kNowhere, errno);
    }
  }
}

}  // namespace

void take_process() {
  // Large pieces that compressors free must not stay in the threads' heaps.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  // Creating a heap for a thread takes 64 MiB of addresses, which others would then lack.
  if (address_space_is_limited()) ::mallopt(M_ARENA_MAX, 1);
  occupy_standard_descriptors();
  is_own = true;
  std::signal(SIGXFSZ, SIG_IGN);
}

bool process_is_own() {
  return is_own;
}

bool address_space_is_limited() {
  struct rlimit limit = {};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

mode_t file_mode_mask() {
  constexpr std::string_view kName = "\nUmask:\t";
  constexpr int kOctal = 8;
  constexpr mode_t kStrictest = 077;
  const std::string status = kernel_text("/proc/thread-self/status");
  mode_t mask = kStrictest;
  if (const std::size_t line = status.find(kName); line != status.npos) {
    const char* const begin = status.data() + line + kName.size();
    std::from_chars(begin, status.data() + status.size(), mask, kOctal);
  } else if (process_is_own()) {
    mask = ::umask(kStrictest);
    ::umask(mask);
  }
  return mask;
}

}  // namespace gsort::io
