#include "form/npy_dtype.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/quoted.hpp"

namespace gsort::io {
namespace {

constexpr std::uint64_t kMostItemBytes = std::numeric_limits<std::int32_t>::max();  // NumPy's own
constexpr int kMostNesting = 32;
constexpr char kVoid = 'V';  // bytes without an order

// The meaning of a word such as "<M8[ns]".
struct SimpleDtype {
  char kind = '\0';
  std::uint32_t bytes = 0;
  std::vector<KeyField> keys;
  bool is_plain = false;  // of a key type of gsort's, by its own name
};

// The first type with numbers of this kind and size is the one with their order.
std::optional<KeyType> type_of(char kind, std::uint32_t bytes) {
  if (kind == 'b' && bytes == 1) return KeyType::kU8;
  if ((kind == 'm' || kind == 'M') && bytes == 8) return KeyType::kTime64;
  for (const KeyType type : kAllKeyTypes) {
    if (kind != kVoid && npy_kind_of(type) == kind && bytes_of(type) == bytes) return type;
  }
  return std::nullopt;
}

std::vector<KeyField> keys_of(char kind, bool big_endian, std::uint32_t bytes) {
  constexpr std::uint32_t kCharacterBytes = 4;
  std::vector<KeyField> keys;
  if (const auto type = type_of(kind, bytes)) {
    keys.push_back({0, bytes, *type, big_endian, false});
  } else if (kind == 'S') {
    for (std::uint32_t at = 0; at < bytes; at += RecordFormat::kMostKeyBytes) {
      const std::uint32_t some = std::min(bytes - at, RecordFormat::kMostKeyBytes);
      keys.push_back({at, some, std::nullopt, false, false});
    }
  } else if (kind == 'U') {
    for (std::uint32_t at = 0; at < bytes; at += kCharacterBytes) {
      keys.push_back({at, kCharacterBytes, KeyType::kU32, big_endian, false});
    }
  }
  return keys;
}

// "[ns]", "[25s]".
bool is_unit_of_time(std::string_view text) {
  constexpr std::array<std::string_view, 14> kUnits = {
      "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic"};
  if (!text.starts_with('[') || !text.ends_with(']')) return false;
  text.remove_prefix(1);
  text.remove_suffix(1);
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const bool is_count = digits == 0 || (digits < 10 && text.front() != '0');
  return is_count && std::ranges::find(kUnits, text.substr(digits)) != kUnits.end();
}

SimpleDtype read_simple(LiteralReader& from) {
  const std::string_view word = from.quoted();
  LiteralReader reader(word, from.path());
  const bool big_endian = reader.accept('>');
  const bool ordered = big_endian || reader.accept('<');
  if (!ordered && !reader.accept('|')) return {};
  SimpleDtype dtype;
  dtype.kind = reader.peek();
  if (!reader.accept(dtype.kind) || dtype.kind == 'O') return {};
  if (reader.peek() < '0' || reader.peek() > '9') return {};
  const std::uint64_t units = reader.number(kMostItemBytes / 4);
  dtype.bytes = static_cast<std::uint32_t>(dtype.kind == 'U' ? 4 * units : units);
  const std::string_view unit = reader.rest();  // of times
  const bool is_time = dtype.kind == 'm' || dtype.kind == 'M';
  if (!unit.empty() && !is_time) return {};
  if (!unit.empty() && !is_unit_of_time(unit)) {
    throw bad_array(from.path(),
                    fmt::format("its dtype is {}, without a unit of time", quoted(word)),
                    "NumPy's units are Y, M, W, D, h, m, s, ms, us, ns, ps, fs and as");
  }
  // If an element is too long to be sorted, its keys may not fit in memory.
  const bool can_be_sorted = dtype.bytes <= RecordFormat::kMostBytes;
  if (can_be_sorted && (ordered || dtype.bytes == 1 || dtype.kind == 'S')) {
    dtype.keys = keys_of(dtype.kind, big_endian, dtype.bytes);
  }
  dtype.is_plain =
      dtype.keys.size() == 1 && std::string_view("iuf").find(dtype.kind) != std::string_view::npos;
  return dtype;
}

Error without_order(const std::string& path, std::string_view word) {
  const auto kind_is = [&](std::string_view kind) {
    return word.substr(std::min<std::size_t>(word.size(), 1)).starts_with(kind);
  };
  return bad_array(
      path, fmt::format("its dtype is '{}'", word.substr(0, 16)),
      kind_is("c")
          ? "array.view([('real', 'f4'), ('imag', 'f4')]), or f8 for c16, is sorted as "
            "numpy.sort does, except if only the imaginary part is NaN"
          : "integers of 8 to 64 bits, float16, float32, float64, booleans, times and texts are "
            "sorted; convert it with array.astype() or array.view()");
}

// Reads the fields of records, and adds up their bytes.
class FieldsReader {
 public:
  explicit FieldsReader(LiteralReader& from) : from_(from) {}

