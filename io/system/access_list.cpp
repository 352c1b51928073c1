#include "io/system/access_list.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/error.hpp"
#include "io/system/file.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

constexpr const char* kOfFile = "system.posix_acl_access";
constexpr const char* kOfFolder = "system.posix_acl_default";
constexpr std::size_t kMostBytes = std::size_t{64} << 10;  // of an attribute
constexpr std::size_t kVersionBytes = 4;

enum class Who : std::uint16_t { kOwner = 1, kGroup = 4, kMask = 16, kOthers = 32 };

struct Entry {
  std::uint16_t who;
  std::uint16_t what;
  std::uint32_t id;
};

// ENOENT: the file has been moved away meanwhile.
bool means_no_list(int error_number) {
  return error_number == ENODATA || error_number == EOPNOTSUPP || error_number == ENOSYS ||
         error_number == ENOENT;
}

std::optional<AccessList> attribute_of(const std::string& path, const char* name,
                                       const std::string& told) {
  AccessList list(kMostBytes);
  const ssize_t bytes = sys::get_attribute(path.c_str(), name, list.data(), list.size());
  if (bytes < 0 && (errno == EPERM || errno == EACCES)) return std::nullopt;
  if (bytes < 0 && !means_no_list(errno)) {
    throw failed_call(ErrorKind::kOutput, "reading the access list of", told, errno);
  }
  return AccessList(list.begin(), list.begin() + std::max<ssize_t>(bytes, 0));
}

// The offset in the list of the rights of `who`.
std::optional<std::size_t> place_of(const AccessList& list, Who who) {
  for (std::size_t at = kVersionBytes; at + sizeof(Entry) <= list.size(); at += sizeof(Entry)) {
    Entry entry{};
    std::memcpy(&entry, list.data() + at, sizeof(entry));
    if (entry.who == static_cast<std::uint16_t>(who)) return at + offsetof(Entry, what);
  }
  return std::nullopt;
}

std::uint16_t what_at(const AccessList& list, std::size_t place) {
  std::uint16_t what = 0;
  std::memcpy(&what, list.data() + place, sizeof(what));
  return what;
}

void bound(AccessList& list, std::optional<std::size_t> place, mode_t most) {
  if (!place) return;
  const auto what = static_cast<std::uint16_t>(what_at(list, *place) & most);
  std::memcpy(list.data() + *place, &what, sizeof(what));
}

}  // namespace

std::optional<AccessList> list_of(const std::string& path) {
  return attribute_of(path, kOfFile, path);
}

std::optional<AccessList> default_list_of(const std::string& folder) {
  return attribute_of(folder + "/.", kOfFolder, folder);  // through a symbolic link, too
}

AccessList list_of_new_file(AccessList of_folder, mode_t mode) {
  const auto mask = place_of(of_folder, Who::kMask);
  bound(of_folder, place_of(of_folder, Who::kOwner), mode >> 6U & 07U);
  bound(of_folder, mask ? mask : place_of(of_folder, Who::kGroup), mode >> 3U & 07U);
  bound(of_folder, place_of(of_folder, Who::kOthers), mode & 07U);
  return of_folder;
}

mode_t mode_of(const AccessList& list) {
  const auto mask = place_of(list, Who::kMask);
  const auto what = [&](std::optional<std::size_t> place) -> mode_t {
    return place ? what_at(list, *place) & 07U : 0;
  };
  return what(place_of(list, Who::kOwner)) << 6U |
         what(mask ? mask : place_of(list, Who::kGroup)) << 3U | what(place_of(list, Who::kOthers));
}

AccessList without_group(AccessList list) {
  if (const auto others = place_of(list, Who::kOthers)) {
    bound(list, place_of(list, Who::kGroup), what_at(list, *others));
  }
  return list;
}

bool set_list(int fd, const AccessList& list) {
  if (!list.empty()) return sys::set_attribute(fd, kOfFile, list.data(), list.size()) == 0;
  return sys::remove_attribute(fd, kOfFile) == 0 || means_no_list(errno);
}

bool refuses_list(int error_number) {
  return error_number == EINVAL || error_number == EPERM || error_number == EACCES ||
         error_number == EOPNOTSUPP;
}

}  // namespace gsort::io
