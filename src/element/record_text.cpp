#include "element/record_text.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/quoted.hpp"
#include "base/units.hpp"
#include "element/value.hpp"

namespace gsort {
namespace {

std::string text_of_key(const KeyField& key, const std::byte* at) {
  if (!key.type) return quoted({reinterpret_cast<const char*>(at), key.bytes});
  return with_value_of_type(*key.type, [&](auto zero) {
    using Value = decltype(zero);
    KeyOf<Value> raw = 0;
    std::memcpy(&raw, at, sizeof(raw));
    return fmt::format("{}",
                       printable(std::bit_cast<Value>(key.big_endian ? swap_bytes(raw) : raw)));
  });
}

std::string_view direction(bool descending) {
  return descending ? "descending" : "ascending";
}

}  // namespace

std::string type_text(const KeyFormat& key) {
  const std::uint32_t string = string_bytes(key);
  return string > 0 ? fmt::format("bytes{}", string) : std::string(name_of(key.type));
}

std::string describe_keys(const RecordFormat& format) {
  std::vector<std::string> words;
  for (const KeyField& key : format.keys) {
    words.push_back(
        fmt::format("{}:{} {}", key.offset,
                    key.type ? std::string(name_of(*key.type)) : fmt::format("bytes{}", key.bytes),
                    direction(key.descending)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string order_words(const ElementFormat& format) {
  const auto records = format.shown_records();
  if (records && string_bytes(format.key) == 0) return "by " + describe_keys(*records);
  return std::string(direction(records ? records->keys[0].descending : format.key.descending));
}

std::string text_of_keys(const ElementFormat& format, const std::byte* element) {
  const KeyFormat& key = format.key;
  if (const std::uint32_t string = string_bytes(key)) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(element);
    return fmt::format("{:02x}", fmt::join(bytes, bytes + string, ""));
  }
  const auto records = format.shown_records();
  if (!records) {
    return text_of_key({.bytes = static_cast<std::uint32_t>(format.bytes()),
                        .type = key.type,
                        .big_endian = key.big_endian},
                       element);
  }
  std::vector<std::string> words;
  for (const KeyField& field : records->keys) {
    words.push_back(text_of_key(field, element + field.offset));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string disorder_words(const ElementFormat& format, bool unique, std::uint64_t element,
                           std::string_view value, std::string_view value_before) {
  return fmt::format("element {} is out of order: {} after {} (wanted: {}{})",
                     format_count(element), value, value_before, order_words(format),
                     unique ? ", one of each key" : "");
}

std::string order_of_floats(const ElementFormat& format) {
  const auto is_of_float = [](const KeyField& key) { return key.type && is_float(*key.type); };
  const auto records = format.shown_records();
  const bool descending = !records && format.key.descending;
  FloatOrder order = format.key.float_order;
  if (records) {
    const auto first = std::ranges::find_if(records->keys, is_of_float);
    if (first == records->keys.end()) return {};
    order = first->float_order;
  } else if (!is_float(format.key.type)) {
    return {};
  }
  if (order != FloatOrder::kTotal)
    return descending ? "NaN, inf, ..., -inf" : "-inf, ..., inf, NaN";
  return descending ? "NaN, inf, ..., 0, -0, ..., -inf, -NaN"
                    : "-NaN, -inf, ..., -0, 0, ..., inf, NaN";
}

}  // namespace gsort
