#include "element/numbered_elements.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <system_error>
#include <vector>

namespace gsort {
namespace {

constexpr std::string_view kShuffledBy = " shuffled by ";

template <class Index>
Index in_file_order(Index index, bool big_endian) {
  return big_endian ? swap_bytes(index) : index;
}

template <class Index>
std::uint64_t index_at(const std::byte* at, bool big_endian) {
  Index index = 0;
  std::memcpy(&index, at, sizeof(index));
  return in_file_order(index, big_endian);
}

// The order of a shuffle: three one-to-one mixings (Stafford's variant 13 of the finalizer of
// MurmurHash3, as in SplitMix64). Before each, the number is combined with a key that SplitMix64
// derives from the seed.
class ShuffledOrder {
 public:
  explicit ShuffledOrder(std::uint64_t seed) {
    for (std::uint64_t& key : keys_) key = mixed(seed += 0x9e3779b97f4a7c15ULL);
  }

  [[nodiscard]] std::uint64_t operator()(std::uint64_t position) const {
    for (const std::uint64_t key : keys_) position = mixed(position ^ key);
    return position;
  }

 private:
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }

  std::array<std::uint64_t, 3> keys_{};
};

// Calls use(Index{}) with the number of that many bytes.
template <class Use>
auto with_index_of(std::size_t bytes, const Use& use) {
  return bytes == sizeof(std::uint32_t) ? use(std::uint32_t{}) : use(std::uint64_t{});
}

// From the last one to the first: none is overwritten before it has moved. Bytes: of an element,
// 0 for numbering.element_bytes of them.
template <std::size_t kBytes, class Index, class IndexOf>
void number_all(std::byte* room, const Numbering& numbering, std::size_t count,
                const IndexOf& index_of) {
  const std::size_t bytes = kBytes > 0 ? kBytes : numbering.element_bytes;
  const std::size_t offset = bytes + numbering.padding_bytes;
  for (std::size_t i = count; i-- > 0;) {
    std::byte* const record = room + i * (offset + sizeof(Index));
    const Index index = in_file_order(static_cast<Index>(index_of(i)), numbering.big_endian);
    std::memmove(record, room + i * bytes, bytes);
    std::memset(record + bytes, 0, numbering.padding_bytes);
    std::memcpy(record + offset, &index, sizeof(index));
  }
}

// One key a byte, the last one first: little endian, the record is a number that only rotates.
void add_padding(RecordFormat& records, const Numbering& numbering) {
  std::vector<KeyField> zeros;
  for (std::size_t at = numbering.index_offset(); at > numbering.element_bytes; --at) {
    zeros.push_back({static_cast<std::uint32_t>(at - 1), 1, KeyType::kU8, false, false});
  }
  records.keys.insert(records.keys.begin(), zeros.begin(), zeros.end());
}

}  // namespace

std::size_t index_bytes_for(std::uint64_t elements) {
  constexpr std::uint64_t kMostOfFourBytes = std::uint64_t{1} << 32;
  return elements <= kMostOfFourBytes ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
}

ElementFormat numbered(const ElementFormat& element, const Numbering& numbering, bool is_key) {
  const KeyFormat& key = element.key;
  const auto bytes = static_cast<std::uint32_t>(numbering.element_bytes);
  RecordFormat records;
  if (element.records) {
    records = *element.records;
  } else {
    records.keys = {{0, bytes, key.type, key.big_endian, key.descending, key.float_order}};
  }
  // Equal floats have the same bits there (form/equal_floats.hpp).
  for (KeyField& field : records.keys) {
    if (field.type && is_float(*field.type)) field.float_order = FloatOrder::kTotal;
  }
  records.bytes = static_cast<std::uint32_t>(numbering.record_bytes());
  const KeyType type = numbering.index_bytes == 4 ? KeyType::kU32 : KeyType::kU64;
  const auto offset = static_cast<std::uint32_t>(numbering.index_offset());
  const auto index_bytes = static_cast<std::uint32_t>(numbering.index_bytes);
  const KeyField index = {offset, index_bytes, type, numbering.big_endian, false};
  if (numbering.seed) {
    records.keys = {index};
    if (bytes == sizeof(std::uint64_t)) records.keys.push_back({0, bytes, KeyType::kU64});
  } else if (is_key) {
    records.keys.push_back(index);
    add_padding(records, numbering);
  }
  return {key, records};
}

