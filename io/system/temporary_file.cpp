#include "io/system/temporary_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "io/system/held_signals.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

using std::string_view_literals::operator""sv;

constexpr mode_t kOnlyTheOwner = 0600;
constexpr int kAttempts = 100;
constexpr unsigned kUsualNames = 4;
constexpr std::size_t kDigitsOfNumber = 16;
constexpr std::string_view kOfGsort = ".gsort-";  // in hidden names
constexpr std::string_view kOnItsWay = ".new";

// In a folder that was removed, some file systems report EPERM instead of ENOENT.
Error cannot_create(const Folder& folder, int error_number) {
  struct stat facts = {};
  const bool is_removed = sys::fstat(folder.file.fd(), &facts) == 0 && facts.st_nlink == 0;
  return folder.file.error("creating a file in", is_removed ? ENOENT : error_number);
}

// The errors of kernels and file systems without O_TMPFILE; old ones treat the call as opening a
// folder.
bool means_no_unnamed_files(int error_number) {
  return error_number == EOPNOTSUPP || error_number == EISDIR || error_number == EINVAL ||
         error_number == ENOENT;
}

// A file without a name, or one that is not open() when the file system has no such files.
File try_unnamed(const Folder& folder, const std::string& path, int extra_flags) {
  const int fd =
      sys::open_at(folder.file.fd(), ".", O_TMPFILE | O_RDWR | extra_flags, kOnlyTheOwner);
  if (fd < 0 && !means_no_unnamed_files(errno)) throw cannot_create(folder, errno);
  return {fd, path, folder.file.kind()};
}

// Others may be the user's.
bool is_hidden_file_of_gsort(std::string_view name) {
  return name.starts_with('.') && name.find(kOfGsort) != name.npos;
}

// The first name of a file that becomes `target`; several files at once have different numbers.
std::string usual_name(const std::string& target, unsigned number) {
  constexpr std::size_t kMostLetters = 255;
  const std::string name = fmt::format("{}{}{}", target, kOnItsWay, number);
  if (is_hidden_file_of_gsort(target) && name.size() <= kMostLetters) return name;
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char letter : target) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return fmt::format(".gsort-{:016x}", hash + number);
}

// Whether `name` stands for the open file.
bool is_name_of(const Folder& folder, const std::string& name, const struct stat& open) {
  struct stat named = {};
  return sys::stat_at(folder.file.fd(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         sys::same_inode(named, open);
}

// Calls attempt(name), which returns 0 or an errno, until a name is free: first the usual names of
// `target`, if there is one, then random names. Returns the last result of attempt.
template <class Attempt>
int with_free_name(const Folder& folder, const std::string& target, const Attempt& attempt) {
  int result = EEXIST;
  for (unsigned number = 0; !target.empty() && number < kUsualNames; ++number) {
    const std::string name = usual_name(target, number);
    if (result != EEXIST) {
      remove_if_left(folder, name);
      continue;
    }
    result = attempt(name);
    if (result != EEXIST) continue;
    remove_if_left(folder, name);
    result = attempt(name);
  }
  for (int tried = 0; tried < kAttempts && result == EEXIST; ++tried) {
    result = attempt(hidden_name());
  }
  return result;
}

NewFile create_named(const Folder& folder, const std::string& target, const std::string& path) {
  NewFile created;
  const int refused = with_free_name(folder, target, [&](const std::string& name) {
    created.name = name;
    const int fd = sys::open_at(folder.file.fd(), name.c_str(),
                                O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR, kOnlyTheOwner);
    if (fd < 0) return errno;
    created.file = File(fd, path, folder.file.kind());
    sys::lock(fd);
    // Before the lock, another sort may have removed the file as a left one.
    struct stat facts = {};
    return sys::fstat(fd, &facts) == 0 && facts.st_nlink == 0 ? EEXIST : 0;
  });
  if (refused != 0) throw cannot_create(folder, refused);
  return created;
}

using Kind = RemovedOnSignal::Kind;

constexpr std::size_t kNameBytes = 256;  // no file system has longer names

// The handler reads the fields that were written before `kind` was set.
struct Slot {
  std::atomic<Kind> kind{Kind::kNone};
  int folder = -1;
  std::array<char, kNameBytes> name{};
};
static_assert(std::atomic<Kind>::is_always_lock_free, "or a signal handler may not read it");

std::array<Slot, 1024> slots;

}  // namespace

RemovedOnSignal::RemovedOnSignal(int folder, const std::string& name, Kind kind) noexcept {
  if (name.size() >= kNameBytes) return;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Slot& slot = slots[i];
    Kind found = Kind::kNone;
    if (!slot.kind.compare_exchange_strong(found, Kind::kTaken)) continue;
    slot.folder = folder;
    slot.name.fill('\0');
    name.copy(slot.name.data(), name.size());
    slot.kind.store(kind, std::memory_order_release);
    slot_ = static_cast<int>(i);
    return;
  }
}

