#include "python/numbered_keys.hpp"

#include <cstring>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "element/numbered_elements.hpp"

namespace gsort::python {
namespace {

constexpr unsigned kHalf = 32;

// A key as a number whose order is NumPy's.
template <class Key>
std::uint64_t numpy_order(Key raw, const KeyMap<Key>& map) {
  if (map.fold != KeyFold::kFloat) return static_cast<std::uint64_t>(map.to_ordered(raw));
  constexpr Key kSign = KeyMap<Key>::kSignBit;
  constexpr unsigned kFractionBits = sizeof(Key) == 8 ? 52 : sizeof(Key) == 4 ? 23 : 10;
  constexpr auto kInfinity = static_cast<Key>(kSign - (Key{1} << kFractionBits));
  if (map.swaps_bytes) raw = swap_bytes(raw);
  const auto magnitude = static_cast<Key>(raw & static_cast<Key>(~kSign));
  if (magnitude > kInfinity) return static_cast<Key>(~Key{0});
  if (magnitude == 0) raw = 0;
  return fold_number(KeyFold::kFloat, raw, KeyMap<Key>::kSignShift);
}

// A record of a key that is compared as bytes of a number, and its index.
template <class Index>
void put_record(std::byte* to, std::uint64_t key, std::uint64_t index) {
  const auto stored = static_cast<Index>(index);
  std::memcpy(to, &key, sizeof key);
  std::memcpy(to + sizeof key, &stored, sizeof stored);
}

StoredArray array_of_records(std::uint32_t record_bytes) {
  constexpr std::uint32_t kKeyBytes = 8;
  StoredField key{"key", 0, kKeyBytes, {{0, kKeyBytes, KeyType::kU64, false, false}}, false};
  StoredField index{"index", kKeyBytes, record_bytes - kKeyBytes, {}, true};
  StoredArray array;
  array.records = StoredRecords{record_bytes, {key, index}};
  return array;
}

Error part_of_element(const char* operation) {
  return Error(ErrorKind::kCorrupt, operation, "the bytes are not whole elements")
      .hint("this is a bug in gsort, please report it");
}

}  // namespace

NumberedKeys::NumberedKeys(ConstByteSpan keys, const KeyFormat& format)
    : keys_(keys),
      format_(format),
      count_(keys.size() / bytes_of(format.type)),
      wide_(index_bytes_for(count_) == sizeof(std::uint64_t)),
      packed_(!wide_ && bytes_of(format.type) <= sizeof(std::uint32_t)),
      element_bytes_(packed_ ? 8 : 8 + index_bytes()) {}

io::MemoryInput NumberedKeys::input(const std::string& name) const {
  StoredArray array;
  if (packed_) {
    array.key = KeyFormat{KeyType::kU64};
  } else {
    array = array_of_records(static_cast<std::uint32_t>(element_bytes_));
  }
  return {name, array, checked_product(count_, element_bytes_),
          [this](ByteSpan to, std::uint64_t at) { read(to, at); }};
}

bool NumberedKeys::are_whole(std::uint64_t offset, std::uint64_t bytes) const {
  return offset % element_bytes_ == 0 && bytes % element_bytes_ == 0;
}

void NumberedKeys::read(ByteSpan to, std::uint64_t at) const {
  if (!are_whole(at, to.size())) throw part_of_element("reading the keys");
  with_key_of_width(bytes_of(format_.type), [&](auto key) {
    using Key = decltype(key);
    if constexpr (sizeof(Key) <= sizeof(std::uint64_t)) {  // NumPy has no wider numbers
      wide_ ? read_elements<Key, std::uint64_t>(to, at / element_bytes_)
            : read_elements<Key, std::uint32_t>(to, at / element_bytes_);
    }
  });
}

template <class Key, class Index>
void NumberedKeys::read_elements(ByteSpan to, std::uint64_t first) const {
  const KeyMap<Key> map = KeyMap<Key>::of(format_);
  const std::uint64_t end = first + to.size() / element_bytes_;
  std::byte* place = to.data();
  for (std::uint64_t i = first; i < end; ++i, place += element_bytes_) {
    Key raw;
    std::memcpy(&raw, keys_.data() + i * sizeof(Key), sizeof raw);
    const std::uint64_t key = numpy_order(raw, map);
    if (packed_) {
      const std::uint64_t packed = key << kHalf | i;
      std::memcpy(place, &packed, sizeof packed);
    } else {
      put_record<Index>(place, key, i);
    }
  }
}

io::MemoryResult NumberedKeys::result(ByteSpan indices) const {
  return {"the indices", checked_product(count_, element_bytes_),
          [this, indices](std::uint64_t offset, ConstByteSpan elements) {
            write(indices, offset, elements);
          }};
}

// The index is at the start of a number, which is little-endian, and behind the key of a record.
void NumberedKeys::write(ByteSpan indices, std::uint64_t offset, ConstByteSpan elements) const {
  if (!are_whole(offset, elements.size())) throw part_of_element("writing the indices");
  const std::uint64_t bytes = index_bytes();
  const std::byte* from = elements.data() + (packed_ ? 0 : sizeof(std::uint64_t));
  std::byte* to = indices.data() + offset / element_bytes_ * bytes;
  for (std::uint64_t i = elements.size() / element_bytes_; i > 0; --i) {
    std::memcpy(to, from, bytes);
    from += element_bytes_;
    to += bytes;
  }
}

}  // namespace gsort::python
