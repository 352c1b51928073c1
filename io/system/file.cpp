#include "io/system/file.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "io/system/interruption.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

// Linux moves at most this much in one call; asking for more would only look like a short transfer.
constexpr std::size_t kMostBytesACall = std::size_t{1} << 30;

std::size_t one_call(std::size_t bytes) {
  return bytes < kMostBytesACall ? bytes : kMostBytesACall;
}

}  // namespace

File::File(int fd, std::string path, ErrorKind kind)
    : fd_(fd), kind_(kind), path_(std::move(path)) {}

File::File(File&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      kind_(other.kind_),
      path_(std::move(other.path_)),
      places_(other.places_) {}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) sys::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
    kind_ = other.kind_;
    path_ = std::move(other.path_);
    places_ = other.places_;
  }
  return *this;
}

File::~File() {
  if (fd_ >= 0) sys::close(fd_);
}

std::size_t File::read_some(ByteSpan to) const {
  for (;;) {
    const ssize_t moved = sys::read(fd_, to.data(), one_call(to.size()));
    if (moved >= 0) return static_cast<std::size_t>(moved);
    if (errno == EAGAIN) {
      sys::wait_readable(fd_);
    } else if (errno != EINTR) {
      throw error("reading", errno);
    } else {
      Interruption::look();
    }
  }
}

std::size_t File::read_full(ByteSpan to) const {
  std::size_t done = 0;
  while (done < to.size()) {
    const std::size_t moved = read_some(to.subspan(done));
    if (moved == 0) break;
    done += moved;
  }
  return done;
}

std::size_t File::read_full_at(ByteSpan to, std::uint64_t offset) const {
  std::size_t moved = 0;
  if (!read_direct_at(to, offset, moved)) throw error("reading", EINVAL).at(offset + moved);
  return moved;
}

void File::write_full(ConstByteSpan from) const {
  std::size_t done = 0;
  while (done < from.size()) {
    const ssize_t moved = sys::write(fd_, from.data() + done, one_call(from.size() - done));
    if (moved >= 0) {
      done += static_cast<std::size_t>(moved);
    } else if (errno == EAGAIN) {
      sys::wait_writable(fd_);
    } else if (errno != EINTR) {
      throw error("writing", errno);
    }
  }
}

void File::write_full_at(ConstByteSpan from, std::uint64_t offset) const {
  std::size_t moved = 0;
  if (!write_direct_at(from, offset, moved)) throw error("writing", EINVAL).at(offset + moved);
}

void File::note_written(std::uint64_t offset, std::size_t bytes) const {
  if (places_ == nullptr) return;
  if (!places_->add(offset, bytes)) {
    throw misplaced(kOverlap, path_, kDiscarded, "writing").at(offset);
  }
  places_->note_end(offset + bytes);
}

bool File::grow_to(std::uint64_t bytes) const {
  if (size() < bytes) {
    const auto end = static_cast<off_t>(bytes);
    const int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    if (sys::fallocate(fd_, mode, end - 1, 1) != 0 || sys::ftruncate(fd_, end) != 0) return false;
  }
  if (places_ != nullptr) places_->note_end(bytes);
  return true;
}

void File::require_written_size() const {
  if (places_ == nullptr) return;
  const std::uint64_t end = places_->end();  // first: meanwhile other threads make the file longer
  if (size() < end) throw became_shorter();
}

Error File::became_shorter() const {
  return Error(kind_, "writing", "another program has made the file shorter")
      .path(path_)
      .hint("let no other program change the file, and sort again");
}

bool File::read_direct_at(ByteSpan to, std::uint64_t offset, std::size_t& moved) const {
  moved = 0;
  while (moved < to.size()) {
    const ssize_t now = sys::pread(fd_, to.data() + moved, one_call(to.size() - moved),
                                   static_cast<off_t>(offset + moved));
    if (now > 0) {
      moved += static_cast<std::size_t>(now);
    } else if (now == 0) {
      return true;
    } else if (errno == EINVAL) {
      return false;  // also where a short call left an odd position
    } else if (errno != EINTR) {
      throw error("reading", errno).at(offset + moved);
    }
  }
  return true;
}

bool File::write_direct_at(ConstByteSpan from, std::uint64_t offset, std::size_t& moved) const {
  moved = 0;
  require_written_size();
  while (moved < from.size()) {
    const ssize_t now = sys::pwrite(fd_, from.data() + moved, one_call(from.size() - moved),
                                    static_cast<off_t>(offset + moved));
    if (now >= 0) {
      note_written(offset + moved, static_cast<std::size_t>(now));
      moved += static_cast<std::size_t>(now);
    } else if (errno == EINVAL) {
      return false;
    } else if (errno != EINTR) {
      throw error("writing", errno).at(offset + moved);
    }
  }
  return true;
}

void File::sync() const {
  if (sys::fsync(fd_) != 0) throw error("syncing", errno);
}

void File::sync_data() const {
  if (sys::fdatasync(fd_) != 0) throw error("syncing", errno);
}

