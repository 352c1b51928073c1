// CUB's contenders for batches and pairs, each queued on the default stream. One .cu file each:
// they take long to compile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gsort::bench {

// Scratch that any of these may need for `bytes` of keys and values together.
[[nodiscard]] constexpr std::size_t cub_scratch_bytes(std::uint64_t bytes) {
  return bytes + bytes / 4 + (std::size_t{64} << 20);
}

// N arrays of d keys each. `offsets` (device memory) holds 0, d, 2d, ..., Nd. `scratch` has
// cub_scratch_bytes; too little is an Error.
void cub_segmented_sort(const std::uint32_t* in, std::uint32_t* out, std::uint64_t total,
                        std::uint64_t arrays, const std::uint64_t* offsets, void* scratch,
                        std::size_t scratch_bytes);
void cub_segmented_radix_sort(const std::uint32_t* in, std::uint32_t* out, std::uint64_t total,
                              std::uint64_t arrays, const std::uint64_t* offsets, void* scratch,
                              std::size_t scratch_bytes);

// Pairs of u32 keys with u32 values, or of u64 keys with either. Both sorts are stable.
template <class Key, class Value>
struct CubPairs {
  const Key* keys_in;
  const Value* values_in;
  Key* keys_out;
  Value* values_out;
  std::uint64_t count;
};
template <class Key, class Value>
void cub_radix_sort_pairs(const CubPairs<Key, Value>& pairs, void* scratch,
                          std::size_t scratch_bytes);
// The first half and the second, sorted each, to one. Keys and values of 8 to 64 bits. Stable.
template <class Key, class Value>
void cub_merge_pairs(const CubPairs<Key, Value>& pairs, void* scratch, std::size_t scratch_bytes);
template <class Key, class Value>
void cub_merge_sort_pairs(const CubPairs<Key, Value>& pairs, void* scratch,
                          std::size_t scratch_bytes);

}  // namespace gsort::bench
