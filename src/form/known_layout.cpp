#include "form/known_layout.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "element/record_format.hpp"
#include "form/file_form.hpp"
#include "form/type_name.hpp"

namespace gsort {
namespace {

constexpr std::size_t kBlockBytes = 2880;  // a unit of FITS files
constexpr std::size_t kCardBytes = 80;

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), bytes.size());
  return number;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// The header of one unit of a FITS file: values by their names, without quotes.
class FitsHeader {
 public:
  // Reads the header from offset `at` on. Returns false if it finds no END card.
  bool read(const FileBytes& read, std::uint64_t at) {
    constexpr unsigned kMostBlocks = 100;
    for (unsigned block = 1; block <= kMostBlocks; ++block) {
      const std::string cards = read(at + bytes_, kBlockBytes);
      if (cards.size() < kBlockBytes) return false;
      bytes_ += kBlockBytes;
      for (std::size_t card = 0; card < kBlockBytes; card += kCardBytes) {
        if (add(std::string_view(cards).substr(card, kCardBytes))) return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::string_view text(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::string_view() : std::string_view(found->second);
  }
  [[nodiscard]] std::uint64_t number(const std::string& name) const {
    return number_in(text(name));
  }
  // Whether the values of the data are the stored numbers times a negative one.
  [[nodiscard]] bool is_reversed_by(const std::string& scale) const {
    return text(scale).starts_with('-');
  }
  // The size of its data, capped, without what follows the rows of a table.
  [[nodiscard]] std::uint64_t data_bytes() const {
    std::string_view bits = text("BITPIX");
    if (bits.starts_with('-')) bits.remove_prefix(1);
    return capped_product(elements(), number_in(bits) / 8);
  }
  // The product of the axes of its data, capped; 0 if it has none.
  [[nodiscard]] std::uint64_t elements() const {
    constexpr std::uint64_t kMostAxes = 999;
    const std::uint64_t axes = std::min(number("NAXIS"), kMostAxes);
    std::uint64_t product = axes == 0 ? 0 : 1;
    for (std::uint64_t axis = 1; axis <= axes; ++axis) {
      product = capped_product(product, number(fmt::format("NAXIS{}", axis)));
    }
    return product;
  }

 private:
  static std::uint64_t number_in(std::string_view text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
  // Reads a card, "NAXIS1  =                   12 / width". Returns whether it is the last one.
  bool add(std::string_view card) {
    constexpr std::size_t kNameBytes = 8;
    const std::string_view name = trimmed(card.substr(0, kNameBytes));
    if (name == "END") return true;
    if (card.substr(kNameBytes, 2) != "= ") return false;
    std::string_view value = trimmed(card.substr(kNameBytes + 2));
    const bool is_text = value.starts_with('\'');
    if (is_text) value.remove_prefix(1);
    value = trimmed(value.substr(0, value.find(is_text ? '\'' : '/')));
    values_.emplace(name, value);
    return false;
  }

  std::map<std::string, std::string> values_;
  std::uint64_t bytes_ = 0;
};

struct Column {
  char letter;
  std::uint64_t bytes;
  std::string_view type;  // for --key; empty: no key type has its order
};

constexpr Column kColumns[] = {{'L', 1, ""},    {'B', 1, "u8"}, {'I', 2, "i16"}, {'J', 4, "i32"},
                               {'K', 8, "i64"}, {'A', 1, ""},   {'E', 4, "f32"}, {'D', 8, "f64"},
                               {'C', 8, ""},    {'M', 16, ""},  {'P', 8, ""},    {'Q', 16, ""}};

// Returns --key for the first column with numbers or text, such as "0:f64".
std::optional<std::string> key_of_table(const FitsHeader& header) {
  std::uint64_t offset = 0;
  constexpr std::uint64_t kMostFields = 999;
  const std::uint64_t fields = std::min(header.number("TFIELDS"), kMostFields);
  for (std::uint64_t field = 1; field <= fields; ++field) {
    std::string_view form = header.text(fmt::format("TFORM{}", field));
    std::uint64_t repeat = 1;
    const auto [end, problem] = std::from_chars(form.data(), form.data() + form.size(), repeat);
    form.remove_prefix(static_cast<std::size_t>(end - form.data()));
    if (form.empty()) return std::nullopt;
    const auto* const column = std::ranges::find(kColumns, form.front(), &Column::letter);
    const bool is_bits = form.front() == 'X';
    if (column == std::end(kColumns) && !is_bits) return std::nullopt;
    const bool is_reversed = header.is_reversed_by(fmt::format("TSCAL{}", field));
    if (!is_bits && repeat > 0 && !column->type.empty() && !is_reversed) {
      return fmt::format("{}:{}", offset, column->type);
    }
    if (form.front() == 'A' && repeat > 0) {
      const auto bytes = std::min<std::uint64_t>(repeat, RecordFormat::kMostKeyBytes);
      return fmt::format("{}:bytes{}", offset, bytes);
    }
    const std::uint64_t bytes =
        is_bits ? repeat / 8 + (repeat % 8 > 0 ? 1 : 0) : capped_product(repeat, column->bytes);
    offset = capped_sum(offset, bytes);
  }
  return std::nullopt;
}

std::optional<std::string> options_for_table(const FitsHeader& header, std::uint64_t begin) {
  const std::uint64_t row_bytes = header.number("NAXIS1");
  const auto key = key_of_table(header);
  if (!key || row_bytes < 1 || row_bytes > RecordFormat::kMostBytes) return std::nullopt;
  return fmt::format("--skip={} --record={} --elements={} --endian=big --key={}", begin, row_bytes,
                     header.number("NAXIS2"), *key);
}

std::optional<std::string> options_for_image(const FitsHeader& header, std::uint64_t begin) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"8", "u8"}, {"16", "i16"}, {"32", "i32"}, {"64", "i64"}, {"-32", "f32"}, {"-64", "f64"}};
  if (header.is_reversed_by("BSCALE")) return std::nullopt;
  const std::string_view bits = header.text("BITPIX");
  for (const auto& [known, type] : kTypes) {
    if (known != bits) continue;
    return fmt::format("--skip={} --elements={} --endian=big -t {}", begin, header.elements(),
                       type);
  }
  return std::nullopt;
}

// The options for the first unit that has data, unless more follows it than gsort copies.
std::optional<std::string> options_for_fits(std::uint64_t file_bytes, const FileBytes& read) {
  constexpr unsigned kMostUnits = 100;
  std::uint64_t at = 0;
  for (unsigned unit = 1; unit <= kMostUnits; ++unit) {
    FitsHeader header;
    if (!header.read(read, at)) return std::nullopt;
    const std::uint64_t begin = at + header.bytes();
    if (begin > std::min(file_bytes, kMostSkipBytes)) return std::nullopt;
    if (header.elements() > 0) {
      const std::uint64_t bytes = header.data_bytes();
      const std::uint64_t rest = file_bytes - begin;
      if (bytes > rest || rest - bytes > kMostSkipBytes) return std::nullopt;
      const bool is_table = header.text("XTENSION") == "BINTABLE";
      return is_table ? options_for_table(header, begin) : options_for_image(header, begin);
    }
    at = begin;
  }
  return std::nullopt;
}

struct Vectors {
  std::string_view suffix;
  std::uint64_t number_bytes;
  std::string_view key;
};

constexpr Vectors kVectors[] = {{"fvecs", 4, "f32"}, {"ivecs", 4, "i32"}, {"bvecs", 1, "u8"}};

std::optional<std::string> options_for_vectors(const Vectors& vectors, std::uint64_t file_bytes,
                                               std::string_view first_bytes) {
  constexpr std::uint64_t kLengthBytes = 4;
  const std::uint64_t length = little_endian(first_bytes.substr(0, kLengthBytes));
  const std::uint64_t bytes = kLengthBytes + length * vectors.number_bytes;
  if (length == 0 || bytes > RecordFormat::kMostBytes || file_bytes % bytes != 0) {
    return std::nullopt;
  }
  return fmt::format("--record={} --key={}:{}", bytes, kLengthBytes, vectors.key);
}

}  // namespace

