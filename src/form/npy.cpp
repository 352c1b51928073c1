#include "form/npy.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/units.hpp"
#include "form/counted_lines.hpp"
#include "form/npy_dtype.hpp"

namespace gsort::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// The largest file; 64 bits can count these bytes.
constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostHeaderBytes = std::size_t{64} << 10;  // NumPy itself reads no more
constexpr std::size_t kStartBytes = 10;  // in front of the dictionary; 12 from version 2 on
constexpr std::size_t kMostShapeBytes = 2 * 20 + 2;  // two numbers of 64 bits
constexpr std::size_t kAlignment = 64;
// Twice the alignment of NumPy: room for every shape.
constexpr std::size_t kUsualBytes = 128;

// Reads the dictionary of a header.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, const std::string& path, bool is_latin1)
      : from_(text, path, is_latin1) {}

  NpyHeader read() {
    from_.expect('{');
    while (!from_.accept('}')) {
      const std::string_view name = from_.quoted();
      from_.expect(':');
      read_value(name);
      from_.expect_comma_or('}');
    }
    if (!from_.rest().empty() || !dtype_ || !lengths_ || !order_is_known_) from_.fail();
    return with_shape();
  }

 private:
  void read_value(std::string_view name) {
    if (name == "descr") {
      dtype_ = read_npy_dtype(from_);
    } else if (name == "fortran_order") {
      read_order();
    } else if (name == "shape") {
      lengths_ = read_shape();
    } else {
      from_.fail();
    }
  }

  void read_order() {
    order_is_known_ = true;
    if (from_.accept_word("False")) return;
    if (!from_.accept_word("True")) from_.fail();
    has_columns_ = true;
  }

  std::vector<std::uint64_t> read_shape() {
    std::vector<std::uint64_t> lengths;
    from_.expect('(');
    while (!from_.accept(')')) {
      lengths.push_back(from_.number(kMostBytes));
      from_.expect_comma_or(')');
    }
    return lengths;
  }

  NpyHeader with_shape() {
    NpyHeader header{*dtype_, 0, 0};
    const std::uint64_t most = kMostBytes / header.array.element_bytes();
    if (lengths_->size() == 2 && lengths_->at(1) == 0) {
      header.array.empty_rows = lengths_->at(0);
    } else if (lengths_->size() == 2) {
      header.array.row_elements = row_of(lengths_->at(0), lengths_->at(1), most);
      header.elements = lengths_->at(0) * lengths_->at(1);
      if (has_columns_) header.column_elements = lengths_->at(0);
    } else if (lengths_->size() == 1) {
      header.elements = lengths_->front();
    } else {
      throw bad_array(from_.path(), fmt::format("the array has {} dimensions", lengths_->size()),
                      "arrays of one dimension are sorted, and the rows of arrays of two; save "
                      "array.ravel() to sort all of it, or array.reshape(len(array), -1) to "
                      "shuffle it");
    }
    if (header.elements > most) from_.fail();
    return header;
  }

  // The elements of one of `rows` rows.
  [[nodiscard]] std::uint64_t row_of(std::uint64_t rows, std::uint64_t elements,
                                     std::uint64_t most) const {
    if (elements > most || rows > most / elements) from_.fail();
    return elements;
  }

  LiteralReader from_;
  std::optional<StoredArray> dtype_;
  std::optional<std::vector<std::uint64_t>> lengths_;
  bool order_is_known_ = false;
  bool has_columns_ = false;  // Fortran order
};

void read_exactly(ByteStream& from, ByteSpan to, const std::string& path) {
  if (from.read(to) < to.size()) throw bad_header(path, "the file ends within it");
}

}  // namespace

Error bad_array(const std::string& path, std::string reason, std::string_view hint) {
  return Error(ErrorKind::kInput, "reading the .npy header of", std::move(reason))
      .path(path)
      .hint(hint);
}

Error bad_header(const std::string& path, std::string reason) {
  return bad_array(path, std::move(reason), "is it a whole .npy file? numpy.save writes one");
}

NpyHeader parse_npy_dictionary(std::string_view text, const std::string& path, int version) {
  return DictionaryReader(text, path, version < 3).read();
}

StoredDtype npy_dtype_of(const KeyFormat& key) {
  if (const std::uint32_t string = string_bytes(key)) return {fmt::format("'|S{}'", string), 1};
  const std::size_t bytes = bytes_of(key.type);
  const char kind = npy_kind_of(key.type);
  const bool has_order = bytes > 1 && kind != 'V';
  const char order = !has_order ? '|' : key.big_endian ? '>' : '<';
  return {fmt::format("'{}{}{}'", order, kind, bytes), 1};
}

StoredDtype counted_dtype_of(const KeyFormat& key, const std::optional<StoredDtype>& stored) {
  const StoredDtype keys = stored.value_or(npy_dtype_of(key));
  const char order = key.big_endian ? '>' : '<';
  return {fmt::format("[('key', {}), ('count', '{}u8')]", keys.descr, order), keys.version};
}

