// Packed keys: ascending keys as bit-packed differences. A sorted run of random keys holds far
// fewer bits than it takes: 2^28 sorted keys of 32 bits differ from their neighbours by 16 on
// average, so that 7 bits a key are enough.
//
// Keys are packed in groups of 256, each with its first key and one width for all its differences,
// so that each group can be packed and unpacked separately, in vector registers or by a warp. With
// G groups of keys of B bytes, the packed form is
//
//   at           bytes         field
//   0            G * B         the first key of each group, little-endian
//   G * B        G up to a     the width of each group, 0 to 8 * B; zeros behind
//                multiple of
//                8, or 16 if
//                B is 16
//   behind       32 * width    the differences of each group, group by group
//
// Difference i of a group is key[i] - key[i - 1]; number 0 is zero, and so are those behind the
// last key of the last group. They stand in rows of L = 32 / B lanes: difference i is in lane i %
// L, row i / L. Each lane packs its 8 * B differences one after the other, least bits first, into
// `width` words of B bytes; word w of lane l is word number w * L + l of the group. So a vector of
// 32 bytes holds the same word of all lanes, and rows are unpacked with the same shifts in all.
//
// Example (keys of 4 bytes): 100 101 104 pack into one group. First key 100, differences 0 1 3, so
// the width is 2; lanes 0, 1, 2 begin with 0, 1, 3 and the first vector is 0 1 3 0 0 0 0 0; the
// second (2 bits * 32 rows need two words a lane) is zero:
//   64 00 00 00  02 00 00 00 00 00 00 00
//   00 00 00 00  01 00 00 00  03 00 00 00  (then 13 words of zero)
//
// Source: frames of reference with differences and lane-wise packing, as in D. Lemire and
// L. Boytsov, "Decoding billions of integers per second through vectorization" (2015).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "element/key.hpp"

namespace gsort {

inline constexpr std::size_t kPackGroupKeys = 256;
inline constexpr std::size_t kPackRowBytes = 32;  // one word of every lane

[[nodiscard]] constexpr std::size_t pack_groups(std::size_t count) {
  return (count + kPackGroupKeys - 1) / kPackGroupKeys;
}

// The size of the first keys and widths of all groups; the differences begin after them.
[[nodiscard]] constexpr std::size_t pack_head_bytes(std::size_t count, std::size_t key_bytes) {
  const std::size_t groups = pack_groups(count);
  const std::size_t aligned = key_bytes < 8 ? 8 : key_bytes;
  return groups * key_bytes + (groups + aligned - 1) / aligned * aligned;
}

// Keys are std::uint32_t, std::uint64_t or UInt128. All functions are compiled for every vector
// instruction set and chosen at run time; none of them allocates memory.

// The bytes that `keys` take when packed. Requires: ascending keys.
template <class Key>
[[nodiscard]] std::size_t packed_bytes(std::span<const Key> keys);

// Packs `keys` into `to`, which is packed_bytes(keys) long and aligned to 8, and to the keys' size.
template <class Key>
void pack_keys(std::span<const Key> keys, std::span<std::byte> to);

// Whether `packed` can be the packed form of `count` keys: widths in bounds, length exactly right.
// Says nothing about the keys.
template <class Key>
[[nodiscard]] bool is_packed_form(std::span<const std::byte> packed, std::size_t count);

// Unpacks keys [begin, end) into `out`, end - begin long.
// Requires: is_packed_form(packed, count), packed aligned as for pack_keys(), begin <= end <=
// count.
template <class Key>
void unpack_keys(std::span<const std::byte> packed, std::size_t count, std::size_t begin,
                 std::size_t end, Key* out);

}  // namespace gsort
