// Compiled once for each vector instruction set (Highway's foreach_target), chosen at run time. A
// row is a vector of 32 bytes in the compiler's own notation, which it implements on every target.
#include "element/packed_keys.hpp"

#include <tuple>

#include "base/made_once.hpp"

#ifndef GSORT_ELEMENT_PACKED_KEYS_TABLE
#define GSORT_ELEMENT_PACKED_KEYS_TABLE
namespace gsort {

// The loops over one group of keys, of one instruction set.
template <class Key>
struct GroupLoops {
  unsigned (*width)(const Key* keys);
  void (*pack)(const Key* keys, unsigned width, Key* words);
  void (*unpack)(const Key* words, unsigned width, Key first_key, Key* keys);
};

using AllGroupLoops =
    std::tuple<GroupLoops<std::uint32_t>, GroupLoops<std::uint64_t>, GroupLoops<UInt128>>;

}  // namespace gsort
#endif  // GSORT_ELEMENT_PACKED_KEYS_TABLE

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "element/packed_keys.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

// Rows never cross a function that is not inlined.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

HWY_BEFORE_NAMESPACE();
namespace gsort::HWY_NAMESPACE {

typedef std::uint32_t Row32 __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)
typedef std::uint64_t Row64 __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)

typedef UInt128 Row128 __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)

template <class Key>
struct RowOf;

template <>
struct RowOf<std::uint32_t> {
  using Row = Row32;

  // Every lane becomes the sum of itself and the lanes before it.
  static HWY_INLINE void sum_lanes(Row& row) {
    const Row zero{};
    row += __builtin_shufflevector(row, zero, 8, 0, 1, 2, 3, 4, 5, 6);
    row += __builtin_shufflevector(row, zero, 8, 8, 0, 1, 2, 3, 4, 5);
    row += __builtin_shufflevector(row, zero, 8, 8, 8, 8, 0, 1, 2, 3);
  }
  static HWY_INLINE void fill_with_last(Row& row) {
    row = __builtin_shufflevector(row, row, 7, 7, 7, 7, 7, 7, 7, 7);
  }
  // The lanes before each lane; the first is its own.
  static HWY_INLINE void shift_lanes(Row& row) {
    row = __builtin_shufflevector(row, row, 0, 0, 1, 2, 3, 4, 5, 6);
  }
};

template <>
struct RowOf<std::uint64_t> {
  using Row = Row64;

  static HWY_INLINE void sum_lanes(Row& row) {
    const Row zero{};
    row += __builtin_shufflevector(row, zero, 4, 0, 1, 2);
    row += __builtin_shufflevector(row, zero, 4, 4, 0, 1);
  }
  static HWY_INLINE void fill_with_last(Row& row) {
    row = __builtin_shufflevector(row, row, 3, 3, 3, 3);
  }
  static HWY_INLINE void shift_lanes(Row& row) {
    row = __builtin_shufflevector(row, row, 0, 0, 1, 2);
  }
};

template <>
struct RowOf<UInt128> {
  using Row = Row128;

  static HWY_INLINE void sum_lanes(Row& row) {
    const Row zero{};
    row += __builtin_shufflevector(row, zero, 2, 0);
  }
  static HWY_INLINE void fill_with_last(Row& row) { row = __builtin_shufflevector(row, row, 1, 1); }
  static HWY_INLINE void shift_lanes(Row& row) { row = __builtin_shufflevector(row, row, 0, 0); }
};

template <class Key>
constexpr unsigned kLanes = kPackRowBytes / sizeof(Key);
template <class Key>
constexpr unsigned kBits = 8 * sizeof(Key);  // and the rows of a group

template <class Row, class Key>
HWY_INLINE void load(Row& row, const Key* from) {
  __builtin_memcpy(&row, from, sizeof(Row));
}

// Row `number` of the differences of a group.
template <class Row, class Key>
HWY_INLINE void load_differences(Row& row, const Key* keys, unsigned number) {
  Row before;
  load(row, keys + number * kLanes<Key>);
  if (number == 0) {
    before = row;
    RowOf<Key>::shift_lanes(before);
  } else {
    load(before, keys + number * kLanes<Key> - 1);
  }
  row -= before;
}

