// Sorting keys that lie in device memory, on a stream. A block sort makes sorted tiles, then passes
// of k-way merging join them until one run is left; the essay is in device_sort.cpp. Any host code
// may include this file. Read next: device_merge.hpp, tuning.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/key.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/merge/element_arrays.hpp"

namespace gsort::gpu {

// Device memory that sort_keys needs for `count` keys: one more array of keys, and a few per cent
// of it for samples and cuts. Never less for a larger count. Throws: Error(kUsage) for more than
// 2^35 keys, as sort_keys does.
template <class Key>
[[nodiscard]] std::size_t sort_keys_scratch_bytes(std::uint64_t count);

// The arguments of a sort of arrays in device memory; of sort_host_array (host_array_sort.hpp): in
// host memory.
template <class Key, class Value = NoValue>
struct ElementSort {
  ConstPairs<Key, Value> input{};  // count elements
  Pairs<Key, Value> output{};      // as many; each array may be that of the input, or apart
  std::uint64_t count = 0;
  KeyMap<Key> load_map{};   // from keys of the input to ordered keys
  KeyMap<Key> store_map{};  // to_raw is applied to ordered keys as they leave
  ScratchMemory scratch{};  // device memory, of the function's .._scratch_bytes(count)
  cudaStream_t stream = nullptr;
};
template <class Key>
using KeySort = ElementSort<Key>;

// Sorts input[0, count) into output, ascending by load_map.to_ordered of the keys; an identity
// store_map leaves ordered keys. The work is queued on the stream; the call does not wait for the
// device, and calls on several streams may overlap. Requires: Key is std::uint32_t, std::uint64_t
// or UInt128; input and output aligned to sizeof(Key); scratch apart from both; all of it stays
// alive and untouched until the stream has passed this work.
// Throws: Error(kUsage), with nothing queued, for null pointers with a count, overlap,
//   misalignment, more than 2^35 keys, and too little scratch; Error(kDevice) naming the operation
//   when CUDA fails.
template <class Key>
void sort_keys(const KeySort<Key>& sort);

extern template std::size_t sort_keys_scratch_bytes<std::uint32_t>(std::uint64_t);
extern template std::size_t sort_keys_scratch_bytes<std::uint64_t>(std::uint64_t);
extern template std::size_t sort_keys_scratch_bytes<UInt128>(std::uint64_t);
extern template void sort_keys(const KeySort<std::uint32_t>&);
extern template void sort_keys(const KeySort<std::uint64_t>&);
extern template void sort_keys(const KeySort<UInt128>&);

}  // namespace gsort::gpu
