#include "io/system/sys.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/made_once.hpp"
#include "io/system/interruption.hpp"

namespace gsort::io::sys {
namespace {

// While no test is under way, calls only read `armed`; the other members are used only when it is
// set.
struct Faults {
  std::atomic<bool> armed{false};
  std::mutex mutex;
  FaultPlan plan;
  std::uint64_t counted = 0;
};

Faults& faults() {
  return made_once_a_process([] { return Faults(); });
}

enum class Verdict : std::uint8_t { kProceed, kFail, kShort };

Verdict count_call(Call call) {
  Faults& state = faults();
  std::unique_lock lock(state.mutex);
  if (!state.armed.load(std::memory_order_relaxed) || state.plan.call != call) {
    return Verdict::kProceed;
  }
  const std::uint64_t number = ++state.counted;
  const bool hit = state.plan.from_then_on ? number >= state.plan.nth : number == state.plan.nth;
  if (!hit) return Verdict::kProceed;
  if (const std::function<void()> instead = state.plan.instead) {
    lock.unlock();
    instead();
    return Verdict::kProceed;
  }
  if (state.plan.error_number == 0) return Verdict::kShort;
  errno = state.plan.error_number;
  return Verdict::kFail;
}

Verdict verdict_on(Call call) {
  if (!faults().armed.load(std::memory_order_relaxed)) [[likely]]
    return Verdict::kProceed;
  return count_call(call);
}

bool fails(Call call) {
  return verdict_on(call) == Verdict::kFail;
}

// Makes the call, and again as long as a signal interrupts it.
template <class Attempt>
int uninterrupted(Call call, const Attempt& attempt) {
  int result = 0;
  do {
    result = fails(call) ? -1 : attempt();
  } while (result != 0 && errno == EINTR);
  return result;
}

// The bytes that a transfer may move: all, half if it must be short, or none if it must fail.
std::size_t granted(Call call, std::size_t bytes, bool& failed) {
  const Verdict verdict = verdict_on(call);
  failed = verdict == Verdict::kFail;
  return verdict == Verdict::kShort ? std::min(bytes, std::max<std::size_t>(bytes / 2, 1)) : bytes;
}

constexpr std::array<std::string_view, kCallKinds> kNames = {
    "open",  "read",      "pread",           "write",     "pwrite",
    "fsync", "fdatasync", "sync_file_range", "close",     "rename",
    "link",  "unlink",    "ftruncate",       "fallocate", "chmod or chown",
    "mmap",  "stat",      "statvfs",         "mkdir",     "xattr",
    "flock"};

}  // namespace

std::string_view name_of(Call call) {
  return kNames.at(static_cast<std::size_t>(call));
}

void inject(const FaultPlan& plan) {
  Faults& state = faults();
  const std::lock_guard lock(state.mutex);
  state.plan = plan;
  state.counted = 0;
  state.armed = true;
}

void clear_faults() {
  Faults& state = faults();
  const std::lock_guard lock(state.mutex);
  state.armed = false;
  state.counted = 0;
}

std::uint64_t counted_calls() {
  Faults& state = faults();
  const std::lock_guard lock(state.mutex);
  return state.counted;
}

// Never the number of a standard stream: a program that calls the library may have closed one, and
// what it then prints must not go into the file.
int open_at(int folder, const char* path, int flags, mode_t mode) {
  while (true) {
    const int fd = fails(Call::kOpen) ? -1 : ::openat(folder, path, flags | O_CLOEXEC, mode);
    if (fd > STDERR_FILENO) return fd;
    if (fd >= 0) {
      const int higher = duplicate(fd);
      const int problem = errno;
      ::close(fd);
      errno = problem;
      return higher;
    }
    if (errno != EINTR) return fd;
    Interruption::look();
  }
}

ssize_t read(int fd, void* to, std::size_t bytes) {
  bool failed = false;
  const std::size_t allowed = granted(Call::kRead, bytes, failed);
  return failed ? -1 : ::read(fd, to, allowed);
}

ssize_t pread(int fd, void* to, std::size_t bytes, off_t offset) {
  bool failed = false;
  const std::size_t allowed = granted(Call::kPread, bytes, failed);
  return failed ? -1 : ::pread(fd, to, allowed, offset);
}

ssize_t write(int fd, const void* from, std::size_t bytes) {
  bool failed = false;
  const std::size_t allowed = granted(Call::kWrite, bytes, failed);
  return failed ? -1 : ::write(fd, from, allowed);
}

ssize_t pwrite(int fd, const void* from, std::size_t bytes, off_t offset) {
  bool failed = false;
  const std::size_t allowed = granted(Call::kPwrite, bytes, failed);
  return failed ? -1 : ::pwrite(fd, from, allowed, offset);
}

int fsync(int fd) {
  return uninterrupted(Call::kFsync, [=] { return ::fsync(fd); });
}

int syncfs(int fd) {
  return uninterrupted(Call::kFsync, [=] { return ::syncfs(fd); });
}

int fdatasync(int fd) {
  return uninterrupted(Call::kFdatasync, [=] { return ::fdatasync(fd); });
}

int sync_file_range(int fd, off_t offset, off_t bytes, unsigned flags) {
  return fails(Call::kSyncRange) ? -1 : ::sync_file_range(fd, offset, bytes, flags);
}

int close(int fd) {
  const int closed = ::close(fd);
  return fails(Call::kClose) ? -1 : closed;
}

int rename_at(int folder, const char* from, const char* to) {
  return uninterrupted(Call::kRename, [=] { return ::renameat(folder, from, folder, to); });
}

int rename_to_free(int folder, const char* from, const char* to) {
  return uninterrupted(Call::kRename,
                       [=] { return ::renameat2(folder, from, folder, to, RENAME_NOREPLACE); });
}

int link_at(int from_folder, const char* from, int folder, const char* to, int flags) {
  return uninterrupted(Call::kLink, [=] { return ::linkat(from_folder, from, folder, to, flags); });
}

int unlink_at(int folder, const char* name) {
  return fails(Call::kUnlink) ? -1 : ::unlinkat(folder, name, 0);
}

int make_folder(const char* path, mode_t mode) {
  return fails(Call::kMkdir) ? -1 : ::mkdirat(AT_FDCWD, path, mode);
}

int remove_folder(const char* path) {
  return fails(Call::kUnlink) ? -1 : ::unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int ftruncate(int fd, off_t bytes) {
  return uninterrupted(Call::kFtruncate, [=] { return ::ftruncate(fd, bytes); });
}

int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  return fails(Call::kFallocate) ? -1 : ::fallocate(fd, mode, offset, bytes);
}

int fchmod(int fd, mode_t mode) {
  return fails(Call::kMode) ? -1 : ::fchmod(fd, mode);
}

int fchown(int fd, uid_t user, gid_t group) {
  return fails(Call::kMode) ? -1 : ::fchown(fd, user, group);
}

ssize_t get_attribute(const char* path, const char* name, void* to, std::size_t bytes) {
  return fails(Call::kAttribute) ? -1 : ::lgetxattr(path, name, to, bytes);
}

int set_attribute(int fd, const char* name, const void* from, std::size_t bytes) {
  return fails(Call::kAttribute) ? -1 : ::fsetxattr(fd, name, from, bytes, 0);
}

int remove_attribute(int fd, const char* name) {
  return fails(Call::kAttribute) ? -1 : ::fremovexattr(fd, name);
}

int prefer_node(void* memory, std::size_t bytes, unsigned node) {
  constexpr int kPreferred = 1;  // MPOL_PREFERRED
  constexpr std::size_t kBitsOfWord = 8 * sizeof(unsigned long);
  std::array<unsigned long, 16> nodes{};
  if (fails(Call::kMmap)) return -1;
  nodes.at(node / kBitsOfWord) = 1UL << (node % kBitsOfWord);
  return static_cast<int>(::syscall(SYS_mbind, memory, bytes, kPreferred, nodes.data(),
                                    nodes.size() * kBitsOfWord + 1, 0));
}
void* mmap(std::size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (fails(Call::kMmap)) return MAP_FAILED;
  return ::mmap(nullptr, bytes, protection, flags, fd, offset);
}

void* mmap_over(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (fails(Call::kMmap)) return MAP_FAILED;
  return ::mmap(address, bytes, protection, flags | MAP_FIXED, fd, offset);
}

int munmap(void* address, std::size_t bytes) {
  return ::munmap(address, bytes);
}

int madvise(void* address, std::size_t bytes, int advice) {
  return ::madvise(address, bytes, advice);
}

int mincore(void* address, std::size_t bytes, unsigned char* resident) {
  return ::mincore(address, bytes, resident);
}

int fstat(int fd, struct stat* facts) {
  return fails(Call::kStat) ? -1 : ::fstat(fd, facts);
}

int file_size(int fd, std::uint64_t* bytes) {
  struct statx facts = {};
  if (fails(Call::kStat)) return -1;
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, &facts) == 0) {
    *bytes = facts.stx_size;
    return 0;
  }
  struct stat known = {};  // container runtimes older than statx forbid it
  if (::fstat(fd, &known) != 0) return -1;
  *bytes = static_cast<std::uint64_t>(known.st_size);
  return 0;
}

