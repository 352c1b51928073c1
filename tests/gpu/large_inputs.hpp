// Inputs of many keys, made on the card, whose sorted order is known without sorting: position i of
// the output holds i >> shift. And the check that it does.
#pragma once

#include <cstdint>

namespace gsort::gpu {

// Keys are cut out of the numbers 0 .. period - 1, which come in a scattered order, again and
// again: key i = (i * odd % period) >> shift. Requires: count * odd < 2^64, odd and period without
// a common factor. Keys, here and below, are of 4 or 8 bytes.
struct ScatteredKeys {
  std::uint64_t count = 0;
  std::uint64_t period = 0;
  unsigned shift = 0;
};
inline constexpr std::uint64_t kScatter = 1000000007;  // a prime

template <class Key>
void fill_scattered(const ScatteredKeys& keys, Key* out);

// Slice j of `slices` holds the numbers j, j + slices ... below count, each >> shift; the slices
// lie one behind the other. Their merge is 0 .. count - 1, each >> shift.
void fill_slices(std::uint64_t count, std::uint32_t slices, unsigned shift, std::uint32_t* out);
[[nodiscard]] std::uint64_t slice_count(std::uint64_t count, std::uint32_t slices,
                                        std::uint32_t slice);

// How many of out[0, count) are not (i % period) >> shift. Waits for the device.
template <class Key>
[[nodiscard]] std::uint64_t count_wrong(const ScatteredKeys& keys, const Key* out);

// Pairs of keys as above, and of their positions in the input as values. How many of the sorted
// ones are not there, or not stable: behind a pair of the same key that came later. Waits.
void fill_positions(std::uint64_t count, std::uint64_t* out);
[[nodiscard]] std::uint64_t count_misplaced(const ScatteredKeys& keys, const std::uint64_t* out,
                                            const std::uint64_t* positions);

}  // namespace gsort::gpu
