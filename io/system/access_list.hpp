// AccessList: the rights to a file that its mode cannot express: a POSIX access control list, as
// the kernel stores it in an extended attribute. All numbers are little-endian:
//
//   at  bytes  field
//    0      4  version: 2
//    4      8  the first entry, and so on
//              2  who: 1 the owner, 2 a user, 4 the group, 8 a group, 16 the mask, 32 all others
//              2  what: read 4, write 2, execute 1
//              4  the user or group; all ones where `who` names none
//
// The mask bounds all but the owner and all others; the mode's bits for the group are then the
// mask's. A folder can have a second list, the default one: files made in it begin with that list,
// limited by the mode given to open(2), and the umask is ignored. This holds for unnamed files, too
// (tested: Linux 6.18, ext4 and tmpfs).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gsort::io {

using AccessList = std::vector<std::byte>;  // empty: none

// The list of a file, without following a symbolic link, and the default list of a folder; empty if
// the file system has no lists, or the file is gone. Nullopt: it cannot be read. Throws:
// Error(kOutput).
[[nodiscard]] std::optional<AccessList> list_of(const std::string& path);
[[nodiscard]] std::optional<AccessList> default_list_of(const std::string& folder);

// The list with which open(2) makes a file of `mode` in a folder with the default list `of_folder`.
[[nodiscard]] AccessList list_of_new_file(AccessList of_folder, mode_t mode);

// The list with the group's rights reduced to those of all others.
[[nodiscard]] AccessList without_group(AccessList list);

// The mode of a file with the list. Requires: the list is not empty.
[[nodiscard]] mode_t mode_of(const AccessList& list);

// Gives an open file the list; an empty list removes the file's list. Returns false on failure,
// with errno.
[[nodiscard]] bool set_list(int fd, const AccessList& list);

// Whether set_list() can never succeed although the file is usable: the list names users that are
// not known here (namespaces), a network file system does not support it, or a policy forbids it.
[[nodiscard]] bool refuses_list(int error_number);

}  // namespace gsort::io
