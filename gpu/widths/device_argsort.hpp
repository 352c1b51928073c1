// argsort: writes the numbers of keys in device memory in the order of the keys, on a stream. It
// sorts pairs whose values are these numbers. Any host code may include this file.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/key.hpp"
#include "gpu/cuda/scratch.hpp"

namespace gsort::gpu {

// Device memory that argsort needs for `count` keys: that of sort_many_pairs, and one more array of
// keys. Never less for a larger count. Throws: as argsort does, for a count that is too large.
template <class Key, class Index>
[[nodiscard]] std::size_t argsort_scratch_bytes(std::uint64_t count);

// The arguments of argsort.
template <class Key, class Index>
struct KeyArgsort {
  const Key* keys = nullptr;  // count keys, only read
  Index* indices = nullptr;   // count numbers
  std::uint64_t count = 0;
  KeyMap<Key> load_map{};   // from keys to ordered keys
  ScratchMemory scratch{};  // of argsort_scratch_bytes(count)
  cudaStream_t stream = nullptr;
};

// Writes the numbers 0 to count - 1 of the keys in ascending order of load_map.to_ordered;
// equal keys keep their order. Queues the work on the stream and does not wait for the device.
// Requires: Key and Index are std::uint32_t or std::uint64_t; arrays aligned to their elements;
//   keys, indices and scratch apart, alive and untouched until the stream has passed this work.
// Throws: Error(kUsage), with nothing queued, for null pointers with a count, overlap,
//   misalignment, more than 2^35 keys, more keys than an Index has numbers, and too little scratch;
//   Error(kDevice) naming the operation when CUDA fails.
template <class Key, class Index>
void argsort(const KeyArgsort<Key, Index>& sort);

}  // namespace gsort::gpu