std::size_t padding_to_number(const ElementFormat& element, const Numbering& numbering) {
  constexpr bool kIsKey = true;
  Numbering padded = numbering;
  while (padded.record_bytes() < sizeof(std::uint64_t)) ++padded.padding_bytes;
  return numbered(element, padded, kIsKey).as_keys().records ? 0 : padded.padding_bytes;
}

std::string shuffle_words(std::uint64_t seed) {
  return std::string(kShuffledBy) + std::to_string(seed);
}

std::optional<std::uint64_t> seed_in(std::string_view description) {
  const std::string_view element = description.substr(0, description.find(';'));
  const std::size_t found = element.find(kShuffledBy);
  if (found == element.npos) return std::nullopt;
  std::uint64_t seed = 0;
  const char* const end = element.data() + element.size();
  const auto [stop, problem] =
      std::from_chars(element.data() + found + kShuffledBy.size(), end, seed);
  return problem == std::errc() && stop == end ? std::optional(seed) : std::nullopt;
}

std::uint64_t bytes_without_number(std::string_view description, std::uint64_t element_bytes) {
  const std::uint64_t number_bytes = seed_in(description) ? sizeof(std::uint64_t) : 0;
  return element_bytes - std::min(element_bytes, number_bytes);
}

void number_elements(std::span<std::byte> room, const Numbering& numbering, std::uint64_t first,
                     std::size_t count) {
  if (numbering.index_bytes == 0) return;
  with_index_of(numbering.index_bytes, [&](auto index) {
    using Index = decltype(index);
    std::byte* const to = room.data();
    const auto number = [&](const auto& index_of) {
      switch (numbering.element_bytes) {
        case 1:
          return number_all<1, Index>(to, numbering, count, index_of);
        case 2:
          return number_all<2, Index>(to, numbering, count, index_of);
        case 4:
          return number_all<4, Index>(to, numbering, count, index_of);
        case 8:
          return number_all<8, Index>(to, numbering, count, index_of);
        case 16:
          return number_all<16, Index>(to, numbering, count, index_of);
        default:
          return number_all<0, Index>(to, numbering, count, index_of);
      }
    };
    if (!numbering.seed) return number([first](std::size_t i) { return first + i; });
    const ShuffledOrder order(*numbering.seed);
    number([first, &order](std::size_t i) { return order(first + i); });
  });
}

void take_indexes(std::span<const std::byte> records, const Numbering& numbering,
                  std::size_t to_bytes, std::byte* to) {
  const std::size_t count = records.size() / numbering.record_bytes();
  if (numbering.seed) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(to + i * to_bytes, records.data() + i * numbering.record_bytes(), to_bytes);
    }
    return;
  }
  const std::byte* at = records.data() + numbering.index_offset();
  with_index_of(numbering.index_bytes, [&](auto from) {
    with_index_of(to_bytes, [&](auto narrow) {
      for (std::size_t i = 0; i < count; ++i, at += numbering.record_bytes()) {
        const auto index =
            static_cast<decltype(narrow)>(index_at<decltype(from)>(at, numbering.big_endian));
        const auto stored = in_file_order(index, numbering.big_endian);
        std::memcpy(to + i * sizeof(stored), &stored, sizeof(stored));
      }
    });
  });
}

std::size_t first_other_index(std::span<const std::byte> records, const Numbering& numbering,
                              std::size_t taken_bytes, const std::byte* taken) {
  const std::size_t count = records.size() / numbering.record_bytes();
  if (numbering.seed) {
    const std::byte* const record = records.data();
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_same = std::memcmp(taken + i * taken_bytes,
                                       record + i * numbering.record_bytes(), taken_bytes) == 0;
      if (!is_same) return i;
    }
    return count;
  }
  const std::byte* at = records.data() + numbering.index_offset();
  return with_index_of(numbering.index_bytes, [&](auto from) {
    return with_index_of(taken_bytes, [&](auto narrow) -> std::size_t {
      using Taken = decltype(narrow);
      const bool big_endian = numbering.big_endian;
      for (std::size_t i = 0; i < count; ++i, at += numbering.record_bytes()) {
        const std::uint64_t index = index_at<Taken>(taken + i * sizeof(Taken), big_endian);
        if (index_at<decltype(from)>(at, big_endian) != index) return i;
      }
      return count;
    });
  });
}

}  // namespace gsort