int stat_at(int folder, const char* path, struct stat* facts, int flags) {
  return fails(Call::kStat) ? -1 : ::fstatat(folder, path, facts, flags);
}

int fstatvfs(int fd, struct statvfs* facts) {
  return fails(Call::kStatvfs) ? -1 : ::fstatvfs(fd, facts);
}

int access_at(int folder, const char* path, int mode) {
  return ::faccessat(folder, path, mode, AT_EACCESS);
}

ssize_t readlink_at(int folder, const char* path, char* to, std::size_t bytes) {
  return ::readlinkat(folder, path, to, bytes);
}

off_t lseek(int fd, off_t offset, int whence) {
  return ::lseek(fd, offset, whence);
}

int duplicate(int fd) {
  return ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

int lock(int fd) {
  return fails(Call::kLock) ? -1 : ::flock(fd, LOCK_EX | LOCK_NB);
}

// Not flock(): a script may hold that lock, by flock(1), while it calls gsort. The lock ends with
// the last descriptor of this opening. The locked byte is behind the end of any file: where locks
// are mandatory, as on CIFS, the sort must be able to read the file through its other descriptors.
int lock_bytes(int fd) {
  struct flock far = {};
  far.l_type = F_WRLCK;
  far.l_whence = SEEK_SET;
  far.l_start = off_t{1} << 62;
  far.l_len = 1;
  return fails(Call::kLock) ? -1 : ::fcntl(fd, F_OFD_SETLK, &far);
}

uid_t effective_user() {
  return ::geteuid();
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

bool appends(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_APPEND) != 0;
}

int access_mode(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags < 0 ? -1 : flags & O_ACCMODE;
}

bool is_terminal(int fd) {
  return ::isatty(fd) == 1;
}

bool is_socket_of_messages(int fd) {
  int type = SOCK_STREAM;
  socklen_t bytes = sizeof(type);
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type != SOCK_STREAM;
}

unsigned terminal_columns(int fd) {
  struct winsize size = {};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int enlarge_pipe(int fd) {
  return ::fcntl(fd, F_SETPIPE_SZ, 1 << 20);
}

std::uint64_t open_file_limit(bool may_raise) {
  struct rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return UINT64_MAX;
  if (!may_raise) return limit.rlim_cur;
  const rlim_t before = std::exchange(limit.rlim_cur, limit.rlim_max);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : before;
}

int advise(int fd, off_t offset, off_t bytes, int advice) {
  return ::posix_fadvise(fd, offset, bytes, advice);
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != static_cast<ssize_t>(sizeof(number))) {
    number =
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  return number;
}

int wait_readable(int fd) {
  struct pollfd waited = {fd, POLLIN, 0};
  return ::poll(&waited, 1, -1);
}

int wait_writable(int fd) {
  struct pollfd waited = {fd, POLLOUT, 0};
  return ::poll(&waited, 1, -1);
}

}  // namespace gsort::io::sys
