// Shared by the tests of io: a folder that cleans up after itself, files as vectors, faults for a
// scope.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "io/system/bytes.hpp"
#include "io/system/memory.hpp"
#include "io/system/sys.hpp"
#include "support/error_of.hpp"

namespace gsort::io::test {

// An empty folder until the end of the scope.
class TempFolder {
 public:
  explicit TempFolder(
      const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string pattern = (parent / "gsort-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Names of all entries, hidden ones too.
  [[nodiscard]] std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

 private:
  std::string path_;
};

// The descriptor of this process's unnamed file in `folder`, found where the system lists open
// files.
inline int file_in(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (!gone && target.starts_with(folder + "/")) return std::stoi(entry.path().filename());
  }
  return -1;
}

using Bytes = std::vector<std::byte>;

inline Bytes random_bytes(std::size_t count, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline void write_file(const std::string& path, ConstByteSpan bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

inline Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return bytes_of(text);
}

inline mode_t mode_of(const std::string& path) {
  struct stat facts = {};
  EXPECT_EQ(::stat(path.c_str(), &facts), 0);
  return facts.st_mode & 07777U;
}

// Replaces descriptor `fd` of the process for a scope, by `by`, which is then closed. If `by` is
// negative, `fd` is closed for the scope.
class ReplacedDescriptor {
 public:
  ReplacedDescriptor(int fd, int by) : fd_(fd), saved_(::dup(fd)) { become(by); }
  ~ReplacedDescriptor() { become(saved_); }
  ReplacedDescriptor(const ReplacedDescriptor&) = delete;
  ReplacedDescriptor& operator=(const ReplacedDescriptor&) = delete;

 private:
  void become(int by) const {
    if (by >= 0) ::dup2(by, fd_);
    ::close(by >= 0 ? by : fd_);
  }

  int fd_;
  int saved_;
};

// A fault that is armed for a scope.
class FaultScope {
 public:
  explicit FaultScope(const sys::FaultPlan& plan) { sys::inject(plan); }
  ~FaultScope() { sys::clear_faults(); }
  FaultScope(const FaultScope&) = delete;
  FaultScope& operator=(const FaultScope&) = delete;
};

using gsort::test::error_of;

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace gsort::io::test

namespace gsort::io {
using namespace test;  // tests of io name them as their own
}