StoredArray keys_of_counted(const StoredArray& array, const std::string& path) {
  const auto key_in = [&](std::size_t field) -> std::optional<KeyField> {
    const auto& keys = array.records->fields[field].keys;
    return keys.size() == 1 ? std::optional(keys.front()) : std::nullopt;
  };
  if (array.records && array.records->fields.size() == 2) {
    const auto key = key_in(0);
    const auto count = key_in(1);
    const bool is_counted = key && count && count->type == KeyType::kU64 &&
                            (!key->type || key->bytes == 1 || key->big_endian == count->big_endian);
    if (is_counted) {
      KeyField bytes = *key;
      bytes.big_endian = count->big_endian;
      StoredArray keys{array, {}, {}};
      keys.columns = 0;
      if (key->type) {
        keys.key = KeyFormat{*key->type, count->big_endian, false};
      } else {
        keys.records = StoredRecords{key->bytes, {{"", 0, key->bytes, {bytes}, false}}};
      }
      return keys;
    }
  }
  throw bad_array(path, "it holds no keys with their counts", kCountsHint);
}

bool has_rows_of(const StoredArray& array, const KeyFormat& key) {
  const std::uint32_t bytes = string_bytes(key);
  return bytes > 0 && array.element_bytes() == 1 && array.row_elements == bytes;
}

bool holds_texts(const StoredArray& array) {
  return array.records && array.records->fields.size() == 1 &&
         array.records->fields.front().name.empty();
}

StoredArray table_of(const StoredArray& array, const std::string& path) {
  const std::uint64_t bytes = array.row_elements * array.element_bytes();
  if (bytes > RecordFormat::kMostBytes) {
    throw Error(ErrorKind::kInput, "taking whole rows of", fmt::format("they have {} bytes", bytes))
        .path(path)
        .hint(
            "rows have at most 16384 bytes; sort a column with --argsort, or shuffle the "
            "numbers of the rows, and index the array with the positions");
  }
  return {{.dtype = array.dtype ? *array.dtype : npy_dtype_of(*array.key),
           .columns = array.row_elements},
          array.key,
          StoredRecords{static_cast<std::uint32_t>(bytes),
                        array.records ? array.records->fields : std::vector<StoredField>{}}};
}

bool is_same_dtype(const StoredDtype& a, const StoredDtype& b) {
  const auto in_utf8 = [](const StoredDtype& dtype) {
    return dtype.version < 3 ? utf8_of_latin1(dtype.descr) : dtype.descr;
  };
  return in_utf8(a) == in_utf8(b);
}

NpyHeader read_npy_header(ByteStream& from, const std::string& path) {
  std::array<char, 12> start{};
  const auto start_bytes = std::as_writable_bytes(std::span(start));
  read_exactly(from, start_bytes.first(kStartBytes), path);
  const std::string_view begin(start.data(), start.size());
  if (begin.starts_with("PK\x03\x04")) {
    throw bad_array(path, "the file is a zip archive, as .npz files are",
                    "take an array out, as in unzip -p FILE.npz NAME.npy | gsort --format=npy");
  }
  if (!begin.starts_with(kMagic)) {
    throw bad_array(path, "the file does not begin as one",
                    "is it a .npy file? --format=bin reads raw keys");
  }
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3) {
    throw bad_header(path, fmt::format("version {} is unknown", version));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  read_exactly(from, start_bytes.subspan(kStartBytes, length_bytes - 2), path);
  std::size_t length = 0;
  std::memcpy(&length, &start_bytes[8], length_bytes);
  if (length > kMostHeaderBytes) throw bad_header(path, "it is longer than any header can be");
  std::string text(length, '\0');
  read_exactly(from, std::as_writable_bytes(std::span(text)), path);
  NpyHeader header = parse_npy_dictionary(text, path, version);
  header.header_bytes = 8 + length_bytes + length;
  if (header.array.dtype) header.array.dtype->version = version;
  return header;
}

std::vector<std::byte> make_npy_header(const StoredDtype& dtype, std::uint64_t elements,
                                       std::uint64_t row_elements,
                                       std::optional<std::uint64_t> empty_rows) {
  const std::string shape = elements == 0 && empty_rows ? fmt::format("{}, 0", *empty_rows)
                            : row_elements == 0
                                ? fmt::format("{},", elements)
                                : fmt::format("{}, {}", elements / row_elements, row_elements);
  std::string text =
      fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': ({}), }}", dtype.descr, shape);
  const std::size_t most = text.size() - shape.size() + kMostShapeBytes;
  const bool is_long = most > 0xff00;  // the length has 16 bits in version 1
  const int version = is_long ? std::max(dtype.version, 2) : dtype.version == 3 ? 3 : 1;
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t start_bytes = 8 + length_bytes;
  const std::size_t header_bytes =
      std::max(kUsualBytes, round_up(start_bytes + most + 1, kAlignment));
  text.resize(header_bytes - start_bytes - 1, ' ');
  text += '\n';
  std::string header(kMagic);
  header += {static_cast<char>(version), '\x00'};
  const std::size_t length = text.size();
  header.append(reinterpret_cast<const char*>(&length), length_bytes);
  header += text;
  const auto raw = std::as_bytes(std::span(header));
  return {raw.begin(), raw.end()};
}

}  // namespace gsort::io
