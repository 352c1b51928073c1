// AccessList: who may do what with a file, where its mode does not say it all: a POSIX access
// control list, as the kernel gives it away, in an extended attribute. All numbers little-endian:
//
//   at  bytes  field
//    0      4  version: 2
//    4      8  the first entry, and so on
//              2  who: 1 the owner, 2 a user, 4 the group, 8 a group, 16 the mask, 32 all others
//              2  what: read 4, write 2, execute 1
//              4  the user or group; all ones where `who` names none
//
// The mask bounds all but the owner and all others; the mode's bits for the group are then the
// mask's. A folder can have a second list, the default one: files that are made in it begin with
// that, cut to the mode that open(2) was asked for, and the umask does not count. Unnamed files,
// too (Linux 6.18, ext4 and tmpfs, tried).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gsort::io {

using AccessList = std::vector<std::byte>;  // empty: none

// The list of a file, not following a symbolic link, and the default one of a folder; none where
// the file system knows none, or no longer the file. None: it cannot be read.
// Throws: Error(kOutput).
[[nodiscard]] std::optional<AccessList> list_of(const std::string& path);
[[nodiscard]] std::optional<AccessList> default_list_of(const std::string& folder);

// The list with which open(2) makes a file of `mode` in a folder with the default list `of_folder`.
[[nodiscard]] AccessList list_of_new_file(AccessList of_folder, mode_t mode);

// The list with no more for the group than for all others.
[[nodiscard]] AccessList without_group(AccessList list);

// What a file with the list has for its mode. Requires: it is not empty.
[[nodiscard]] mode_t mode_of(const AccessList& list);

// Gives an open file the list; none: takes its list away. False: see errno.
[[nodiscard]] bool set_list(int fd, const AccessList& list);

// Whether set_list() failed for good, though the file is sound: the list names users that are not
// known here (namespaces), a file system on a network does not take it, or a policy forbids it.
[[nodiscard]] bool refuses_list(int error_number);

}  // namespace gsort::io
