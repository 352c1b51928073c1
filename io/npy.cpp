#include "io/npy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace gsort::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// No file holds more, and their bytes can be counted.
constexpr std::uint64_t kMostElements = std::numeric_limits<std::int64_t>::max() / 8;
constexpr std::size_t kMostHeaderBytes = std::size_t{64} << 10;  // NumPy itself reads no more
// What NumPy aligns to, twice: room for every shape.
constexpr std::size_t kWrittenBytes = 128;

Error bad_array(const std::string& path, std::string reason, std::string_view hint) {
  return Error(ErrorKind::kInput, "reading the .npy header of", std::move(reason))
      .path(path)
      .hint(hint);
}

Error bad_header(const std::string& path, std::string reason) {
  return bad_array(path, std::move(reason), "is it a whole .npy file? --format=bin reads raw keys");
}

// Reads the dictionary of a header, a Python literal, from left to right.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, const std::string& path) : rest_(text), path_(path) {}

  NpyHeader read() {
    expect('{');
    while (!accept('}')) {
      const std::string_view name = quoted();
      expect(':');
      read_value(name);
      if (!accept(',') && peek() != '}') fail();
    }
    skip_blanks();
    if (!rest_.empty() || !key_ || !elements_ || !order_is_known_) fail();
    return {*key_, *elements_, 0, row_elements_};
  }

 private:
  void read_value(std::string_view name) {
    if (name == "descr") {
      key_ = read_descr();
    } else if (name == "fortran_order") {
      read_order();
    } else if (name == "shape") {
      elements_ = read_shape();
    } else {
      fail();
    }
  }

  KeyFormat read_descr() {
    if (peek() == '[') throw wrong_dtype("is a structure");
    const std::string_view descr = quoted();
    const char order = descr.empty() ? ' ' : descr.front();
    const std::string_view name = descr.substr(std::min<std::size_t>(descr.size(), 1));
    for (const KeyType type : kAllKeyTypes) {
      if (name != fmt::format("{}{}", name_of(type).front(), bytes_of(type))) continue;
      if (order == '<' || order == '>' || (order == '|' && bytes_of(type) == 1)) {
        return {type, order == '>', false};
      }
    }
    throw wrong_dtype(fmt::format("is '{}'", descr.substr(0, 16)));
  }

  void read_order() {
    order_is_known_ = true;
    if (accept_word("False")) return;
    if (!accept_word("True")) fail();
    throw bad_array(path_, "the array is in Fortran order",
                    "save numpy.ascontiguousarray(array) instead");
  }

  std::uint64_t read_shape() {
    expect('(');
    std::vector<std::uint64_t> lengths;
    while (!accept(')')) {
      lengths.push_back(number());
      if (!accept(',') && peek() != ')') fail();
    }
    if (lengths.size() == 2) return rows(lengths[0], lengths[1]);
    if (lengths.size() != 1) {
      throw bad_array(path_, fmt::format("the array has {} dimensions", lengths.size()),
                      "arrays of one dimension are sorted, and the rows of arrays of two; save "
                      "array.ravel() to sort all of it");
    }
    return lengths.front();
  }

  // All elements of `count` rows.
  std::uint64_t rows(std::uint64_t count, std::uint64_t elements) {
    if (elements == 0) {
      throw bad_array(path_, "the rows of the array have no elements", "there is nothing to sort");
    }
    if (count > kMostElements / elements) fail();
    row_elements_ = elements;
    return count * elements;
  }

  std::uint64_t number() {
    skip_blanks();
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (problem != std::errc() || value > kMostElements) fail();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  std::string_view quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail();
    const auto end = rest_.find(quote, 1);
    if (end == std::string_view::npos) fail();
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool accept_word(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  bool accept(char wanted) { return accept_word(std::string_view(&wanted, 1)); }
  void expect(char wanted) {
    if (!accept(wanted)) fail();
  }
  char peek() {
    skip_blanks();
    return rest_.empty() ? '\0' : rest_.front();
  }
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  [[noreturn]] void fail() const { throw bad_header(path_, "it is not in the form NumPy writes"); }

  [[nodiscard]] Error wrong_dtype(const std::string& what) const {
    return bad_array(path_, "its dtype " + what,
                     "integers of 8 to 64 bits, float32 and float64 are sorted; convert it with "
                     "array.astype() or array.view()");
  }

  std::string_view rest_;
  const std::string& path_;
  std::optional<KeyFormat> key_;
  std::optional<std::uint64_t> elements_;
  std::uint64_t row_elements_ = 0;
  bool order_is_known_ = false;
};

void read_exactly(ByteStream& from, ByteSpan to, const std::string& path) {
  if (from.read(to) < to.size()) throw bad_header(path, "the file ends within it");
}

}  // namespace

NpyHeader parse_npy_dictionary(std::string_view text, const std::string& path) {
  return DictionaryReader(text, path).read();
}

NpyHeader read_npy_header(ByteStream& from, const std::string& path) {
  std::array<char, 12> start{};
  const auto start_bytes = std::as_writable_bytes(std::span(start));
  constexpr std::size_t kFirstBytes = 10;  // up to the length of version 1
  read_exactly(from, start_bytes.first(kFirstBytes), path);
  if (std::string_view(start.data(), kMagic.size()) != kMagic) {
    throw bad_header(path, "the file does not begin as one");
  }
  const int version = start[6];
  if (version < 1 || version > 3) {
    throw bad_header(path, fmt::format("version {} is unknown", version));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  read_exactly(from, start_bytes.subspan(kFirstBytes, length_bytes - 2), path);
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= std::to_integer<std::size_t>(start_bytes[8 + i]) << (8 * i);
  }
  if (length > kMostHeaderBytes) throw bad_header(path, "it is longer than any header can be");
  std::string text(length, '\0');
  read_exactly(from, std::as_writable_bytes(std::span(text)), path);
  NpyHeader header = parse_npy_dictionary(text, path);
  header.header_bytes = 8 + length_bytes + length;
  return header;
}

std::vector<std::byte> make_npy_header(const KeyFormat& key, std::uint64_t elements,
                                       std::uint64_t row_elements) {
  const std::size_t bytes = bytes_of(key.type);
  const char order = bytes == 1 ? '|' : key.big_endian ? '>' : '<';
  const std::string shape = row_elements == 0
                                ? fmt::format("{},", elements)
                                : fmt::format("{}, {}", elements / row_elements, row_elements);
  std::string text = fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 order, name_of(key.type).front(), bytes, shape);
  constexpr std::size_t kStartBytes = 10;
  text.resize(kWrittenBytes - kStartBytes - 1, ' ');
  text += '\n';
  const auto length = static_cast<std::uint16_t>(text.size());
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  header += text;
  const auto raw = std::as_bytes(std::span(header));
  return {raw.begin(), raw.end()};
}

Error wrong_array_size(const std::string& path, std::uint64_t promised_bytes,
                       std::uint64_t found_bytes) {
  const bool more = found_bytes > promised_bytes;
  return Error(ErrorKind::kInput, "reading",
               fmt::format("the header promises {} bytes of elements, {} follow", promised_bytes,
                           more ? "more" : std::to_string(found_bytes)))
      .path(path)
      .hint(more ? "one array a file is sorted" : "is the file complete?");
}

}  // namespace gsort::io
