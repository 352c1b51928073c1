#include "io/output/output_place.hpp"

#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.hpp"
#include "io/system/process.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

std::optional<struct statx> look_at(int folder, const std::string& name) {
  struct statx facts = {};
  const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  if (::statx(folder, name.c_str(), flags, STATX_BASIC_STATS, &facts) != 0) return std::nullopt;
  return facts;
}

bool has(const struct statx& facts, std::uint64_t attribute) {
  return (facts.stx_attributes & facts.stx_attributes_mask & attribute) != 0;
}

// Root can usually replace files of others, but not in every container.
bool may_ignore_owners() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, sets) != 0) return sys::effective_user() == 0;
  return (sets[0].effective & (1U << static_cast<unsigned>(CAP_FOWNER))) != 0;
}

bool is_protected_by_sticky_bit(const struct statx& folder, const struct statx& file) {
  const uid_t user = sys::effective_user();
  return (folder.stx_mode & S_ISVTX) != 0 && user != file.stx_uid && user != folder.stx_uid &&
         !may_ignore_owners();
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

OutputPlace::OutputPlace(std::string named, const std::string& resolved, const OutputPlace* beside)
    : path(std::move(named)), name(resolved.substr(resolved.rfind('/') + 1)) {
  const std::string wanted = folder_of(resolved);
  folder = beside != nullptr && beside->folder_path() == wanted
               ? beside->folder
               : std::make_shared<const Folder>(open_folder(wanted, ErrorKind::kOutput));
}

std::optional<struct stat> OutputPlace::facts_of(const std::string& file) const {
  return facts_of_name(fd(), file, path_of(file), ErrorKind::kOutput);
}

OutputPlace place_of_output(const std::string& path, const OutputPlace* beside) {
  const auto refuse = [&](const char* reason) {
    throw Error(ErrorKind::kOutput, "opening", reason)
        .path(path)
        .hint("-o must name a regular file, or a path that does not exist");
  };
  if (path.empty() || path.ends_with('/')) refuse("is a folder");
  OutputPlace place(path, path, beside);
  refuse_append_only_folder(place.folder_path(), path);
  const auto found = facts_of_name(place.fd(), place.name, path, ErrorKind::kOutput);
  if (!found) return place;
  if (!S_ISREG(found->st_mode)) refuse("is not a regular file");
  refuse_attributes(place);
  // As at the other doors, a file that is read-only is called that; see require_writable().
  constexpr bool kMayBeWritten = true;
  if (sys::access_at(place.fd(), place.name.c_str(), W_OK) == 0) {
    require_renamable(place, !kMayBeWritten);
  }
  return place;
}

void require_writable(const OutputPlace& place) {
  if (sys::access_at(place.fd(), place.name.c_str(), W_OK) == 0 || errno == ENOENT) return;
  throw failed_call(ErrorKind::kOutput, "opening", place.path, errno);
}

void require_unmoved(const OutputPlace& place) {
  if (!process_is_own() && !place.path.starts_with('/')) return;
  struct stat now = {};
  const bool is_there = sys::stat_at(AT_FDCWD, place.folder_path().c_str(), &now, 0) == 0;
  if (!is_there && errno != ENOENT && errno != ENOTDIR && errno != ELOOP) return;
  if (is_there && sys::same_inode(now, place.folder->file.facts())) return;
  throw Error(ErrorKind::kOutput, "putting in place",
              "its folder was moved or removed during the sort")
      .path(place.path)
      .hint("try again when no program moves it");
}

bool is_append_only(const std::string& folder) {
  const auto facts = look_at(AT_FDCWD, folder + "/.");
  return facts && has(*facts, STATX_ATTR_APPEND);
}

void refuse_append_only_folder(const std::string& folder, const std::string& path) {
  if (!is_append_only(folder)) return;
  throw Error(ErrorKind::kOutput, "using", "its folder is append-only, so hidden files would stay")
      .path(path)
      .hint("remove this attribute with 'chattr -a', or use another folder");
}

void refuse_folder_that_would_stay(const std::string& folder, const std::string& above) {
  if (!look_at(AT_FDCWD, folder)) refuse_append_only_folder(above, folder);
}

void refuse_attributes(const OutputPlace& place) {
  const auto file = look_at(place.fd(), place.name);
  const auto refuse = [&](std::uint64_t attribute, const char* reason, const char* change) {
    if (!file || !has(*file, attribute)) return;
    throw Error(ErrorKind::kOutput, "replacing", reason)
        .path(place.path)
        .hint(fmt::format("remove this attribute with '{}', or name another output", change));
  };
  refuse(STATX_ATTR_APPEND, "it is append-only", "chattr -a");
  refuse(STATX_ATTR_IMMUTABLE, "it is immutable", "chattr -i");
}

void require_renamable(const OutputPlace& place, bool may_be_written) {
  const auto file = look_at(place.fd(), place.name);
  const auto above = look_at(place.fd(), ".");
  if (!file || !above) return;
  const auto refuse = [&](const char* reason, std::string_view way_out) {
    throw Error(ErrorKind::kOutput, "replacing", reason)
        .path(place.path)
        .hint(may_be_written ? "add --replace=write, which writes into it at the end, or " +
                                   std::string(way_out)
                             : std::string(way_out));
  };
  if (has(*file, STATX_ATTR_MOUNT_ROOT)) {
    refuse("it is a mount point, and no file can be renamed to it",
           "mount its folder instead of the file");
  }
  if (has(*above, STATX_ATTR_APPEND)) {
    refuse("its folder is append-only", "remove this attribute with 'chattr -a'");
  }
  if (has(*above, STATX_ATTR_IMMUTABLE)) {
    refuse("its folder is immutable", "remove this attribute with 'chattr -i'");
  }
  if (is_protected_by_sticky_bit(*above, *file)) {
    refuse("it is another user's file in a folder with the sticky bit", "name another output");
  }
}

}  // namespace gsort::io
