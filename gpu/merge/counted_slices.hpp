// What merges of keys and of pairs by counting share on the host: the cutting of scratch memory,
// and the queueing. Read next: counted_merge.hpp, device_arrays.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/merge/counted_merge.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/merge/launch.hpp"

namespace gsort::gpu {

// Keys of 8 and 16 bits are merged by counting, any number of slices in one go; only two small
// arrays are not (ranked_merge.hpp).
template <class Key>
inline constexpr bool kCounted = sizeof(Key) < sizeof(std::uint32_t);

struct CountArrays {
  std::uint64_t* starts = nullptr;
  std::uint64_t* first_starts = nullptr;  // where values follow their keys
  std::uint64_t* slices = nullptr;
  std::size_t bytes = 0;
};

template <class Key>
[[nodiscard]] CountArrays cut_count_scratch(void* scratch, std::uint32_t slice_count,
                                            bool has_values) {
  CountArrays arrays;
  ScratchCutter cutter(scratch);
  arrays.starts = cutter.take<std::uint64_t>(kKeyValues<Key> + 1);
  if (has_values) arrays.first_starts = cutter.take<std::uint64_t>(kKeyValues<Key> + 1);
  arrays.slices = cutter.take<std::uint64_t>(2 * std::uint64_t{slice_count});
  arrays.bytes = cutter.used_bytes();
  return arrays;
}

// `slices`: where each begins, behind `input`, then how many keys each has, `total` in all.
template <class Key>
void queue_counted(const Key* input, const std::vector<std::uint64_t>& slices, std::uint64_t total,
                   Key* output, KeyMap<Key> store_map, const CountArrays& arrays,
                   unsigned architecture, cudaStream_t stream) {
  CountedMerge<Key> merge;
  merge.input = input;
  merge.output = output;
  merge.store_map = store_map;
  merge.slice_count = static_cast<std::uint32_t>(slices.size() / 2);
  merge.total = total;
  launch_table_copy(slices.data(), slices.size(), arrays.slices, architecture, stream);
  merge.slices = arrays.slices;
  merge.starts = arrays.starts;
  merge.first_starts = arrays.first_starts;
  launch_counted_merge(merge, architecture, stream);
}

// The same of two runs.
template <class Key>
void queue_counted(const Key* input, const TwoRuns& runs, Key* output, KeyMap<Key> store_map,
                   const CountArrays& arrays, unsigned architecture, cudaStream_t stream) {
  queue_counted(input, {runs.first_begin, runs.second_begin, runs.first_length, runs.second_length},
                runs.length(), output, store_map, arrays, architecture, stream);
}

}  // namespace gsort::gpu
