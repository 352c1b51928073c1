// All system calls of io, one thin function each: the only seam at which faults are injected. The
// functions return the result of the call and leave errno as the call does. Functions that open,
// rename, link, truncate or sync whole files repeat a call that a signal interrupts, so they never
// fail with EINTR. Nothing here throws, except open_at() after a signal (interruption.hpp).
//
// A test arms a FaultPlan: the Nth call of a kind then fails with an errno, or transfers less than
// asked, once or from then on. Without a plan, the cost is one relaxed load of a flag. Injected
// failures happen before the real call, except close, which really closes first, as the kernel
// does.
//
// Read next: file.hpp, which adds loops and Errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

namespace gsort::io::sys {

enum class Call : std::uint8_t {
  kOpen,       // open, openat
  kRead,       // read
  kPread,      // pread
  kWrite,      // write
  kPwrite,     // pwrite
  kFsync,      // fsync, syncfs
  kFdatasync,  // fdatasync
  kSyncRange,  // sync_file_range
  kClose,      // close
  kRename,     // renameat, renameat2
  kLink,       // linkat
  kUnlink,     // unlinkat
  kFtruncate,  // ftruncate
  kFallocate,  // fallocate
  kMode,       // fchmod, fchown
  kMmap,       // mmap, mbind
  kStat,       // fstat, fstatat
  kStatvfs,    // fstatvfs
  kMkdir,      // mkdirat
  kAttribute,  // lgetxattr, fsetxattr, fremovexattr
  kLock,       // flock
};
inline constexpr std::size_t kCallKinds = static_cast<std::size_t>(Call::kLock) + 1;

[[nodiscard]] std::string_view name_of(Call call);

// A fault to inject.
struct FaultPlan {
  Call call = Call::kOpen;
  std::uint64_t nth = 1;  // the first call of that kind to fail, counted from 1 after arming
  int error_number =
      0;  // errno; 0: the transfer is short (half of what was asked, at least one byte)
  bool from_then_on = false;  // also all later calls of the kind
  // If set, the call does not fail: its thread calls this first, then goes on with the call.
  std::function<void()> instead = nullptr;
};

// Arms `plan` for the whole process and starts counting from 0. At most one plan is armed.
void inject(const FaultPlan& plan);
// Disarms.
void clear_faults();
// The number of calls of the armed plan's kind since it was armed; 0 if none is armed.
[[nodiscard]] std::uint64_t counted_calls();

[[nodiscard]] int open_at(int folder, const char* path, int flags, mode_t mode = 0);
[[nodiscard]] ssize_t read(int fd, void* to, std::size_t bytes);
[[nodiscard]] ssize_t pread(int fd, void* to, std::size_t bytes, off_t offset);
[[nodiscard]] ssize_t write(int fd, const void* from, std::size_t bytes);
[[nodiscard]] ssize_t pwrite(int fd, const void* from, std::size_t bytes, off_t offset);
[[nodiscard]] int fsync(int fd);
[[nodiscard]] int syncfs(int fd);
[[nodiscard]] int fdatasync(int fd);
int sync_file_range(int fd, off_t offset, off_t bytes, unsigned flags);
int close(int fd);
[[nodiscard]] int rename_at(int folder, const char* from, const char* to);
// EEXIST if anything has the name `to`.
[[nodiscard]] int rename_to_free(int folder, const char* from, const char* to);
[[nodiscard]] int link_at(int from_folder, const char* from, int folder, const char* to, int flags);
int unlink_at(int folder, const char* name);
[[nodiscard]] int make_folder(const char* path, mode_t mode);
int remove_folder(const char* path);  // counts as unlinkat
[[nodiscard]] int ftruncate(int fd, off_t bytes);
[[nodiscard]] int fallocate(int fd, int mode, off_t offset, off_t bytes);
[[nodiscard]] int fchmod(int fd, mode_t mode);
[[nodiscard]] int fchown(int fd, uid_t user, gid_t group);
// Extended attributes; not through a symbolic link.
[[nodiscard]] ssize_t get_attribute(const char* path, const char* name, void* to,
                                    std::size_t bytes);
[[nodiscard]] int set_attribute(int fd, const char* name, const void* from, std::size_t bytes);
[[nodiscard]] int remove_attribute(int fd, const char* name);
// mbind: pages of the memory come from the node, or from others if it has none.
[[nodiscard]] int prefer_node(void* memory, std::size_t bytes, unsigned node);
[[nodiscard]] void* mmap(std::size_t bytes, int protection, int flags, int fd, off_t offset);
// The same at `address`, in place of what is mapped there.
[[nodiscard]] void* mmap_over(void* address, std::size_t bytes, int protection, int flags, int fd,
                              off_t offset);
int munmap(void* address, std::size_t bytes);
int madvise(void* address, std::size_t bytes, int advice);
[[nodiscard]] int mincore(void* address, std::size_t bytes, unsigned char* resident);
[[nodiscard]] int fstat(int fd, struct stat* facts);
// The size alone. For the times, which fstat asks for, too, NFS first writes back all that was
// written.
[[nodiscard]] int file_size(int fd, std::uint64_t* bytes);
[[nodiscard]] int stat_at(int folder, const char* path, struct stat* facts, int flags);
// Whether both facts are those of one file.
[[nodiscard]] inline bool same_inode(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
[[nodiscard]] int fstatvfs(int fd, struct statvfs* facts);
[[nodiscard]] int access_at(int folder, const char* path, int mode);
[[nodiscard]] ssize_t readlink_at(int folder, const char* path, char* to, std::size_t bytes);
off_t lseek(int fd, off_t offset, int whence);
[[nodiscard]] int duplicate(int fd);  // close-on-exec
int lock(int fd);                     // flock, exclusive, without waiting
int lock_bytes(int fd);               // exclusive, of a byte behind all data, without waiting
[[nodiscard]] uid_t effective_user();
[[nodiscard]] bool is_open(int fd);
[[nodiscard]] bool appends(int fd);     // O_APPEND
[[nodiscard]] int access_mode(int fd);  // O_RDONLY, O_WRONLY or O_RDWR; -1 when it is closed
[[nodiscard]] bool is_terminal(int fd);
[[nodiscard]] bool is_socket_of_messages(int fd);  // SOCK_DGRAM, SOCK_SEQPACKET and others
[[nodiscard]] unsigned terminal_columns(int fd);   // 0: unknown, or not a terminal
// Gives a pipe a buffer of 1 MiB; fails for other files, and where the system allows less.
int enlarge_pipe(int fd);
// The limit, raised to the most that this user may have if `may_raise` is set and the system allows
// it.
[[nodiscard]] std::uint64_t open_file_limit(bool may_raise);
int advise(int fd, off_t offset, off_t bytes, int advice);
// An unpredictable number; if the kernel has none yet, one that differs every time.
[[nodiscard]] std::uint64_t random_number();
// Waits until `fd` can be read or written; for descriptors that are non-blocking at the start.
int wait_readable(int fd);
int wait_writable(int fd);

}  // namespace gsort::io::sys
