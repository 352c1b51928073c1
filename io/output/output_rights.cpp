#include "io/output/output_rights.hpp"

#include <cerrno>
#include <utility>

#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

constexpr mode_t kModeOfNew = 0666;
constexpr mode_t kModeOfOwner = 0600;  // with which files are created
constexpr mode_t kPermissions = 07777;
constexpr mode_t kSetIds = S_ISUID | S_ISGID;

// The mode with the group's rights reduced to those of all others.
mode_t mode_without_group(mode_t mode) {
  return mode & (07707U | (mode & 07U) << 3U);
}

void set_mode(const File& file, mode_t mode) {
  if (sys::fchmod(file.fd(), mode) != 0) throw file.error("setting the mode of", errno);
}

// Returns false if the system does not allow it.
bool takes_list(const File& file, const AccessList& list) {
  if (set_list(file.fd(), list)) return true;
  const int error_number = errno;
  if (!refuses_list(error_number)) throw file.error("setting the access list of", error_number);
  return false;
}

}  // namespace

OutputRights::OutputRights(const OutputPlace& place, const std::optional<struct stat>& replaced,
                           mode_t mask)
    : replaced_(replaced),
      mode_of_new_(kModeOfNew & ~mask),
      list_of_folder_(default_list_of(place.folder_path())),
      list_of_replaced_(replaced ? list_of(place.path_of(place.name))
                                 : std::optional(AccessList())) {
  if (list_of_folder_ || replaced_) return;
  mode_of_new_ = mode_of_new_file(*place.folder, kModeOfNew).value_or(kModeOfOwner);
}

std::optional<mode_t> OutputRights::mode_without_list() const {
  return list_of_folder_ || replaced_ ? std::nullopt : std::optional(mode_of_new_);
}

void OutputRights::give_to(const File& file) const {
  if (!replaced_) {
    if (!list_of_folder_) return set_mode(file, mode_of_new_);  // also that of its list
    const AccessList list = list_of_new_file(*list_of_folder_, kModeOfNew);
    return set(file, list.empty() ? mode_of_new_ : mode_of(list), list);
  }
  const struct stat now = file.facts();
  mode_t mode = replaced_->st_mode & kPermissions;
  AccessList list = list_of_replaced_.value_or(AccessList());
  // The mode's rights for the group may have been the mask of a list.
  if (!list_of_replaced_) mode = mode_without_group(mode);
  const bool same = replaced_->st_uid == now.st_uid && replaced_->st_gid == now.st_gid;
  // Only root may change a file's owner. The group can often be kept; the group's rights are kept
  // only then.
  if (!same && sys::fchown(file.fd(), replaced_->st_uid, replaced_->st_gid) != 0) {
    mode &= ~kSetIds;
    if (sys::fchown(file.fd(), now.st_uid, replaced_->st_gid) != 0) {
      // No more for the group than for all others. With a list the mode's bits are not the group's.
      if (list.empty()) mode = mode_without_group(mode);
      list = without_group(std::move(list));
    }
  }
  set(file, mode, list);
}

// The file was created with the list of the folder, which its mode of 0600 makes ineffective. So
// the list is set before the mode. If it cannot be changed, a new file keeps it, with its mode. A
// file that replaces another then gives no user more than all others have: the mode bounds the rest
// of the folder's list.
void OutputRights::set(const File& file, mode_t mode, const AccessList& list) const {
  const bool has_list = !list.empty() || !list_of_folder_ || !list_of_folder_->empty();
  if (has_list && !takes_list(file, list) && replaced_) {
    mode = mode_without_group(mode);
    if (!list.empty()) static_cast<void>(takes_list(file, {}));
  }
  set_mode(file, mode);
}

}  // namespace gsort::io