RemovedOnSignal::RemovedOnSignal(RemovedOnSignal&& other) noexcept
    : slot_(std::exchange(other.slot_, -1)) {}

RemovedOnSignal& RemovedOnSignal::operator=(RemovedOnSignal&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

RemovedOnSignal::~RemovedOnSignal() {
  if (slot_ >= 0) slots[static_cast<std::size_t>(slot_)].kind.store(Kind::kNone);
}

namespace {

// These functions are for the signal handler: they call only async-signal-safe functions.

// Replaces each open descriptor of the file by one of the null device: other threads may still use
// the numbers. The system gives the lowest free number, so a long gap means that no more follow.
void close_everywhere(int folder, const char* name) {
  constexpr int kLongestGap = 1024;
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  struct stat named = {};
  struct statx open = {};
  const bool exists = ::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0;
  for (int fd = STDERR_FILENO + 1, gap = 0; exists && gap < kLongestGap; ++fd, ++gap) {
    // A server that does not answer is not asked.
    if (::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &open) != 0) continue;
    gap = 0;
    const bool is_it = open.stx_ino == named.st_ino &&
                       makedev(open.stx_dev_major, open.stx_dev_minor) == named.st_dev;
    if (is_it) ::dup3(null, fd, O_CLOEXEC);
  }
  ::close(null);
}

// Removes all files of the folder. If a file is open when it is removed, NFS gives it another name
// there, and another thread may open or rename files meanwhile. A later call removes such names.
void empty_folder(const Slot& slot) {
  constexpr std::size_t kBytesAtOnce = 4096;
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  alignas(dirent64) std::array<std::byte, kBytesAtOnce> entries;
  const int folder = ::openat(slot.folder, slot.name.data(), kFlags);
  for (;;) {
    const ssize_t bytes = ::getdents64(folder, entries.data(), entries.size());
    if (bytes <= 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(bytes);) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      if (entry->d_name == "."sv || entry->d_name == ".."sv) continue;
      close_everywhere(folder, entry->d_name);
      ::unlinkat(folder, entry->d_name, 0);
    }
  }
  ::close(folder);
}

template <class Work>
void for_each_slot(Kind kind, const Work& work) {
  for (const Slot& slot : slots) {
    if (slot.kind.load(std::memory_order_acquire) == kind) work(slot);
  }
}

// Returns false if a folder is not empty.
bool remove_names() {
  bool is_done = true;
  for_each_slot(Kind::kFolder, [&](const Slot& slot) {
    empty_folder(slot);
    is_done =
        (::unlinkat(slot.folder, slot.name.data(), AT_REMOVEDIR) == 0 || errno != ENOTEMPTY) &&
        is_done;
  });
  for_each_slot(Kind::kFile,
                [](const Slot& slot) { ::unlinkat(slot.folder, slot.name.data(), 0); });
  return is_done;
}

}  // namespace

// Tries again for a while: another thread may just have created a file in a folder, or be writing
// to one.
extern "C" void remove_names_of_gsort(int signal) {
  constexpr int kMostTries = 20;
  constexpr int kWaitMilliseconds = 5;
  for (int tried = 0; tried < kMostTries && !remove_names(); ++tried) {
    ::poll(nullptr, 0, kWaitMilliseconds);
  }
  std::signal(signal, SIG_DFL);
  ::kill(::getpid(), signal);
}

void remove_names_on_signals() {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction action = {};
    ::sigaction(signal, nullptr, &action);
    if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = remove_names_of_gsort;
    action.sa_flags = SA_RESTART | SA_NODEFER;
    ::sigaction(signal, &action, nullptr);
  }
}

Folder open_folder(const std::string& path, ErrorKind kind, int more_flags) {
  const int flags = O_DIRECTORY | more_flags;
  int fd = sys::open_at(AT_FDCWD, path.c_str(), O_RDONLY | flags);
  const bool readable = fd >= 0;
  if (fd < 0 && errno == EACCES) fd = sys::open_at(AT_FDCWD, path.c_str(), O_PATH | flags);
  if (fd < 0) throw failed_call(kind, "opening the folder", path, errno);
  return {File(fd, path, kind), readable};
}

std::vector<std::string> Folder::names(std::string_view prefix) const {
  if (!readable) throw file.error("listing the folder", EACCES);
  const int fd = sys::open_at(file.fd(), ".", O_RDONLY | O_DIRECTORY);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  if (!entries) {
    const int problem = errno;
    if (fd >= 0) sys::close(fd);
    throw file.error("listing the folder", problem);
  }
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(entries.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && name.starts_with(prefix)) names.emplace_back(name);
  }
  if (errno != 0) throw file.error("listing the folder", errno);
  std::ranges::sort(names);
  return names;
}

