#include "io/input/input.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <semaphore>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/made_once.hpp"
#include "base/units.hpp"
#include "io/input/residency.hpp"
#include "io/system/memory.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

// Below this a file is read faster than it takes to find out whether it is cached.
constexpr std::uint64_t kLeastDirectBytes = 16 * kMiB;

// One of the few files that all parked inputs together may have open at the same time.
class OpenPlace {
 public:
  OpenPlace() { places().acquire(); }
  ~OpenPlace() { places().release(); }
  OpenPlace(const OpenPlace&) = delete;
  OpenPlace& operator=(const OpenPlace&) = delete;

 private:
  using Places = std::counting_semaphore<2>;
  static Places& places() {
    return made_once_a_process([] { return Places(2); });
  }
};

}  // namespace

Input::Input(const std::string& path)
    : file_(path == "-" ? open_standard_input() : open_input(path)),
      path_(file_.path()),
      has_name_(path != "-"),
      facts_(file_.facts()) {
  is_block_device_ = S_ISBLK(facts_.st_mode);
  is_stream_ = !S_ISREG(facts_.st_mode) && !is_block_device_;
  if (!is_stream_ && path == "-") {
    base_offset_ =
        static_cast<std::uint64_t>(std::max<off_t>(sys::lseek(file_.fd(), 0, SEEK_CUR), 0));
  }
  if (!is_stream_) {
    const off_t end = is_block_device_ ? sys::lseek(file_.fd(), 0, SEEK_END) : facts_.st_size;
    if (end < 0) throw file_.error("looking at", errno);
    size_ =
        static_cast<std::uint64_t>(end) - std::min(static_cast<std::uint64_t>(end), base_offset_);
    // Files in /proc claim to be empty, those in /sys to have a page: they are read like a stream.
    constexpr off_t kMostClaimed = 64 << 10;
    if (facts_.st_blocks == 0 && end <= kMostClaimed) {
      std::vector<std::byte> room(static_cast<std::size_t>(std::max<off_t>(end, 1)));
      is_stream_ = file_.read_full_at(room, 0) != static_cast<std::size_t>(end);
    }
  }
  if (is_stream_) {
    sys::enlarge_pipe(file_.fd());
    return;
  }
  sys::advise(file_.fd(), 0, 0, POSIX_FADV_SEQUENTIAL);
}

Input::Input(std::string name, std::uint64_t bytes)
    : path_(std::move(name)), is_in_memory_(true), size_(bytes) {}

void Input::choose_way(const WayToRead& wanted) {
  if (wanted.direct_io == DirectIo::kOff || is_stream_ || size_ == 0) return;
  if (wanted.direct_io == DirectIo::kAuto) {
    is_small_ = size_ < kLeastDirectBytes;
    if (is_small_) return;
    is_cached_ = is_mostly_cached(file_, base_offset_, size_);
    is_read_ahead_ = !is_cached_ && wanted.by_one_thread;
    if (is_cached_ || is_read_ahead_) return;
  }
  direct_ = file_.reopened(O_RDONLY | O_DIRECT);
  use_direct_ = direct_.is_open();
  direct_refused_ = !use_direct_;
}

void Input::park() {
  if (is_stream_ || is_block_device_ || !has_name_) return;
  is_parked_ = true;
  use_direct_ = false;
  direct_ = {};
  file_ = {};
}

File Input::opened_again() const {
  File file = open_input(path_);
  const struct stat now = file.facts();
  if (!sys::same_inode(now, facts_)) {
    throw changed("the file was replaced while it was read");
  }
  require_unchanged(now);
  return file;
}

void Input::read_at(ByteSpan room, std::size_t bytes, std::uint64_t at) {
  const std::uint64_t offset = base_offset_ + at;
  std::size_t done = 0;
  if (is_direct() && is_aligned(room.data()) && is_aligned(offset)) {
    // Rounded up if there is room, so that the tail of the file needs no separate call.
    const std::size_t asked =
        std::min(round_up(bytes, kDirectAlignment), round_down(room.size(), kDirectAlignment));
    if (!direct_.read_direct_at(room.first(asked), offset, done) && done == 0) {
      use_direct_ = false;
      direct_refused_ = true;
    }
    done = std::min(done, bytes);
  }
  if (done < bytes && !is_parked_) {
    done += file_.read_full_at(room.subspan(done, bytes - done), offset + done);
  }
  if (done < bytes && is_parked_) {
    const OpenPlace place;
    done += opened_again().read_full_at(room.first(bytes), offset);
  }
  if (done < bytes) throw changed("the file became shorter while it was read").at(offset + done);
}

