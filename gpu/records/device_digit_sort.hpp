// Sorting pairs with keys of 32 bits digit by digit, the least significant one first: what
// sort_pairs (gpu/records/device_pairs.hpp) does, with other kernels. The essay is in
// device_digit_sort.cpp. Any host code may include this file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/records/device_pairs.hpp"

namespace gsort::gpu {

// At most this many pairs: places and prefix words (digit_kernels.cuh) have 32 bits.
inline constexpr std::uint64_t kMostPairsByDigits = std::uint64_t{1} << 31;

// Device memory that sort_pairs_by_digits needs if it writes keys: one more array of keys and of
// values and, from 2^21 pairs on, at most 3% of both.
template <class Value>
[[nodiscard]] std::size_t sort_pairs_by_digits_scratch_bytes(std::uint64_t count);

// Requires: the memory has been checked; 1 to kMostPairsByDigits pairs. If output.keys is null,
// keys are not written, and the scratch memory must have room for one more array of keys. If
// input.values is null, the values are the numbers of the pairs.
template <class Value>
void sort_pairs_by_digits(const PairSort<std::uint32_t, Value>& sort);

}  // namespace gsort::gpu
