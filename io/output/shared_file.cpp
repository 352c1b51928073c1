#include "io/output/shared_file.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <span>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "io/output/output_rights.hpp"
#include "io/output/renamable.hpp"
#include "io/system/linkable_file.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

constexpr mode_t kModeOfOwner = 0600;
constexpr const char* kSamePathOnAllHosts =
    "all hosts must see the folder of the output under the same path";

}  // namespace

OutputPlace place_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

// The state of the file or folder with this name, if any. A network file system asks its server:
// another host may have written to the file since this one last looked. Throws: Error(kind).
static std::optional<struct stat> facts_at(int folder, const std::string& name,
                                           const std::string& path,
                                           ErrorKind kind = ErrorKind::kOutput) {
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
  return facts_at(AT_FDCWD, path, path, ErrorKind::kTemporary).has_value();
}

OutputPlace place_of_output(const std::string& path) {
  const auto refuse = [&](const char* reason) {
    throw Error(ErrorKind::kOutput, "opening", reason)
        .path(path)
        .hint("-o must name a regular file, or a path that does not exist");
  };
  OutputPlace place = place_of(path);
  if (place.name.empty()) refuse("is a folder");
  refuse_append_only_folder(place.folder, path);
  const auto found = facts_at(AT_FDCWD, path, path);
  if (!found) return place;
  if (!S_ISREG(found->st_mode)) refuse("is not a regular file");
  refuse_attributes(place.folder, place.name, path);
  // As at the other doors, a file that is read-only is called that; see require_writable().
  if (sys::access_at(AT_FDCWD, path.c_str(), W_OK) != 0) return place;
  constexpr bool kMayBeWritten = true;
  require_renamable(place.folder, place.name, path, !kMayBeWritten);
  return place;
}

void require_writable(const OutputPlace& place) {
  const std::string folder = place.folder == "/" ? "/" : place.folder + "/";
  const std::string path = place.folder == "." ? place.name : folder + place.name;
  if (sys::access_at(AT_FDCWD, path.c_str(), W_OK) == 0 || errno == ENOENT) return;
  throw failed_call(ErrorKind::kOutput, "opening", path, errno);
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
    throw failed_call(ErrorKind::kOutput, "listing the folder", place.folder, problem.value());
  }
  std::ranges::sort(names);
  return names;
}

void write_record(const OutputPlace& place, const std::string& name, const std::string& text) {
  const Folder folder = open_folder(place.folder, ErrorKind::kOutput);
  write_named_file(folder, name, place.folder + "/" + name, std::as_bytes(std::span(text)));
}

bool write_new_record(const OutputPlace& place, const std::string& name, const std::string& text) {
  const Folder folder = open_folder(place.folder, ErrorKind::kOutput);
  constexpr bool kMustBeNew = true;
  const auto bytes = std::as_bytes(std::span(text));
  return write_named_file(folder, name, place.folder + "/" + name, bytes, kMustBeNew);
}

// Opens the file of this name for reading. The result is not open if there is no such file, or if
// it is a link or may not be read: then gsort did not make it.
static File open_beside(const Folder& folder, const OutputPlace& place, const std::string& name) {
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
  const int fd = sys::open_at(folder.file.fd(), name.c_str(), flags);
  const int problem = fd < 0 ? errno : 0;
  File file(fd, place.folder + "/" + name, ErrorKind::kOutput);
  const bool may_be = problem == 0 || problem == ENOENT || problem == EACCES || problem == ELOOP;
  return may_be ? std::move(file) : throw file.error("opening", problem);
}

std::optional<std::string> read_record(const OutputPlace& place, const std::string& name) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 10;
  const Folder folder = open_folder(place.folder, ErrorKind::kOutput);
  const File file = open_beside(folder, place, name);
  if (!file.is_open()) return std::nullopt;
  const struct stat facts = file.facts();
  const bool is_ours = facts.st_uid == 0 || is_of_this_user(folder, facts);
  if (!S_ISREG(facts.st_mode) || !is_ours) return std::nullopt;
  std::string text(kMostBytes, ' ');
  text.resize(file.read_full_at(std::as_writable_bytes(std::span(text)), 0));
  return text;
}

void remove_beside(const OutputPlace& place, const std::string& name) {
  const Folder folder = open_folder(place.folder, ErrorKind::kOutput);
  if (is_on_its_way(name)) return remove_if_left(folder, name);
  if (sys::unlink_at(folder.file.fd(), name.c_str()) == 0 || errno == ENOENT) return;
  throw failed_call(ErrorKind::kOutput, "removing", place.folder + "/" + name, errno);
}

std::optional<FileBeside> look_beside(const OutputPlace& place, const std::string& name) {
  const Folder folder = open_folder(place.folder, ErrorKind::kOutput);
  const auto found = facts_at(folder.file.fd(), name, place.folder + "/" + name);
  if (!found || !S_ISREG(found->st_mode)) return std::nullopt;
  const struct stat& facts = *found;
  const auto ns_of = [](const struct timespec& time) {
    constexpr std::int64_t kNsInSecond = 1'000'000'000;
    return static_cast<std::int64_t>(time.tv_sec) * kNsInSecond + time.tv_nsec;
  };
  return FileBeside{static_cast<std::uint64_t>(facts.st_size),
                    {facts.st_ino, ns_of(facts.st_mtim), ns_of(facts.st_ctim)}};
}

