#include "element/record.hpp"

#include <algorithm>

#include "element/element.hpp"

namespace gsort {
namespace {

constexpr std::uint32_t kWordBytes = sizeof(std::uint64_t);

std::optional<KeyType> number_of_width(std::uint32_t bytes) {
  switch (bytes) {
    case 1:
      return KeyType::kU8;
    case 2:
      return KeyType::kU16;
    case 4:
      return KeyType::kU32;
    case 8:
      return KeyType::kU64;
    case 16:
      return KeyType::kU128;
    default:
      return std::nullopt;
  }
}

// Times beside other keys would need a subtraction within the number, as would floats in numeric
// order; equal floats keep their order only as records.
bool can_be_in_tuple(const RecordFormat& records, const KeyField& key) {
  const bool is_numeric = key.type && is_float(*key.type) && key.float_order != FloatOrder::kTotal;
  if (is_numeric && key.float_order == FloatOrder::kNumeric) return false;
  return (key.type != KeyType::kTime64 && !is_numeric) || records.keys.size() == 1;
}

bool is_tuple(const RecordFormat& records) {
  std::uint64_t key_bytes = 0;
  for (const KeyField& key : records.keys) {
    if (!can_be_in_tuple(records, key)) return false;
    key_bytes += key.bytes;
  }
  return key_bytes == records.bytes;
}

// Requires: is_tuple(records); at most KeyTuple::kMostBytes keys.
KeyTuple tuple_of(const RecordFormat& records) {
  KeyTuple tuple;
  std::ranges::copy(records.keys, tuple.fields.begin());
  tuple.count = records.keys.size();
  return tuple;
}

}  // namespace

RecordFormat in_classes(RecordFormat format) {
  for (KeyField& key : format.keys) {
    if (key.float_order == FloatOrder::kNumericByBits) key.float_order = FloatOrder::kNumeric;
  }
  return format;
}

RecordOrder::RecordOrder(const RecordFormat& format) : format_(format) {
  for (const KeyField& key : format.keys) add(key);
}

void RecordOrder::add(const KeyField& key) {
  for (std::uint32_t at = 0; at < key.bytes; at += kWordBytes) {
    KeyNumber number;
    number.bytes = std::min(key.bytes - at, kWordBytes);
    // The first byte is the most significant one.
    number.swaps_bytes = key.type ? key.big_endian : true;
    number.offset = key.offset + (number.swaps_bytes ? at : key.bytes - at - number.bytes);
    number.fold = key.type ? fold_of(*key.type) : KeyFold::kNone;
    if (key.type && key.float_order != FloatOrder::kTotal) {
      number.nans = nans_of_one_sign(*key.type);
      number.folds_classes = number.nans != 0 && key.float_order == FloatOrder::kNumeric;
    }
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - number.bits());
    const bool flips_sign =
        at == 0 && key.type && is_signed_integer(*key.type) && number.fold == KeyFold::kNone;
    if (flips_sign) number.flip = all ^ (all >> 1);
    if (key.descending) number.flip ^= all;
    numbers_.push_back(number);
    add_to_words(number, key_bytes_);
    key_bytes_ += number.bytes;
  }
}

// `begin` is the byte of the normalised key at which the number begins.
void RecordOrder::add_to_words(const KeyNumber& number, std::size_t begin) {
  const std::size_t end = begin + number.bytes;
  for (std::size_t word = begin / kWordBytes; word * kWordBytes < end; ++word) {
    if (word == words_.size()) words_.emplace_back();
    RecordWord& to = words_[word];
    const auto word_end = static_cast<std::int64_t>((word + 1) * kWordBytes);
    to.numbers[to.count] = number;
    to.shifts[to.count] = static_cast<std::int8_t>(8 * (word_end - static_cast<std::int64_t>(end)));
    ++to.count;
  }
}

std::string RecordOrder::normalised_key(const std::byte* record) const {
  std::string key;
  key.reserve(key_bytes_);
  for (const KeyNumber& number : numbers_) {
    const std::uint64_t value = number.read(record);
    for (unsigned bits = number.bits(); bits > 0; bits -= 8) {
      key += static_cast<char>(value >> (bits - 8) & 0xff);
    }
  }
  return key;
}

std::size_t RecordOrder::first_disorder(std::span<const std::byte> records, bool strict) const {
  const std::size_t count = records.size() / format_.bytes;
  if (count == 0) return 0;
  const std::byte* record = records.data();
  std::uint64_t prefix = prefix_of(record);
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const std::byte* const next = record + format_.bytes;
    const std::uint64_t next_prefix = prefix_of(next);
    const bool disorder =
        next_prefix < prefix || (next_prefix == prefix && compare(next, record) < (strict ? 1 : 0));
    if (disorder) return i;
    record = next;
    prefix = next_prefix;
  }
  return count;
}

std::optional<RecordFormat> ElementFormat::shown_records() const {
  if (records || key.tuple.count == 0) return records;
  const auto* const first = key.tuple.fields.data();
  return RecordFormat{static_cast<std::uint32_t>(bytes()), {first, first + key.tuple.count}};
}

ElementFormat element_of(const KeyFormat& key, const std::optional<RecordFormat>& records) {
  ElementFormat element{key, records};
  if (const std::uint32_t bytes = string_bytes(key); bytes > 0 && !records) {
    const bool descending = key.tuple.fields[0].descending != key.descending;
    element.records = RecordFormat{bytes, {{0, bytes, std::nullopt, key.big_endian, descending}}};
  }
  if (!element.records) return element;
  element.key.tuple = are_strings(*element.records) ? tuple_of(*element.records) : KeyTuple{};
  return element;
}

ElementFormat ElementFormat::as_keys(std::size_t most_bytes) const {
  if (!records || records->bytes > most_bytes || !is_tuple(*records)) return *this;
  const auto type = number_of_width(records->bytes);
  if (!type) return *this;
  ElementFormat keys{key, std::nullopt};
  keys.key.type = *type;
  keys.key.tuple = tuple_of(*records);
  return keys;
}

std::optional<RecordFormat> ElementFormat::cut_by_prefix() const {
  if (records || bytes() <= kWordBytes) return records;
  return RecordFormat{sizeof(UInt128), {{0, sizeof(UInt128), KeyType::kU128, false, false}}};
}

bool is_wide_key(const RecordFormat& records) {
  return records.bytes == sizeof(UInt128) && is_tuple(records);
}

KeyMap<UInt128> wide_map_of(const RecordFormat& records) {
  return KeyMap<UInt128>::of({.tuple = tuple_of(records)});
}

}  // namespace gsort
