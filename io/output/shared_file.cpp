#include "io/output/shared_file.hpp"

#include <cerrno>
#include <span>
#include <utility>
#include <vector>

#include <fcntl.h>

#include "io/output/output_rights.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/linkable_file.hpp"
#include "io/system/process.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

constexpr mode_t kModeOfOwner = 0600;
constexpr const char* kSamePathOnAllHosts =
    "all hosts must see the folder of the output under the same path";

}  // namespace

void write_record(const OutputPlace& place, const std::string& name, const std::string& text) {
  write_named_file(*place.folder, name, place.path_of(name), std::as_bytes(std::span(text)));
}

bool write_new_record(const OutputPlace& place, const std::string& name, const std::string& text) {
  constexpr bool kMustBeNew = true;
  const auto bytes = std::as_bytes(std::span(text));
  return write_named_file(*place.folder, name, place.path_of(name), bytes, kMustBeNew);
}

// Opens the file of this name for reading. The result is not open if there is no such file, or if
// it is a link or may not be read: then gsort did not make it.
static File open_beside(const OutputPlace& place, const std::string& name) {
  const int fd = sys::open_at(place.fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const int problem = fd < 0 ? errno : 0;
  File file(fd, place.path_of(name), ErrorKind::kOutput);
  const bool may_be = problem == 0 || problem == ENOENT || problem == EACCES || problem == ELOOP;
  return may_be ? std::move(file) : throw file.error("opening", problem);
}

std::optional<std::string> read_record(const OutputPlace& place, const std::string& name) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 10;
  const File file = open_beside(place, name);
  if (!file.is_open()) return std::nullopt;
  const struct stat facts = file.facts();
  const bool is_ours = facts.st_uid == 0 || is_of_this_user(*place.folder, facts);
  if (!S_ISREG(facts.st_mode) || !is_ours) return std::nullopt;
  std::string text(kMostBytes, ' ');
  text.resize(file.read_full_at(std::as_writable_bytes(std::span(text)), 0));
  return text;
}

void remove_beside(const OutputPlace& place, const std::string& name) {
  if (is_on_its_way(name)) return remove_if_left(*place.folder, name);
  if (sys::unlink_at(place.fd(), name.c_str()) == 0 || errno == ENOENT) return;
  throw failed_call(ErrorKind::kOutput, "removing", place.path_of(name), errno);
}

std::optional<FileBeside> look_beside(const OutputPlace& place, const std::string& name) {
  const auto found = place.facts_of(name);
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
  const File file = open_beside(place, name);
  if (!file.is_open() || !S_ISREG(file.facts().st_mode)) return std::nullopt;
  return content_of(file);
}

SharedFile::SharedFile(const OutputPlace& place, const std::string& name, Access access)
    : place_(&place), name_(name), remains_("the part was not taken") {
  const int make = access == Access::kMake ? O_CREAT | O_EXCL : 0;
  const std::string path = place.path_of(name);
  const int fd =
      sys::open_at(place.fd(), name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | make, kModeOfOwner);
  if (fd < 0 && errno == ENOENT && access == Access::kLook) return;
  if (fd < 0) throw failed_call(ErrorKind::kOutput, "opening", path, errno);
  file_ = File(fd, path, ErrorKind::kOutput);
  note_writes();
  const struct stat facts = file_.facts();
  const bool is_regular = S_ISREG(facts.st_mode) && facts.st_nlink <= 1;
  if (is_regular && is_of_this_user(*place.folder, facts)) return;
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
  note_writes();
}

void SharedFile::note_writes() {
  file_.note_places_in(places_);
  if (const auto facts = facts_of(file_)) memory_watch_.set_kind(facts->memory_kind);
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
  const auto old = place_->facts_of(place_->name);
  const bool replaces = old && S_ISREG(old->st_mode);
  OutputRights(*place_, replaces ? old : std::nullopt, file_mode_mask()).give_to(file_);
  file_.sync();
  require_unmoved(*place_);  // its rights were read by the path
  before_name();
  if (sys::rename_at(place_->fd(), name_.c_str(), place_->name.c_str()) == 0) return true;
  if (errno == ENOENT) return false;
  throw file_.error("putting in place", errno);
}

}  // namespace gsort::io