  StoredRecords read(int nesting = 0) {
    if (nesting > kMostNesting) from_.fail();
    StoredRecords records;
    from_.expect('[');
    while (!from_.accept(']')) {
      StoredField field = read_field(nesting);
      field.offset = records.bytes;
      for (KeyField& key : field.keys) key.offset += field.offset;
      records.bytes = sum(records.bytes, field.bytes);
      records.fields.push_back(std::move(field));
      from_.expect_comma_or(']');
    }
    return records;
  }

 private:
  // ('name', dtype), or ('name', dtype, shape); of a ('title', 'name') the second counts.
  StoredField read_field(int nesting) {
    StoredField field;
    from_.expect('(');
    field.name = read_name();
    from_.expect(',');
    if (from_.peek() == '[') {
      field.bytes = read(nesting + 1).bytes;
    } else {
      SimpleDtype dtype = read_simple(from_);
      if (dtype.kind == '\0') throw of_unknown_size(field.name);
      field.bytes = dtype.bytes;
      field.keys = std::move(dtype.keys);
      field.is_padding = field.name.empty() && dtype.kind == 'V';
    }
    from_.expect_comma_or(')');
    if (from_.peek() == '(') {
      field.bytes = read_shape(field.bytes);
      field.keys.clear();
      from_.expect_comma_or(')');
    }
    from_.expect(')');
    return field;
  }

  std::string read_name() {
    if (!from_.accept('(')) return from_.quoted_name();
    static_cast<void>(from_.quoted());
    from_.expect(',');
    std::string name = from_.quoted_name();
    from_.expect(')');
    return name;
  }

  std::uint32_t read_shape(std::uint64_t bytes) {
    from_.expect('(');
    while (!from_.accept(')')) {
      bytes *= from_.number(kMostItemBytes);
      if (bytes > kMostItemBytes) from_.fail();
      from_.expect_comma_or(')');
    }
    return static_cast<std::uint32_t>(bytes);
  }

  [[nodiscard]] std::uint32_t sum(std::uint64_t a, std::uint64_t b) const {
    if (a + b > kMostItemBytes) from_.fail();
    return static_cast<std::uint32_t>(a + b);
  }

  [[nodiscard]] Error of_unknown_size(const std::string& name) const {
    return bad_array(from_.path(), fmt::format("its field '{}' holds no plain bytes", name),
                     "save it without Python objects");
  }

  LiteralReader& from_;
};

void require_length(const StoredRecords& records, const std::string& path) {
  if (records.bytes > 0 && records.bytes <= RecordFormat::kMostBytes) return;
  throw bad_array(path, fmt::format("its elements have {} bytes", records.bytes),
                  fmt::format("elements of 1 to {} bytes are sorted", RecordFormat::kMostBytes));
}

}  // namespace

char npy_kind_of(KeyType type) {
  if (type == KeyType::kBF16 || bytes_of(type) > sizeof(std::uint64_t)) return kVoid;
  return is_float(type) ? 'f' : is_signed_integer(type) ? 'i' : 'u';
}

StoredArray read_npy_dtype(LiteralReader& from) {
  StoredArray array;
  const std::string_view text = from.rest();
  std::string_view word;
  if (from.peek() == '[') {
    array.records = FieldsReader(from).read();
  } else {
    word = LiteralReader(text, from.path()).quoted();
    SimpleDtype dtype = read_simple(from);
    if (dtype.bytes > 0) require_length({dtype.bytes, {}}, from.path());
    if (dtype.keys.empty()) throw without_order(from.path(), word);
    if (dtype.keys.size() == 1 && dtype.keys.front().type && dtype.kind != 'U') {
      array.key = KeyFormat{*dtype.keys.front().type, dtype.keys.front().big_endian, false};
    } else {
      array.records = StoredRecords{dtype.bytes, {{"", 0, dtype.bytes, dtype.keys, false}}};
    }
    if (dtype.is_plain) return array;
  }
  if (array.records) require_length(*array.records, from.path());
  array.dtype = StoredDtype{std::string(text.substr(0, text.size() - from.rest().size())), 1};
  return array;
}

}  // namespace gsort::io
