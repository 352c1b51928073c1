#include "io/system/same_file.hpp"

#include <array>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

int look_at(const std::string& path, struct stat* facts) {
  if (path == kStandardInput) return sys::fstat(STDIN_FILENO, facts);
  if (path == kStandardOutput) return sys::fstat(STDOUT_FILENO, facts);
  return sys::stat_at(AT_FDCWD, path.c_str(), facts, 0);
}

std::optional<struct stat> facts_of(const std::string& path) {
  struct stat facts = {};
  if (look_at(path, &facts) != 0) return std::nullopt;
  return facts;
}

std::optional<struct stat> folder_facts_of(const std::filesystem::path& path) {
  return facts_of(path.has_parent_path() ? path.parent_path() : ".");
}

}  // namespace

std::optional<std::filesystem::path> target_of_link(const std::filesystem::path& link) {
  std::array<char, 4096> text{};
  const ssize_t length = sys::readlink_at(AT_FDCWD, link.c_str(), text.data(), text.size());
  if (length < 0) return std::nullopt;
  return link.parent_path() / std::string_view(text.data(), static_cast<std::size_t>(length));
}

std::filesystem::path end_of_links(std::filesystem::path path) {
  for (int links = 0; links < kMostLinks; ++links) {
    const auto target = target_of_link(path);
    if (!target) break;
    path = *target;
  }
  return path;
}

bool same_file(const std::string& a, const std::string& b) {
  const auto facts_a = facts_of(a);
  const auto facts_b = facts_of(b);
  if (facts_a && facts_b) return S_ISREG(facts_a->st_mode) && sys::same_inode(*facts_a, *facts_b);
  if (facts_a || facts_b) return false;
  const std::filesystem::path new_a = end_of_links(a);
  const std::filesystem::path new_b = end_of_links(b);
  const auto folder_a = folder_facts_of(new_a);
  const auto folder_b = folder_facts_of(new_b);
  return new_a.filename() == new_b.filename() && folder_a && folder_b &&
         sys::same_inode(*folder_a, *folder_b);
}

bool same_stream(const std::string& a, const std::string& b) {
  const auto facts_a = facts_of(a);
  const auto facts_b = facts_of(b);
  if (!facts_a || !facts_b || (facts_a->st_mode & S_IFMT) != (facts_b->st_mode & S_IFMT)) {
    return false;
  }
  if (S_ISBLK(facts_a->st_mode)) return facts_a->st_rdev == facts_b->st_rdev;
  return S_ISFIFO(facts_a->st_mode) && sys::same_inode(*facts_a, *facts_b);
}

}  // namespace gsort::io
