#include <cstring>

#include "base/error.hpp"
#include "element/fingerprint.hpp"
#include "form/equal_floats.hpp"

namespace gsort {
namespace {

// kStride: bytes from one element to the next, 0 for `stride` of them.
template <std::size_t kStride, class Key>
void add_numbers(const std::byte* at, std::size_t count, std::size_t stride, const KeyMap<Key>& map,
                 Fingerprint& to) {
  const std::size_t step = kStride > 0 ? kStride : stride;
  for (std::size_t i = 0; i < count; ++i, at += step) {
    Key key;
    std::memcpy(&key, at, sizeof(Key));
    fingerprint::add_key(map.to_ordered(key), to);
  }
}

// A sum over the ordered numbers of all floats. With kNumeric equal floats have the same number,
// which with kNumericByBits is that of the bits that all of them get.
std::uint64_t sum_of_numbers(std::span<const std::byte> elements, std::size_t element_bytes,
                             std::span<const KeyField> floats, FloatOrder order) {
  const std::size_t count = elements.size() / element_bytes;
  Fingerprint sums;
  for (const KeyField& field : floats) {
    with_key_of_width(field.bytes, [&](auto width) {
      using Key = decltype(width);
      const auto map = KeyMap<Key>::classes_of({*field.type, field.big_endian, false, {}, order});
      const std::byte* const at = elements.data() + field.offset;
      if constexpr (sizeof(Key) <= sizeof(std::uint64_t)) {
        if (element_bytes == sizeof(Key)) {
          add_numbers<sizeof(Key)>(at, count, element_bytes, map, sums);
        } else {
          add_numbers<0>(at, count, element_bytes, map, sums);
        }
      }
    });
  }
  return sums.first;
}

}  // namespace

void make_alike_and_check(std::span<std::byte> elements, std::size_t element_bytes,
                          std::span<const KeyField> floats) {
  const std::uint64_t wanted =
      sum_of_numbers(elements, element_bytes, floats, FloatOrder::kNumeric);
  make_equal_floats_alike(elements, element_bytes, floats);
  if (sum_of_numbers(elements, element_bytes, floats, FloatOrder::kNumericByBits) == wanted) return;
  throw Error(ErrorKind::kCorrupt, "giving equal floats the same bits", "a value changed")
      .hint("memory may be faulty; sort again");
}

}  // namespace gsort