static ContentSum content_of(const File& file) {
  constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
  std::vector<std::byte> buffer(kBufferBytes);
  ContentSum sum;
  for (std::uint64_t offset = 0;;) {
    const std::size_t bytes = file.read_full_at(buffer, offset);
    if (bytes == 0) return sum;
    sum += content_sum_of(offset, std::span(buffer).first(bytes));
    offset += bytes;
  }
}

std::optional<ContentSum> read_content(const OutputPlace& place, const std::string& name) {
  const Folder folder = open_folder(place.folder, ErrorKind::kOutput);
  const File file = open_beside(folder, place, name);
  if (!file.is_open() || !S_ISREG(file.facts().st_mode)) return std::nullopt;
  return content_of(file);
}

SharedFile::SharedFile(const OutputPlace& place, const std::string& name, Access access)
    : place_(place),
      name_(name),
      folder_(open_folder(place.folder, ErrorKind::kOutput)),
      remains_("the part was not taken") {
  const int make = access == Access::kMake ? O_CREAT | O_EXCL : 0;
  const std::string path = place.folder + "/" + name;
  const int fd = sys::open_at(folder_.file.fd(), name.c_str(),
                              O_RDWR | O_NOFOLLOW | O_NONBLOCK | make, kModeOfOwner);
  if (fd < 0 && errno == ENOENT && access == Access::kLook) return;
  if (fd < 0) throw failed_call(ErrorKind::kOutput, "opening", path, errno);
  file_ = File(fd, path, ErrorKind::kOutput);
  note_writes(folder_facts(place.folder));
  const struct stat facts = file_.facts();
  if (S_ISREG(facts.st_mode) && facts.st_nlink <= 1 && is_of_this_user(folder_, facts)) return;
  throw Error(ErrorKind::kOutput, "opening", "it is not a file that gsort made for this user")
      .path(path)
      .hint("remove it, or name another output");
}

static File open_hidden(const std::string& hidden_path, const std::string& path) {
  const int fd = sys::open_at(AT_FDCWD, hidden_path.c_str(), O_RDWR | O_NOFOLLOW);
  if (fd >= 0) return {fd, path, ErrorKind::kOutput};
  throw Error::from_errno(ErrorKind::kOutput, "opening", errno)
      .path(hidden_path)
      .hint(kSamePathOnAllHosts);
}

std::uint64_t mark_shared_output(const std::string& hidden_path) {
  const File file = open_hidden(hidden_path, hidden_path);
  const std::uint64_t mark = sys::random_number();
  file.write_full_at(std::as_bytes(std::span(&mark, 1)), 0);
  file.sync();
  return mark;
}

SharedFile::SharedFile(const std::string& hidden_path, const std::string& path, std::uint64_t mark)
    : remains_("the output was discarded") {
  file_ = open_hidden(hidden_path, path);
  std::uint64_t found = 0;
  const std::size_t bytes = file_.read_full_at(std::as_writable_bytes(std::span(&found, 1)), 0);
  if (bytes != sizeof found || found != mark) {
    throw Error(ErrorKind::kOutput, "opening", "it is another file here than on the first host")
        .path(hidden_path)
        .hint(kSamePathOnAllHosts);
  }
  note_writes(file_facts(hidden_path));
}

void SharedFile::note_writes(const std::optional<FolderFacts>& facts) {
  file_.note_places_in(places_);
  if (facts) memory_watch_.set_kind(facts->memory_kind);
}

std::uint64_t SharedFile::bytes() const {
  return static_cast<std::uint64_t>(file_.facts().st_size);
}

std::uint64_t SharedFile::allocated_bytes() const {
  constexpr std::uint64_t kStatBlockBytes = 512;
  return static_cast<std::uint64_t>(file_.facts().st_blocks) * kStatBlockBytes;
}

ContentSum SharedFile::content() const {
  return content_of(file_);
}

// Two processes that do this at once both set the same length.
void SharedFile::grow_to(std::uint64_t bytes) const {
  if (this->bytes() < bytes) file_.truncate(bytes);
}

void SharedFile::write_at(std::uint64_t offset, ConstByteSpan bytes) const {
  memory_watch_.require_room_for(file_, bytes.size());
  file_.write_full_at(bytes, offset);
}

void SharedFile::finish(std::uint64_t begin, std::uint64_t end) {
  file_.require_written_size();
  file_.sync();
  places_.require_only(begin, end, file_.path(), remains_);
}

bool SharedFile::put_in_place(const std::function<void()>& before_name) const {
  const auto old = facts_at(folder_.file.fd(), place_.name, place_.folder + "/" + place_.name);
  const bool replaces = old && S_ISREG(old->st_mode);
  OutputRights rights(place_.folder, place_.name, replaces ? old : std::nullopt);
  rights.find_mode_of_new(folder_);
  rights.give_to(file_);
  file_.sync();
  before_name();
  const int result = sys::rename_at(folder_.file.fd(), name_.c_str(), place_.name.c_str());
  if (result != 0 && errno == ENOENT) return false;
  if (result != 0) throw file_.error("putting in place", errno);
  return true;
}

}  // namespace gsort::io