template <class Key>
HWY_ATTR unsigned width_of_group(const Key* keys) {
  typename RowOf<Key>::Row all{};
  for (unsigned number = 0; number < kBits<Key>; ++number) {
    typename RowOf<Key>::Row row;
    load_differences(row, keys, number);
    all |= row;
  }
  Key bits = 0;
  for (unsigned lane = 0; lane < kLanes<Key>; ++lane) bits |= all[lane];
  unsigned width = 0;
  for (; bits != 0; bits >>= 1) ++width;
  return width;
}

template <class Key>
HWY_ATTR void pack_group(const Key* keys, unsigned width, Key* words) {
  using Row = typename RowOf<Key>::Row;
  Row word{};
  unsigned used = 0;
  for (unsigned number = 0; number < kBits<Key>; ++number) {
    Row row;
    load_differences(row, keys, number);
    word |= row << used;
    used += width;
    if (used < kBits<Key>) continue;
    __builtin_memcpy(words, &word, sizeof(word));
    words += kLanes<Key>;
    used -= kBits<Key>;
    word = Row{};
    if (used != 0) word = row >> (width - used);
  }
}

template <class Key>
HWY_ATTR void unpack_group(const Key* words, unsigned width, Key first_key, Key* keys) {
  using Row = typename RowOf<Key>::Row;
  Row sum = Row{} + first_key;
  if (width == 0) {  // there are no words
    for (unsigned number = 0; number < kBits<Key>; ++number) {
      __builtin_memcpy(keys + number * kLanes<Key>, &sum, sizeof(sum));
    }
    return;
  }
  const Key mask =
      width == kBits<Key> ? static_cast<Key>(~Key{0}) : static_cast<Key>((Key{1} << width) - 1);
  for (unsigned number = 0; number < kBits<Key>; ++number) {
    const unsigned bit = number * width;
    const unsigned word = bit / kBits<Key>;
    const unsigned shift = bit % kBits<Key>;
    Row row;
    Row next;
    load(row, words + word * kLanes<Key>);
    // Bits of the next word are needed only if there is one: else the mask removes them.
    load(next, words + (word + 1 < width ? word + 1 : word) * kLanes<Key>);
    row = ((row >> shift) | (next << 1 << (kBits<Key> - 1 - shift))) & mask;
    RowOf<Key>::sum_lanes(row);
    sum += row;
    __builtin_memcpy(keys + number * kLanes<Key>, &sum, sizeof(sum));
    RowOf<Key>::fill_with_last(sum);
  }
}

template <class Key>
constexpr GroupLoops<Key> group_loops_of() {
  return {&width_of_group<Key>, &pack_group<Key>, &unpack_group<Key>};
}

AllGroupLoops all_group_loops() {
  return {group_loops_of<std::uint32_t>(), group_loops_of<std::uint64_t>(),
          group_loops_of<UInt128>()};
}

}  // namespace gsort::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#pragma GCC diagnostic pop

#if HWY_ONCE
#include <algorithm>
#include <cstring>