void File::sync_file_system() const {
  if (sys::syncfs(fd_) != 0) throw error("syncing the file system of", errno);
}

void File::truncate(std::uint64_t bytes) const {
  if (sys::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) {
    throw error("setting the size of", errno);
  }
}

void File::allocate(std::uint64_t bytes, int mode, std::string_view operation) const {
  if (bytes == 0 || sys::fallocate(fd_, mode, 0, static_cast<off_t>(bytes)) == 0) return;
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) throw error(operation, errno);
}

struct stat File::facts() const {
  struct stat facts = {};
  if (sys::fstat(fd_, &facts) != 0) throw error("looking at", errno);
  return facts;
}

std::uint64_t File::size() const {
  std::uint64_t bytes = 0;
  if (sys::file_size(fd_, &bytes) != 0) throw error("looking at", errno);
  return bytes;
}

void File::close() {
  // Never repeated: on Linux, the descriptor is closed after EINTR, and another thread may already
  // use it.
  const int fd = std::exchange(fd_, -1);
  if (fd >= 0 && sys::close(fd) != 0 && errno != EINTR) throw error("closing", errno);
}

File File::reopened(int flags) const {
  const std::string self = fmt::format("/proc/self/fd/{}", fd_);
  File file(sys::open_at(AT_FDCWD, self.c_str(), flags, 0), path_, kind_);
  file.places_ = places_;
  return file;
}

Error File::error(std::string_view operation, int error_number) const {
  return failed_call(kind_, std::string(operation), path_, error_number);
}

File open_input(const std::string& path) {
  const int fd = sys::open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_NOCTTY);
  if (fd < 0) throw failed_call(ErrorKind::kInput, "opening", path, errno);
  File file(fd, path, ErrorKind::kInput);
  if (S_ISDIR(file.facts().st_mode)) throw file.error("opening", EISDIR);
  return file;
}

File open_standard_input() {
  const int mode = sys::access_mode(STDIN_FILENO);
  const int fd = mode == O_WRONLY ? -1 : sys::duplicate(STDIN_FILENO);
  const int problem = mode == O_WRONLY ? EBADF : errno;
  File file(fd, "standard input", ErrorKind::kInput);
  if (fd < 0) throw file.error("opening", problem);
  if (S_ISDIR(file.facts().st_mode)) throw file.error("opening", EISDIR);
  if (sys::is_socket_of_messages(fd)) {  // a read drops what it does not take of a message
    throw Error(ErrorKind::kInput, "reading",
                "it is a socket that carries messages, not a stream of bytes")
        .path(file.path())
        .hint("let a program that receives whole messages write them to a pipe");
  }
  return file;
}

Error failed_call(ErrorKind kind, std::string operation, std::string_view path, int error_number) {
  return Error::from_errno(kind, std::move(operation), error_number)
      .path(path)
      .hint(hint_for(error_number));
}

std::optional<struct stat> facts_of_name(int folder, const std::string& name,
                                         const std::string& path, ErrorKind kind) {
  constexpr int kFlags = AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC;
  struct stat facts = {};
  if (sys::stat_at(folder, name.c_str(), &facts, kFlags) == 0) return facts;
  // The next use of the path fails for the same reason, unless nothing is there.
  if (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ENAMETOOLONG) {
    return std::nullopt;
  }
  throw failed_call(kind, "looking at", path, errno);
}

bool is_there(const std::string& path) {
  return facts_of_name(AT_FDCWD, path, path, ErrorKind::kTemporary).has_value();
}

std::string_view hint_for(int error_number) {
  switch (error_number) {
    case ENOSPC:
      return "free some space there, or use another folder";
    case EDQUOT:
      return "the disk quota is used up; use another folder";
    case EFBIG:
      return "the file exceeds the maximum size of the file system or 'ulimit -f'; raise the "
             "limit, or use another file system";
    case EPIPE:
      return "the program that reads the output has ended";
    case EMFILE:
      return "the limit on open files is too low; raise it with 'ulimit -n'";
    case EROFS:
      return "the file system is mounted read-only";
    case ENOENT:
    case ELOOP:
      return "check the path";
    case EEXIST:
      return "another program has made it meanwhile; use another name";
    case ENAMETOOLONG:
      return "use a shorter name";
    case EACCES:
      return "check the permissions, or use another path";
    case EPERM:
      return "check the permissions, remove the attribute of an immutable folder with 'chattr -i', "
             "or use another path";
    case ENOTDIR:
      return "a part of the path is a file, not a folder";
    case EISDIR:
      return "give a file, not a folder";
    case EBADF:
      return "the descriptor is closed or has the wrong access mode; open it, or name a file";
    case EINVAL:
      return "use another path, or a descriptor without O_DIRECT";
    case EIO:
      return "the disk reported an error; see the system log";
    case ENOMEM:
      return "the system is out of memory; end other programs or raise the limits";
    default:
      return "see the system log, or use another path";
  }
}

}  // namespace gsort::io
