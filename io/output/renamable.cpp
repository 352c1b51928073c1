#include "io/output/renamable.hpp"

#include <optional>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

std::optional<struct statx> look_at(const std::string& path) {
  struct statx facts = {};
  const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  if (::statx(AT_FDCWD, path.c_str(), flags, STATX_BASIC_STATS, &facts) != 0) return std::nullopt;
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

bool is_append_only(const std::string& folder) {
  const auto facts = look_at(folder + "/.");
  return facts && has(*facts, STATX_ATTR_APPEND);
}

void refuse_append_only_folder(const std::string& folder, const std::string& path) {
  if (!is_append_only(folder)) return;
  throw Error(ErrorKind::kOutput, "using", "its folder is append-only, so hidden files would stay")
      .path(path)
      .hint("remove this attribute with 'chattr -a', or use another folder");
}

void refuse_folder_that_would_stay(const std::string& folder, const std::string& above) {
  if (!look_at(folder)) refuse_append_only_folder(above, folder);
}

void refuse_attributes(const std::string& folder, const std::string& name,
                       const std::string& path) {
  const auto file = look_at(folder + "/" + name);
  const auto refuse = [&](std::uint64_t attribute, const char* reason, const char* change) {
    if (!file || !has(*file, attribute)) return;
    throw Error(ErrorKind::kOutput, "replacing", reason)
        .path(path)
        .hint(fmt::format("remove this attribute with '{}', or name another output", change));
  };
  refuse(STATX_ATTR_APPEND, "it is append-only", "chattr -a");
  refuse(STATX_ATTR_IMMUTABLE, "it is immutable", "chattr -i");
}

void require_renamable(const std::string& folder, const std::string& name, const std::string& path,
                       bool may_be_written) {
  const auto file = look_at(folder + "/" + name);
  const auto above = look_at(folder + "/.");
  if (!file || !above) return;
  const auto refuse = [&](const char* reason, std::string_view way_out) {
    throw Error(ErrorKind::kOutput, "replacing", reason)
        .path(path)
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
