#include "io/same_file.hpp"

#include <filesystem>
#include <optional>

#include <fcntl.h>

#include "io/sys.hpp"

namespace gsort::io {
namespace {

std::optional<struct stat> facts_of(const std::string& path) {
  struct stat facts = {};
  if (sys::stat_at(AT_FDCWD, path.c_str(), &facts, 0) != 0) return std::nullopt;
  return facts;
}

bool same_inode(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

std::optional<struct stat> folder_facts_of(const std::filesystem::path& path) {
  return facts_of(path.has_parent_path() ? path.parent_path() : ".");
}

}  // namespace

bool same_file(const std::string& a, const std::string& b) {
  const auto facts_a = facts_of(a);
  const auto facts_b = facts_of(b);
  if (facts_a && facts_b) return S_ISREG(facts_a->st_mode) && same_inode(*facts_a, *facts_b);
  if (facts_a || facts_b) return false;
  const auto folder_a = folder_facts_of(a);
  const auto folder_b = folder_facts_of(b);
  const bool same_name = std::filesystem::path(a).filename() == std::filesystem::path(b).filename();
  return same_name && folder_a && folder_b && same_inode(*folder_a, *folder_b);
}

}  // namespace gsort::io