namespace gsort {
namespace {

HWY_EXPORT(all_group_loops);

template <class Key>
const GroupLoops<Key>& loops() {
  const auto choose = [] { return HWY_DYNAMIC_DISPATCH(all_group_loops)(); };
  return std::get<GroupLoops<Key>>(made_once(choose));
}

// The keys of a group, with the last one repeated if the group is not full; then `room` holds them.
template <class Key>
const Key* whole_group(std::span<const Key> keys, std::size_t group, Key (&room)[kPackGroupKeys]) {
  const std::span<const Key> rest = keys.subspan(group * kPackGroupKeys);
  if (rest.size() >= kPackGroupKeys) return rest.data();
  std::fill(std::copy(rest.begin(), rest.end(), room), room + kPackGroupKeys, rest.back());
  return room;
}

std::size_t difference_bytes(unsigned width) {
  return kPackRowBytes * width;
}

template <class Key>
const std::byte* widths_of(std::span<const std::byte> packed, std::size_t count) {
  return packed.data() + pack_groups(count) * sizeof(Key);
}

}  // namespace

template <class Key>
std::size_t packed_bytes(std::span<const Key> keys) {
  std::size_t bytes = pack_head_bytes(keys.size(), sizeof(Key));
  Key room[kPackGroupKeys];
  for (std::size_t group = 0; group < pack_groups(keys.size()); ++group) {
    bytes += difference_bytes(loops<Key>().width(whole_group(keys, group, room)));
  }
  return bytes;
}

template <class Key>
void pack_keys(std::span<const Key> keys, std::span<std::byte> to) {
  const std::size_t groups = pack_groups(keys.size());
  const std::size_t head_bytes = pack_head_bytes(keys.size(), sizeof(Key));
  auto* const first_keys = reinterpret_cast<Key*>(to.data());
  std::byte* const widths = to.data() + groups * sizeof(Key);
  std::memset(widths + groups, 0, head_bytes - groups * (sizeof(Key) + 1));
  std::byte* differences = to.data() + head_bytes;
  Key room[kPackGroupKeys];
  for (std::size_t group = 0; group < groups; ++group) {
    const Key* const whole = whole_group(keys, group, room);
    const unsigned width = loops<Key>().width(whole);
    first_keys[group] = whole[0];
    widths[group] = static_cast<std::byte>(width);
    loops<Key>().pack(whole, width, reinterpret_cast<Key*>(differences));
    differences += difference_bytes(width);
  }
}

template <class Key>
bool is_packed_form(std::span<const std::byte> packed, std::size_t count) {
  const std::size_t head_bytes = pack_head_bytes(count, sizeof(Key));
  if (packed.size() < head_bytes) return false;
  const std::byte* const widths = widths_of<Key>(packed, count);
  std::size_t bytes = head_bytes;
  for (std::size_t group = 0; group < pack_groups(count); ++group) {
    const auto width = std::to_integer<unsigned>(widths[group]);
    if (width > 8 * sizeof(Key)) return false;
    bytes += difference_bytes(width);
  }
  return bytes == packed.size();
}

template <class Key>
void unpack_keys(std::span<const std::byte> packed, std::size_t count, std::size_t begin,
                 std::size_t end, Key* out) {
  const auto* const first_keys = reinterpret_cast<const Key*>(packed.data());
  const std::byte* const widths = widths_of<Key>(packed, count);
  const std::byte* differences = packed.data() + pack_head_bytes(count, sizeof(Key));
  const std::size_t first_group = begin / kPackGroupKeys;
  for (std::size_t group = 0; group < first_group; ++group) {
    differences += difference_bytes(std::to_integer<unsigned>(widths[group]));
  }
  Key room[kPackGroupKeys];
  for (std::size_t group = first_group; group * kPackGroupKeys < end; ++group) {
    const auto width = std::to_integer<unsigned>(widths[group]);
    const auto* const words = reinterpret_cast<const Key*>(differences);
    const std::size_t from = std::max(begin, group * kPackGroupKeys);
    const std::size_t to = std::min(end, (group + 1) * kPackGroupKeys);
    if (to - from == kPackGroupKeys) {
      loops<Key>().unpack(words, width, first_keys[group], out);
    } else {
      loops<Key>().unpack(words, width, first_keys[group], room);
      std::copy(room + from % kPackGroupKeys, room + from % kPackGroupKeys + (to - from), out);
    }
    out += to - from;
    differences += difference_bytes(width);
  }
}

#define GSORT_PACKED_KEYS_OF(Key)                                                              \
  template std::size_t packed_bytes(std::span<const Key>);                                     \
  template void pack_keys(std::span<const Key>, std::span<std::byte>);                         \
  template bool is_packed_form<Key>(std::span<const std::byte>, std::size_t);                  \
  template void unpack_keys(std::span<const std::byte>, std::size_t, std::size_t, std::size_t, \
                            Key*);
GSORT_PACKED_KEYS_OF(std::uint32_t)
GSORT_PACKED_KEYS_OF(std::uint64_t)
GSORT_PACKED_KEYS_OF(UInt128)
#undef GSORT_PACKED_KEYS_OF

}  // namespace gsort
#endif  // HWY_ONCE