void Folder::sync_names(const File& inside) const {
  if (readable) {
    file.sync();
  } else {
    inside.sync_file_system();
  }
}

NewFile create_linkable(const Folder& folder, const std::string& target, const std::string& path) {
  File file = try_unnamed(folder, path, 0);
  if (file.is_open()) {
    sys::lock(file.fd());
    // Without /proc the file could not be linked after all the work: check this now.
    struct stat facts = {};
    const std::string self = fmt::format("/proc/self/fd/{}", file.fd());
    if (sys::stat_at(AT_FDCWD, self.c_str(), &facts, 0) == 0) return {std::move(file), {}};
  }
  return create_hidden(folder, target, path);
}

NewFile create_hidden(const Folder& folder, const std::string& target, const std::string& path) {
  const HeldSignals held;
  NewFile created = create_named(folder, target, path);
  created.removed = {folder.file.fd(), created.name};
  return created;
}

File create_unnamed(const Folder& folder, const std::string& path) {
  File file = try_unnamed(folder, path, O_EXCL);
  if (file.is_open()) return file;
  const HeldSignals held;
  NewFile named = create_named(folder, "", path);
  if (sys::unlink_at(folder.file.fd(), named.name.c_str()) != 0) {
    const int error_number = errno;
    sys::unlink_at(folder.file.fd(), named.name.c_str());
    throw cannot_create(folder, error_number);
  }
  return std::move(named.file);
}

bool is_of_this_user(const Folder& folder, const struct stat& facts) {
  if (facts.st_uid == sys::effective_user()) return true;
  try {
    return facts.st_uid == create_unnamed(folder, folder.file.path()).facts().st_uid;
  } catch (const Error&) {
    return false;
  }
}

std::optional<mode_t> mode_of_new_file(const Folder& folder, mode_t mode) {
  const int fd = sys::open_at(folder.file.fd(), ".", O_TMPFILE | O_RDWR | O_EXCL, mode);
  const File file(fd, folder.file.path(), folder.file.kind());
  struct stat facts = {};
  if (!file.is_open() || sys::fstat(file.fd(), &facts) != 0) return std::nullopt;
  return facts.st_mode & 0777U;
}

int link_as(const File& file, const Folder& folder, const std::string& name) {
  const std::string self = fmt::format("/proc/self/fd/{}", file.fd());
  const int fd = folder.file.fd();
  const bool is_linked =
      sys::link_at(AT_FDCWD, self.c_str(), fd, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  return is_linked ? 0 : errno;
}

int link_hidden(const File& file, const Folder& folder, const std::string& target,
                std::string& name) {
  const int refused = with_free_name(folder, target, [&](const std::string& free) {
    name = free;  // before the name exists: the steps after that must not fail
    return link_as(file, folder, name);
  });
  if (refused != 0) name.clear();
  return refused;
}

void remove_left_name(const Folder& folder, const std::string& target) {
  for (unsigned number = 0; number < kUsualNames; ++number) {
    remove_if_left(folder, usual_name(target, number));
  }
}

bool is_on_its_way(std::string_view name) {
  const std::size_t end = name.rfind(kOnItsWay);
  return end != name.npos && end + kOnItsWay.size() + 1 == name.size() && name.back() >= '0' &&
         name.back() < '0' + char{kUsualNames} && is_hidden_file_of_gsort(name.substr(0, end));
}

// Only the holder of the lock removes the name, so the removed name is still that of this file.
void remove_if_left(const Folder& folder, const std::string& name) {
  const auto open_for = [&](int access) {
    return sys::open_at(folder.file.fd(), name.c_str(), access | O_NOFOLLOW | O_NONBLOCK);
  };
  int fd = open_for(O_RDWR);  // NFS locks only files that are open for writing
  if (fd < 0 && errno != ENOENT) fd = open_for(O_RDONLY);
  const File left(fd, name, folder.file.kind());
  struct stat facts = {};
  if (!left.is_open() || sys::fstat(left.fd(), &facts) != 0) return;
  if (!S_ISREG(facts.st_mode) || !is_of_this_user(folder, facts)) return;
  if (sys::lock(left.fd()) != 0) return;
  if (is_name_of(folder, name, facts)) sys::unlink_at(folder.file.fd(), name.c_str());
}

std::string numbered_name(std::string_view prefix) {
  return fmt::format("{}{:0{}x}", prefix, sys::random_number(), kDigitsOfNumber);
}

bool is_numbered_name(std::string_view name, std::string_view prefix) {
  return name.size() == prefix.size() + kDigitsOfNumber && name.starts_with(prefix) &&
         name.find_first_not_of("0123456789abcdef", prefix.size()) == name.npos;
}

// A guessed name would do no harm: files with it are only created exclusively.
std::string hidden_name() {
  return numbered_name(kOfGsort);
}

}  // namespace gsort::io