bool is_fits(std::string_view first_bytes) {
  return first_bytes.starts_with("SIMPLE  = ");
}

std::optional<unsigned> key_bytes_of_sosd(std::string_view first_bytes, std::uint64_t file_bytes) {
  constexpr std::uint64_t kHeaderBytes = 8;
  if (first_bytes.size() < kHeaderBytes || file_bytes < kHeaderBytes) return std::nullopt;
  const std::uint64_t keys = little_endian(first_bytes.substr(0, kHeaderBytes));
  for (const unsigned bytes : {8U, 4U}) {
    if (keys > 0 && capped_product(keys, bytes) == file_bytes - kHeaderBytes) return bytes;
  }
  return std::nullopt;
}

std::optional<KnownLayout> layout_of(std::string_view path, std::uint64_t file_bytes,
                                     const FileBytes& read) {
  const std::string first_bytes = read(0, kBlockBytes);
  const auto layout = [](std::string_view name, const std::optional<std::string>& options) {
    return options ? std::optional(KnownLayout{name, *options}) : std::nullopt;
  };
  if (is_fits(first_bytes)) return layout("a FITS file", options_for_fits(file_bytes, read));
  const auto* const vectors =
      std::ranges::find(kVectors, lower_case(suffix_of(path)), &Vectors::suffix);
  if (vectors != std::end(kVectors)) {
    return layout("a file of vectors", options_for_vectors(*vectors, file_bytes, first_bytes));
  }
  const auto key_bytes = key_bytes_of_sosd(first_bytes, file_bytes);
  if (!key_bytes) return std::nullopt;
  return KnownLayout{"a SOSD file", fmt::format("--format=sosd -t u{}", 8 * *key_bytes)};
}

}  // namespace gsort
