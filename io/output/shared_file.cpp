#include "io/output/shared_file.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <span>

#include <fcntl.h>
#include <fmt/format.h>

#include "io/output/renamable.hpp"
#include "io/system/linkable_file.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

constexpr mode_t kModeOfOwner = 0600;
constexpr mode_t kModeOfNew = 0666;
constexpr mode_t kModeBits = 0777;
constexpr mode_t kModeOfOthers = 07;

}  // namespace

OutputPlace place_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

OutputPlace place_of_output(const std::string& path) {
  const auto refuse = [&](const char* reason) {
    throw Error(ErrorKind::kOutput, "opening", reason)
        .path(path)
        .hint("-o must name a regular file, or a path that does not exist");
  };
  OutputPlace place = place_of(path);
  struct stat found = {};
  if (place.name.empty()) refuse("is a folder");
  if (sys::stat_at(AT_FDCWD, path.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return place;
  if (!S_ISREG(found.st_mode)) refuse("is not a regular file");
  constexpr bool kMayBeWritten = true;
  require_renamable(place.folder, place.name, path, !kMayBeWritten);
  return place;
}

std::vector<std::string> names_with(const OutputPlace& place, const std::string& prefix) {
  std::vector<std::string> names;
  std::error_code problem;
  for (std::filesystem::directory_iterator entry(place.folder, problem), end;
       !problem && entry != end; entry.increment(problem)) {
    const std::string name = entry->path().filename();
    if (name.starts_with(prefix)) names.push_back(name);
  }
  if (problem) {
    throw Error::from_errno(ErrorKind::kOutput, "listing the folder", problem.value())
        .path(place.folder)
        .hint(hint_for(problem.value()));
  }
  std::ranges::sort(names);
  return names;
}

void write_record(const OutputPlace& place, const std::string& name, const std::string& text) {
  const Folder folder = open_folder(place.folder, ErrorKind::kOutput);
  LinkableFile file(folder, name, place.folder + "/" + name);
  file.file().write_full_at(std::as_bytes(std::span(text)), 0);
  file.file().sync();
  file.put_in_place(true, text.size());
  if (folder.readable) folder.file.sync();
}

std::optional<std::string> read_record(const OutputPlace& place, const std::string& name) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 10;
  const Folder folder = open_folder(place.folder, ErrorKind::kOutput);
  const int fd =
      sys::open_at(folder.file.fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd < 0 && errno == ENOENT) return std::nullopt;
  const std::string path = place.folder + "/" + name;
  if (fd < 0) {
    throw Error::from_errno(ErrorKind::kOutput, "opening", errno).path(path).hint(hint_for(errno));
  }
  const File file(fd, path, ErrorKind::kOutput);
  std::string text(kMostBytes, ' ');
  text.resize(file.read_full_at(std::as_writable_bytes(std::span(text)), 0));
  return text;
}

void remove_beside(const OutputPlace& place, const std::string& name) {
  const Folder folder = open_folder(place.folder, ErrorKind::kOutput);
  if (is_on_its_way(name)) return remove_if_left(folder, name);
  if (sys::unlink_at(folder.file.fd(), name.c_str()) == 0 || errno == ENOENT) return;
  throw Error::from_errno(ErrorKind::kOutput, "removing", errno)
      .path(place.folder + "/" + name)
      .hint(hint_for(errno));
}

std::string name_of_its_own(const std::string& name) {
  return fmt::format("{}-{:08x}", name, static_cast<std::uint32_t>(sys::random_number()));
}

void move_aside(const OutputPlace& place, const std::string& name) {
  const Folder folder = open_folder(place.folder, ErrorKind::kOutput);
  const std::string aside = name_of_its_own(name);
  int result = 0;
  do {
    result = sys::rename_at(folder.file.fd(), name.c_str(), aside.c_str());
  } while (result != 0 && errno == EINTR);
  if (result == 0 || errno == ENOENT) return;
  throw Error::from_errno(ErrorKind::kOutput, "renaming", errno)
      .path(place.folder + "/" + name)
      .hint(hint_for(errno));
}

SharedFile::SharedFile(const OutputPlace& place, const std::string& name, Access access)
    : place_(place), name_(name), folder_(open_folder(place.folder, ErrorKind::kOutput)) {
  const int make = access == Access::kWrite ? O_CREAT : 0;
  const std::string path = place.folder + "/" + name;
  int fd = -1;
  do {
    fd = sys::open_at(folder_.file.fd(), name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | make,
                      kModeOfOwner);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0 && errno == ENOENT && access == Access::kLook) return;
  if (fd < 0) {
    throw Error::from_errno(ErrorKind::kOutput, "opening", errno).path(path).hint(hint_for(errno));
  }
  file_ = File(fd, path, ErrorKind::kOutput);
  file_.note_places_in(places_);
  const struct stat facts = file_.facts();
  if (S_ISREG(facts.st_mode) && facts.st_uid == sys::effective_user() && facts.st_nlink <= 1)
    return;
  throw Error(ErrorKind::kOutput, "opening", "it is not a file that gsort made for this user")
      .path(path)
      .hint("remove it, or name another output");
}

std::uint64_t SharedFile::bytes() const {
  return static_cast<std::uint64_t>(file_.facts().st_size);
}

std::uint64_t SharedFile::allocated_bytes() const {
  constexpr std::uint64_t kStatBlockBytes = 512;
  return static_cast<std::uint64_t>(file_.facts().st_blocks) * kStatBlockBytes;
}

std::uint64_t SharedFile::number() const {
  return file_.facts().st_ino;
}

// Of two who do this at once both make it as long.
void SharedFile::grow_to(std::uint64_t bytes) const {
  if (this->bytes() < bytes) file_.truncate(bytes);
}

void SharedFile::write_at(std::uint64_t offset, ConstByteSpan bytes) const {
  file_.write_full_at(bytes, offset);
}

void SharedFile::finish(std::uint64_t begin, std::uint64_t end) {
  file_.sync();
  places_.require_only(begin, end, file_.path(), "the part was not taken");
}

void SharedFile::take_over_rights() const {
  struct stat old = {};
  mode_t mode = kModeOfNew & ~sys::file_mode_mask();
  if (sys::stat_at(folder_.file.fd(), place_.name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISREG(old.st_mode)) {
    mode = old.st_mode & kModeBits;
    const struct stat now = file_.facts();
    const bool same = old.st_uid == now.st_uid && old.st_gid == now.st_gid;
    // No more for the group than for all others where the group cannot be kept.
    if (!same && sys::fchown(file_.fd(), old.st_uid, old.st_gid) != 0) {
      mode &= ~(kModeOfOthers << 3U) | (mode & kModeOfOthers) << 3U;
    }
  }
  if (sys::fchmod(file_.fd(), mode) != 0) throw file_.error("setting the mode of", errno);
}

bool SharedFile::put_in_place() const {
  take_over_rights();
  file_.sync();
  int result = 0;
  do {
    result = sys::rename_at(folder_.file.fd(), name_.c_str(), place_.name.c_str());
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno == ENOENT) return false;
  if (result != 0) throw file_.error("putting in place", errno);
  return true;
}

void SharedFile::sync_name() const {
  if (folder_.readable) {
    folder_.file.sync();
  } else {
    file_.sync_file_system();
  }
}

}  // namespace gsort::io
