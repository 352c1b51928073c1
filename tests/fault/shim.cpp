// A library for LD_PRELOAD that makes the Nth call of one kind go wrong, seen from outside: the
// real program, with all its libraries, meets a failing disk, memory that has run out, a refused
// thread, or its own end.
//
//   GSORT_FAULT=CALL:NTH:ACTION[:on]   "pwrite:12:5", "malloc:3:12:on", "rename:1:kill-after"
//   GSORT_FAULT_HIT=FILE               is created when the call has come; without it there was none
//   GSORT_FAULT_PLACE=PLACE            only calls from this place in the code count
//   GSORT_FAULT_PLACES=FILE            gets a line "CALL PLACE" for each call; none fails
//   GSORT_LIKE_NFS=1                   files without names are refused, removing takes a while, and
//                                      an open file then keeps a name, .nfs and its inode
//   GSORT_OLD_STATES=FILE              a look at a file shows its first state, which FILE keeps for
//                                      later commands, unless the server is asked
//   GSORT_MAPPED_OWNERS=1              the user is another one than the owner of new files
//   GSORT_DEAD_SERVER=1                after the signal of an ACTION, calls that ask a server
//                                      about an open file do not return
//
// CALL is a name of kNames. ACTION is an errno in digits; "short": half of what was asked is moved;
// "kill-before", "kill-after", "term-before", "term-after": SIGKILL or SIGTERM around the call, and
// so "int-" and "hup-"; "run": the shell command GSORT_FAULT_RUN before it.
// "on": later calls of that kind fail, too, wherever they are made.
//
// Only a program named gsort meets it, none that calls gsort. Calls count from the start of main:
// earlier calls of libraries do not count, nor do reads and writes of the CUDA driver, which waits
// forever after a read(2) that failed. close really closes before it fails, as the kernel does.
// Calls inside glibc (stdio) do not pass through this library. Read next: faults.py, which drives
// it.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is not in <csignal>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <unwind.h>

// The allocator under the names that stay when ours are in front.
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* __libc_calloc(std::size_t count, std::size_t bytes);
extern "C" void* __libc_realloc(void* old, std::size_t bytes);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t bytes);

namespace {

enum class Action : std::uint8_t { kNone, kFail, kShort, kSignalBefore, kSignalAfter, kRun };

struct Fault {
  const char* call = "";
  std::uint64_t nth = 0;
  Action action = Action::kNone;
  int error_number = 0;
  int signal = SIGKILL;
  bool persistent = false;
  std::uint64_t place = 0;  // any, if it is 0
};

using Main = int (*)(int, char**, char**);
using StartMain = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

// Set once, when main begins. Until then, and without GSORT_FAULT, every call proceeds.
Fault the_fault;
Main the_main = nullptr;
std::atomic<bool> armed{false};
std::atomic<bool> like_nfs{false};
std::atomic<bool> owners_are_mapped{false};
std::atomic<bool> server_is_dead{false};
std::atomic<std::uint64_t> counted{0};
std::atomic<bool> has_come{false};
int places_fd = -1;

// "a:b:c" cut at the colons, in place.
char* next_part(char*& rest) {
  char* const part = rest;
  char* const colon = std::strchr(rest, ':');
  rest = colon == nullptr ? rest + std::strlen(rest) : colon + 1;
  if (colon != nullptr) *colon = '\0';
  return part;
}

void arm() {
  if (const char* const path = std::getenv("GSORT_FAULT_PLACES")) {
    constexpr int kFlags = O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC;
    places_fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, kFlags, 0600));
    armed = places_fd >= 0;
    return;
  }
  const char* const asked = std::getenv("GSORT_FAULT");
  if (asked == nullptr) return;
  if (const char* const place = std::getenv("GSORT_FAULT_PLACE")) {
    the_fault.place = std::strtoull(place, nullptr, 16);
  }
  static char text[256];
  std::strncpy(text, asked, sizeof(text) - 1);
  char* rest = text;
  the_fault.call = next_part(rest);
  the_fault.nth = std::strtoull(next_part(rest), nullptr, 10);
  const char* const action = next_part(rest);
  the_fault.error_number = static_cast<int>(std::strtol(action, nullptr, 10));
  the_fault.action = std::strcmp(action, "short") == 0           ? Action::kShort
                     : std::strcmp(action, "run") == 0           ? Action::kRun
                     : std::strstr(action, "-before") != nullptr ? Action::kSignalBefore
                     : std::strstr(action, "-after") != nullptr  ? Action::kSignalAfter
                                                                 : Action::kFail;
  if (std::strncmp(action, "term", 4) == 0) the_fault.signal = SIGTERM;
  if (std::strncmp(action, "int", 3) == 0) the_fault.signal = SIGINT;
  if (std::strncmp(action, "hup", 3) == 0) the_fault.signal = SIGHUP;
  the_fault.persistent = std::strcmp(rest, "on") == 0;
  armed = true;
}

