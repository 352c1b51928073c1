#include "io/system/linkable_file.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "io/system/held_signals.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {

LinkableFile::LinkableFile(const Folder& folder, std::string target, const std::string& path,
                           bool is_hidden)
    : folder_(folder),
      target_(std::move(target)),
      new_file_(is_hidden ? create_hidden(folder, target_, path)
                          : create_linkable(folder, target_, path)) {
  new_file_.file.note_places_in(written_);
}

LinkableFile::~LinkableFile() {
  if (new_file_.name.empty()) return;
  // Twice, because a signal or a fault may have stopped the first attempt.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (sys::unlink_at(folder_.file.fd(), new_file_.name.c_str()) == 0) break;
  }
}

// linkat cannot replace a name: a hidden one first, unless the name is free.
void LinkableFile::put_in_place(bool replaces, std::uint64_t bytes) {
  require_written(bytes);
  const HeldSignals held;  // no signal may leave the hidden name
  if (new_file_.name.empty()) {
    if (!replaces) {
      remove_left_name(folder_, target_);  // another program may have moved the file that it would
                                           // replace
      const int taken = link_as(new_file_.file, folder_, target_);
      if (taken == 0) return;
      if (taken != EEXIST) throw failed(taken);
    }
    const int refused = link_hidden(new_file_.file, folder_, target_, new_file_.name);
    if (refused != 0) throw failed(refused);
  }
  const int fd = folder_.file.fd();
  if (sys::rename_at(fd, new_file_.name.c_str(), target_.c_str()) != 0) throw failed(errno);
  has_no_hidden_name();
}

void LinkableFile::put_in_free_place(std::uint64_t bytes) {
  require_written(bytes);
  const HeldSignals held;  // no signal may leave both names
  if (new_file_.name.empty()) remove_left_name(folder_, target_);
  const int refused = link_as(new_file_.file, folder_, target_);
  const bool has_no_links = refused == EPERM || refused == EOPNOTSUPP;
  if (has_no_links && !new_file_.name.empty()) return rename_to_free_place();
  // NFS may repeat a link and then report that the name exists.
  if (refused != 0 && (refused != EEXIST || !is_target())) throw failed(refused);
  if (new_file_.name.empty()) return;
  sys::unlink_at(folder_.file.fd(), new_file_.name.c_str());
  has_no_hidden_name();
}

// For file systems without hard links, where files have a hidden name from the start.
void LinkableFile::rename_to_free_place() {
  const int fd = folder_.file.fd();
  if (sys::rename_to_free(fd, new_file_.name.c_str(), target_.c_str()) != 0) throw failed(errno);
  has_no_hidden_name();
}

void LinkableFile::has_no_hidden_name() {
  new_file_.name.clear();
  new_file_.removed = {};
}

bool LinkableFile::is_target() const {
  struct stat found = {};
  const int flags = AT_SYMLINK_NOFOLLOW;
  if (sys::stat_at(folder_.file.fd(), target_.c_str(), &found, flags) != 0) return false;
  return sys::same_inode(found, new_file_.file.facts());
}

void LinkableFile::note_written(std::uint64_t offset, std::uint64_t bytes) {
  if (!written_.add(offset, bytes)) throw wrong("data was written twice", offset);
}

Error LinkableFile::wrong(std::string reason, std::uint64_t offset) const {
  return misplaced(std::move(reason), new_file_.file.path(), kDiscarded).at(offset);
}

void LinkableFile::require_written(std::uint64_t bytes) const {
  if (!written_.covers(bytes)) {
    const std::uint64_t gap = written_.first_gap();
    if (gap < bytes) throw wrong(kMissing, gap);
    throw wrong(kPastEnd, bytes);
  }
  const auto size = static_cast<std::uint64_t>(new_file_.file.facts().st_size);
  if (size != bytes) throw wrong(fmt::format("the file has {} bytes, not {}", size, bytes), size);
}

Error LinkableFile::failed(int error_number) const {
  return new_file_.file.error("putting in place", error_number);
}

bool write_named_file(const Folder& folder, const std::string& name, const std::string& path,
                      ConstByteSpan content, bool must_be_new) {
  LinkableFile file(folder, name, path);
  file.file().write_full_at(content, 0);
  file.file().sync();
  try {
    must_be_new ? file.put_in_free_place(content.size()) : file.put_in_place(true, content.size());
  } catch (const Error& error) {
    if (must_be_new && error.error_number() == EEXIST) return false;
    throw;
  }
  folder.sync_names(file.file());
  return true;
}

}  // namespace gsort::io
