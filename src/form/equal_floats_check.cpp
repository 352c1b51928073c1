#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "element/key_loops.hpp"
#include "form/equal_floats.hpp"

namespace gsort {
namespace {

// Checked together, so that they stay in the cache.
constexpr std::size_t kMostElements = 2048;

template <class Key>
void gather(const std::byte* from, std::size_t stride, std::span<Key> keys) {
  if (stride == sizeof(Key)) {
    std::memcpy(keys.data(), from, keys.size_bytes());
    return;
  }
  for (Key& key : keys) {
    std::memcpy(&key, from, sizeof(Key));
    from += stride;
  }
}

// A class has the number of the bits that all of its floats get.
template <class Key>
void make_field_alike(std::span<std::byte> elements, std::size_t element_bytes,
                      const KeyField& field) {
  const KeyFormat format{*field.type, field.big_endian};
  const std::size_t most = std::min(kMostElements, elements.size() / element_bytes);
  std::vector<Key> before(most);
  std::vector<Key> after(most);
  while (!elements.empty()) {
    const std::size_t count = std::min(most, elements.size() / element_bytes);
    before.resize(count);
    after.resize(count);
    const auto some = elements.first(count * element_bytes);
    gather<Key>(some.data() + field.offset, element_bytes, before);
    make_equal_floats_alike(some, element_bytes, {&field, 1});
    gather<Key>(some.data() + field.offset, element_bytes, after);
    map_to_ordered<Key>(before, before, KeyMap<Key>::classes_of(format));
    map_to_ordered<Key>(after, after, KeyMap<Key>::of(format));
    if (before != after) {
      throw Error(ErrorKind::kCorrupt, "giving equal floats the same bits", "a value changed")
          .hint("memory may be faulty; sort again");
    }
    elements = elements.subspan(some.size());
  }
}

}  // namespace

void make_alike_and_check(std::span<std::byte> elements, std::size_t element_bytes,
                          std::span<const KeyField> floats) {
  for (const KeyField& field : floats) {
    with_key_of_width(field.bytes, [&](auto width) {
      make_field_alike<decltype(width)>(elements, element_bytes, field);
    });
  }
}

}  // namespace gsort