// Not in a shell or a script that calls gsort.
bool is_gsort(const char* program) {
  const char* const slash = std::strrchr(program, '/');
  return std::strcmp(slash == nullptr ? program : slash + 1, "gsort") == 0;
}

int armed_main(int argc, char** argv, char** environment) {
  if (argc > 0 && is_gsort(argv[0])) {
    like_nfs = std::getenv("GSORT_LIKE_NFS") != nullptr;
    owners_are_mapped = std::getenv("GSORT_MAPPED_OWNERS") != nullptr;
    arm();
  }
  return the_main(argc, argv, environment);
}

void report_hit() {
  const char* const path = std::getenv("GSORT_FAULT_HIT");
  if (path == nullptr) return;
  const long fd = ::syscall(SYS_open, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0) ::syscall(SYS_close, fd);
}

void ask_server() {
  while (server_is_dead) ::pause();
}

void send_signal() {
  server_is_dead = std::getenv("GSORT_DEAD_SERVER") != nullptr;
  ::kill(::getpid(), the_fault.signal);
}

// The innermost callers in the program itself, or in libraries where none is in the program.
struct Callers {
  static constexpr int kMost = 6;
  const void* program = nullptr;
  int found = 0;
  std::uint64_t in_program = 0;
  std::uint64_t in_libraries = 0;
};

