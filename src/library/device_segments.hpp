// Sorts of many arrays in device memory in one call, each by itself: keys, pairs, or the indices
// that sort the keys, queued on a stream. Only in builds with CUDA. Arrays lie back to back and
// have one length, or begin at offsets that only the device knows.
//
//   const gsort::DeviceSegments rows{.array_count = 1000, .array_keys = 512};
//   const gsort::DeviceSegments lists{.array_count = n, .offsets = offsets, .count = all};
//   scratch.bytes = gsort::device_segments_scratch_bytes<float>(lists);
//   gsort::sort_device_segments(keys, keys, lists, gsort::Order::kAscending, scratch, stream);
//
// The rules of device_keys.hpp for memory, streams, errors, graphs and results hold here, too.
// Pairs are sorted stably, so that a call gives the same bytes every time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "library/device_pairs.hpp"

namespace gsort {

inline constexpr std::uint64_t kUnknownLength = ~std::uint64_t{0};

// Where arrays lie. With offsets, array i is [offsets[i], offsets[i + 1]); some may be empty, and
// one may have all keys. Requires: array_count + 1 ascending offsets in device memory, apart from
// what is written, offsets[0] == 0, offsets[array_count] == count; else the result is undefined.
struct DeviceSegments {
  std::uint64_t array_count = 0;
  std::uint64_t array_keys = 0;            // of each array, if there are no offsets
  const std::uint64_t* offsets = nullptr;  // read by the device, when the stream comes to it
  std::uint64_t count = 0;                 // keys of all arrays, if there are offsets
  // With offsets: keys of the longest array, or more. Known, it saves time and scratch memory.
  std::uint64_t longest = kUnknownLength;
};

// 0 for two or more arrays of the same length, at most 8,192 keys each; else at most 1.1 times what
// a sort of all keys needs, and 12 bytes for every 190 arrays. Valid only for exactly these
// segments.
template <DeviceKey Key>
[[nodiscard]] std::size_t device_segments_scratch_bytes(const DeviceSegments& segments);

// Sorts each array into its place in output, which may be the same memory.
template <DeviceKey Key>
void sort_device_segments(const Key* input, Key* output, const DeviceSegments& segments,
                          Order order, const DeviceScratch& scratch, DeviceStream stream);

// Pairs need what segments of as many 64-bit keys need, and 8 bytes a pair if a segment can have
// more than 8,192; 8 bytes a pair more for keys of 8 and 16 bits, 12 for those of 64 and 128. Valid
// only for exactly these segments. This and the calls below throw Error(kUsage) for more than 2^32
// pairs.
template <DeviceKey Key>
[[nodiscard]] std::size_t device_segment_pairs_scratch_bytes(const DeviceSegments& segments);

// Sorts the pairs of each array, those of equal keys in their order. Outputs are apart from inputs.
// keys_out may be null; then keys are not written.
template <DeviceKey Key, DeviceWord Value>
void sort_device_segment_pairs(const Key* keys_in, Key* keys_out, const Value* values_in,
                               Value* values_out, const DeviceSegments& segments, Order order,
                               const DeviceScratch& scratch, DeviceStream stream);

// Writes in each array's place the indices, from 0 on, that sort its keys; those of equal keys
// ascend. Scratch memory is of device_segment_pairs_scratch_bytes. Requires: an Index holds the
// indices of the longest array.
template <DeviceKey Key, DeviceIndex Index>
void argsort_device_segments(const Key* keys, Index* indices, const DeviceSegments& segments,
                             Order order, const DeviceScratch& scratch, DeviceStream stream);

// The same for other types of values.
template <DeviceKey Key, DeviceMoved Value>
void sort_device_segment_pairs(const Key* keys_in, Key* keys_out, const Value* values_in,
                               Value* values_out, const DeviceSegments& segments, Order order,
                               const DeviceScratch& scratch, DeviceStream stream) {
  using Word = WordOf<Value>;
  sort_device_segment_pairs(keys_in, keys_out, reinterpret_cast<const Word*>(values_in),
                            reinterpret_cast<Word*>(values_out), segments, order, scratch, stream);
}

}  // namespace gsort