// A pipe may hold packets (O_DIRECT), of at most a page of the kernel (64 KiB on some ARM64
// machines): a read drops what it does not take of a packet.
std::size_t Input::read_next(ByteSpan to) {
  if (!S_ISFIFO(facts_.st_mode)) return file_.read_full(to);
  const std::uint64_t packet_bytes = memory_page_bytes();
  std::size_t done = 0;
  while (done < to.size()) {
    const ByteSpan room = to.subspan(done);
    if (rest_.empty() && room.size() < packet_bytes) {
      rest_.resize(packet_bytes);
      rest_.resize(file_.read_some(rest_));
      if (rest_.empty()) break;
    }
    std::size_t got = std::min(rest_.size(), room.size());
    const auto got_end = rest_.begin() + static_cast<std::ptrdiff_t>(got);
    std::copy(rest_.begin(), got_end, room.begin());
    rest_.erase(rest_.begin(), got_end);
    if (got == 0) got = file_.read_some(room);
    if (got == 0) break;
    done += got;
  }
  return done;
}

void Input::check_unchanged() const {
  if (is_stream_ || is_block_device_ || is_in_memory_) return;
  is_parked_ ? static_cast<void>(opened_again()) : require_unchanged(file_.facts());
}

void Input::require_all_of_file() const {
  if (base_offset_ == 0) return;
  throw Error(
      ErrorKind::kUsage, "replacing the file of",
      fmt::format("it is read from byte {} on, and the bytes before would be lost", base_offset_))
      .path(path_)
      .hint("name another file with -o");
}

void Input::check_replaceable(const std::string& output) const {
  check_unchanged();
  struct stat now = {};
  if (sys::stat_at(AT_FDCWD, output.c_str(), &now, 0) != 0) return;  // nothing can be lost
  if (sys::same_inode(now, facts_)) return;
  throw changed("the file was replaced while it was read");
}

void Input::require_unchanged(const struct stat& now) const {
  const bool same = now.st_size == facts_.st_size && now.st_mtim.tv_sec == facts_.st_mtim.tv_sec &&
                    now.st_mtim.tv_nsec == facts_.st_mtim.tv_nsec;
  if (same) return;
  throw changed(now.st_size > facts_.st_size   ? "the file grew while it was read"
                : now.st_size < facts_.st_size ? "the file became shorter while it was read"
                                               : "the file was written to while it was read");
}

Error Input::changed(std::string_view how) const {
  return Error(ErrorKind::kInput, "reading", std::string(how))
      .path(path())
      .hint("try again when no program writes to it");
}

std::optional<FileState> Input::state() const {
  if (!S_ISREG(facts_.st_mode)) return std::nullopt;
  constexpr std::int64_t kSecond = 1'000'000'000;
  // Nanoseconds end in the year 2262, dates of files do not.
  constexpr std::int64_t kMostSeconds = std::numeric_limits<std::int64_t>::max() / kSecond - 1;
  const std::int64_t seconds =
      std::clamp<std::int64_t>(facts_.st_mtim.tv_sec, -kMostSeconds, kMostSeconds);
  return FileState{static_cast<std::uint64_t>(facts_.st_size),
                   seconds * kSecond + facts_.st_mtim.tv_nsec};
}

std::string Input::note() const {
  if (is_stream_) return path() + ": read in order, size unknown";
  if (is_direct()) return path() + ": not cached, read around the page cache (O_DIRECT)";
  if (direct_refused_) return path() + ": O_DIRECT is not supported here, using the page cache";
  if (is_cached_) return path() + ": cached, read through the page cache";
  if (is_read_ahead_) return path() + ": not cached, read ahead by the kernel for one thread";
  return {};
}

}  // namespace gsort::io