_Unwind_Reason_Code note_caller(_Unwind_Context* context, void* to) {
  auto& callers = *static_cast<Callers*>(to);
  const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
  Dl_info library;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the unwinder's answer is a number
  if (::dladdr(reinterpret_cast<const void*>(address), &library) == 0) return _URC_NO_REASON;
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
  const std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(library.dli_fbase);
  const bool is_program = library.dli_fbase == callers.program;
  std::uint64_t& sum = is_program ? callers.in_program : callers.in_libraries;
  sum = (sum ^ offset) * kMix;
  sum ^= sum >> 32;
  callers.found += is_program ? 1 : 0;
  return callers.found == Callers::kMost ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// The same in each process for a call that the same functions make; never 0.
std::uint64_t place_of_call() {
  Dl_info program;
  Callers callers;
  if (::dladdr(reinterpret_cast<const void*>(the_main), &program) != 0) {
    callers.program = program.dli_fbase;
  }
  _Unwind_Backtrace(&note_caller, &callers);
  return (callers.found > 0 ? callers.in_program : callers.in_libraries) | 1U;
}

void note_place(const char* call) {
  char line[64];
  const int bytes = std::snprintf(line, sizeof line, "%s %llx\n", call,
                                  static_cast<unsigned long long>(place_of_call()));
  ::syscall(SYS_write, places_fd, line, bytes);
}

// The action for this call.
Action action_for(const char* call) {
  if (!armed) return Action::kNone;
  thread_local bool is_asking = false;  // by a call that the unwinder makes
  if (is_asking) return Action::kNone;
  if (places_fd >= 0 || (the_fault.place != 0 && std::strcmp(the_fault.call, call) == 0)) {
    is_asking = true;
    const int error_number = errno;
    if (places_fd >= 0) note_place(call);
    const bool is_there = places_fd < 0 && place_of_call() == the_fault.place;
    errno = error_number;
    is_asking = false;
    if (!is_there && !(has_come && the_fault.persistent)) return Action::kNone;
  }
  if (std::strcmp(the_fault.call, call) != 0) return Action::kNone;
  const std::uint64_t number = ++counted;
  if (number < the_fault.nth || (number > the_fault.nth && !the_fault.persistent)) {
    return Action::kNone;
  }
  has_come = true;
  if (number == the_fault.nth) report_hit();
  if (the_fault.action == Action::kSignalBefore) send_signal();
  if (the_fault.action == Action::kRun) (void)!std::system(std::getenv("GSORT_FAULT_RUN"));
  if (the_fault.action == Action::kFail) errno = the_fault.error_number;
  return the_fault.action;
}

std::size_t half(std::size_t bytes) {
  return std::min(bytes, std::max<std::size_t>(bytes / 2, 1));
}

// Makes the call unless it shall fail; `failed` is what it then returns, errno being set.
template <class Result, class Make>
Result guarded(const char* call, Result failed, const Make& make) {
  const Action action = action_for(call);
  if (action == Action::kFail) return failed;
  const Result result = make();
  if (action == Action::kSignalAfter) send_signal();
  return result;
}

bool is_of_cuda_driver(const void* caller) {
  Dl_info library;
  return ::dladdr(caller, &library) != 0 && std::strstr(library.dli_fname, "libcuda.so") != nullptr;
}

// `caller` is an address in the code that asked for it.
template <class Make>
ssize_t transfer(const char* call, const void* caller, std::size_t bytes, const Make& make) {
  if (armed && is_of_cuda_driver(caller)) return make(bytes);
  const Action action = action_for(call);
  if (action == Action::kFail) return -1;
  const ssize_t result = make(action == Action::kShort ? half(bytes) : bytes);
  if (action == Action::kSignalAfter) send_signal();
  return result;
}

// Whether this process has the file open.
bool is_open_here(const struct stat& file) {
  constexpr int kMostDescriptors = 256;
  for (int fd = 0; fd < kMostDescriptors; ++fd) {
    struct stat facts = {};
    if (::syscall(SYS_fstat, fd, &facts) == 0 && facts.st_dev == file.st_dev &&
        facts.st_ino == file.st_ino) {
      return true;
    }
  }
  return false;
}

int remove_as_nfs(int folder, const char* path) {
  constexpr useconds_t kServerMicroseconds = 5000;  // other threads run meanwhile
  ::usleep(kServerMicroseconds);
  struct stat facts = {};
  char name[64];
  if (::syscall(SYS_newfstatat, folder, path, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
      is_open_here(facts)) {
    std::snprintf(name, sizeof name, ".nfs%llu", static_cast<unsigned long long>(facts.st_ino));
    return static_cast<int>(::syscall(SYS_renameat, folder, path, folder, name));
  }
  return static_cast<int>(::syscall(SYS_unlinkat, folder, path, 0));
}

// Looks as an NFS client that has seen the file before, perhaps for another process.
int look_as_nfs(int folder, const char* path, struct stat64* facts, int flags) {
  static const char* const states = std::getenv("GSORT_OLD_STATES");
  const long result = ::syscall(SYS_newfstatat, folder, path, facts, flags);
  const bool is_asked = (flags & AT_STATX_FORCE_SYNC) != 0;
  if (states == nullptr || is_asked || result != 0 || !S_ISREG(facts->st_mode)) {
    return static_cast<int>(result);
  }
  const long fd = ::syscall(SYS_open, states, O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
  struct stat64 old = {};
  bool is_known = false;
  while (!is_known && ::syscall(SYS_read, fd, &old, sizeof old) == sizeof old) {
    is_known = old.st_dev == facts->st_dev && old.st_ino == facts->st_ino;
  }
  if (is_known) *facts = old;
  if (!is_known) ::syscall(SYS_write, fd, facts, sizeof *facts);
  ::syscall(SYS_close, fd);
  return 0;
}

int open_file(int folder, const char* path, int flags, mode_t mode) {
  if (like_nfs && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return guarded("open", -1, [&] {
    return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
  });
}

}  // namespace

// The names below are the C library's own; what they mean is in its manual.
extern "C" {

int openat64(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return open_file(folder, path, flags, mode);
}

ssize_t read(int fd, void* to, std::size_t bytes) {
  return transfer("read", __builtin_return_address(0), bytes,
                  [&](std::size_t n) { return ::syscall(SYS_read, fd, to, n); });
}
ssize_t pread64(int fd, void* to, std::size_t bytes, off64_t at) {
  return transfer("pread", __builtin_return_address(0), bytes,
                  [&](std::size_t n) { return ::syscall(SYS_pread64, fd, to, n, at); });
}
ssize_t write(int fd, const void* from, std::size_t bytes) {
  return transfer("write", __builtin_return_address(0), bytes,
                  [&](std::size_t n) { return ::syscall(SYS_write, fd, from, n); });
}
ssize_t pwrite64(int fd, const void* from, std::size_t bytes, off64_t at) {
  return transfer("pwrite", __builtin_return_address(0), bytes,
                  [&](std::size_t n) { return ::syscall(SYS_pwrite64, fd, from, n, at); });
}

int fsync(int fd) {
  return guarded("fsync", -1, [&] { return static_cast<int>(::syscall(SYS_fsync, fd)); });
}
int syncfs(int fd) {
  return guarded("fsync", -1, [&] { return static_cast<int>(::syscall(SYS_syncfs, fd)); });
}
int fdatasync(int fd) {
  return guarded("fdatasync", -1, [&] { return static_cast<int>(::syscall(SYS_fdatasync, fd)); });
}
int sync_file_range(int fd, off64_t at, off64_t bytes, unsigned flags) {
  return guarded("sync_file_range", -1, [&] {
    return static_cast<int>(::syscall(SYS_sync_file_range, fd, at, bytes, flags));
  });
}
int close(int fd) {
  const Action action = action_for("close");
  const int result = static_cast<int>(::syscall(SYS_close, fd));
  if (action == Action::kSignalAfter) send_signal();
  if (action != Action::kFail) return result;
  errno = the_fault.error_number;
  return -1;
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return guarded("rename", -1, [&] {
    return static_cast<int>(::syscall(SYS_renameat, from_folder, from, to_folder, to));
  });
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return guarded("rename", -1, [&] {
    return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  });
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  return guarded("link", -1, [&] {
    return static_cast<int>(::syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
  });
}
int unlinkat(int folder, const char* path, int flags) {
  return guarded("unlink", -1, [&] {
    if (like_nfs && flags == 0) return remove_as_nfs(folder, path);
    return static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
  });
}
int ftruncate64(int fd, off64_t bytes) {
  return guarded("ftruncate", -1,
                 [&] { return static_cast<int>(::syscall(SYS_ftruncate, fd, bytes)); });
}
int fallocate64(int fd, int mode, off64_t at, off64_t bytes) {
  return guarded("fallocate", -1,
                 [&] { return static_cast<int>(::syscall(SYS_fallocate, fd, mode, at, bytes)); });
}
uid_t geteuid() noexcept {
  return static_cast<uid_t>(::syscall(SYS_geteuid)) + (owners_are_mapped ? 1 : 0);
}
int fchmod(int fd, mode_t mode) {
  return guarded("fchmod", -1, [&] { return static_cast<int>(::syscall(SYS_fchmod, fd, mode)); });
}
int fchown(int fd, uid_t user, gid_t group) {
  return guarded("fchown", -1,
                 [&] { return static_cast<int>(::syscall(SYS_fchown, fd, user, group)); });
}
ssize_t lgetxattr(const char* path, const char* name, void* to, std::size_t bytes) noexcept {
  return guarded("xattr", -1L, [&] { return ::syscall(SYS_lgetxattr, path, name, to, bytes); });
}
int fsetxattr(int fd, const char* name, const void* from, std::size_t bytes, int flags) noexcept {
  return guarded("xattr", -1, [&] {
    return static_cast<int>(::syscall(SYS_fsetxattr, fd, name, from, bytes, flags));
  });
}
int fremovexattr(int fd, const char* name) noexcept {
  return guarded("xattr", -1,
                 [&] { return static_cast<int>(::syscall(SYS_fremovexattr, fd, name)); });
}
int statx(int folder, const char* path, int flags, unsigned mask, struct statx* facts) noexcept {
  if (*path == '\0' && (flags & AT_STATX_DONT_SYNC) == 0) ask_server();
  return static_cast<int>(::syscall(SYS_statx, folder, path, flags, mask, facts));
}

int fstat64(int fd, struct stat64* facts) noexcept {
  ask_server();
  return guarded("stat", -1, [&] { return static_cast<int>(::syscall(SYS_fstat, fd, facts)); });
}
int fstatat64(int folder, const char* path, struct stat64* facts, int flags) noexcept {
  return guarded("stat", -1, [&] { return look_as_nfs(folder, path, facts, flags); });
}

void* mmap64(void* address, std::size_t bytes, int protection, int flags, int fd,
             off64_t offset) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the system call's answer is an address
  return reinterpret_cast<void*>(guarded("mmap", -1L, [&] {
    return ::syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
  }));
}

void* malloc(std::size_t bytes) {
  return guarded<void*>("malloc", nullptr, [&] { return __libc_malloc(bytes); });
}
void* calloc(std::size_t count, std::size_t bytes) {
  return guarded<void*>("malloc", nullptr, [&] { return __libc_calloc(count, bytes); });
}
void* realloc(void* old, std::size_t bytes) {
  return guarded<void*>("malloc", nullptr, [&] { return __libc_realloc(old, bytes); });
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return guarded<void*>("malloc", nullptr, [&] { return __libc_memalign(alignment, bytes); });
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  static const auto create = reinterpret_cast<CreateThread>(::dlsym(RTLD_NEXT, "pthread_create"));
  return guarded("pthread_create", the_fault.error_number,
                 [&] { return create(thread, attributes, run, argument); });
}

int __libc_start_main(Main main, int argc, char** argv, void (*begin)(), void (*end)(),
                      void (*unload)(), void* stack) {
  the_main = main;
  const auto start = reinterpret_cast<StartMain>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(armed_main, argc, argv, begin, end, unload, stack);
}

}  // extern "C"
