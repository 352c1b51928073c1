#include "io/input/name_list.hpp"

#include <array>
#include <climits>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/quoted.hpp"
#include "io/system/file.hpp"

namespace gsort::io {
namespace {

constexpr std::size_t kMostNameBytes = PATH_MAX - 1;  // no call takes a longer one
// The limit that stops an endless list before it takes all memory.
constexpr std::size_t kMostNames = std::size_t{1} << 20;

// Takes names from a list as it is read, so that a file that is not a list fails by its first
// bytes.
class NameCollector {
 public:
  NameCollector(const File& file, bool is_stdin) : file_(file), is_stdin_(is_stdin) {}

  void take(std::string_view text) {
    for (;;) {
      const std::size_t end = text.find('\0');
      name_ += text.substr(0, end);
      if (name_.size() > kMostNameBytes) throw too_long();
      if (end == std::string_view::npos) return;
      end_name();
      text.remove_prefix(end + 1);
    }
  }

  // The last name may end with a NUL or without.
  std::vector<std::string> finish() {
    if (!name_.empty()) end_name();
    if (names_.empty()) {
      throw bad_list("there are none", "write them with find -print0, or printf '%s\\0'");
    }
    return std::move(names_);
  }

 private:
  void end_name() {
    if (name_.empty()) {
      throw bad_list(fmt::format("name {} is empty", names_.size() + 1),
                     "separate names by one NUL, as find -print0 does");
    }
    if (name_ == "-" && is_stdin_) {
      throw bad_list("'-' is among them, but the names come from stdin",
                     "put the names into a file");
    }
    if (names_.size() == kMostNames) {
      throw bad_list(
          fmt::format("there are more than {}", kMostNames),
          "concatenate files first, or sort groups of them and merge the results with -m");
    }
    begin_ += name_.size() + 1;
    names_.push_back(std::exchange(name_, {}));
  }

  [[nodiscard]] Error too_long() const {
    return bad_list(fmt::format("name {}, {}, has more than {} bytes", names_.size() + 1,
                                gsort::quoted(name_), kMostNameBytes),
                    "--files0-from takes names separated by NUL, as find -print0 writes them")
        .at(begin_);
  }

  [[nodiscard]] Error bad_list(std::string reason, std::string_view hint) const {
    return Error(ErrorKind::kInput, "reading the names in", std::move(reason))
        .path(file_.path())
        .hint(hint);
  }

  const File& file_;
  bool is_stdin_;
  std::vector<std::string> names_;
  std::string name_;         // the one that has not ended yet,
  std::uint64_t begin_ = 0;  // and where in the list it begins
};

}  // namespace

std::vector<std::string> read_name_list(const std::string& path) {
  const File file = path == "-" ? open_standard_input() : open_input(path);
  NameCollector names(file, path == "-");
  std::array<char, 65536> buffer{};
  const ByteSpan room = std::as_writable_bytes(std::span(buffer));
  while (const std::size_t bytes = file.read_some(room)) names.take({buffer.data(), bytes});
  return names.finish();
}

}  // namespace gsort::io
