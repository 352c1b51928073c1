// The parameters of the kernels of pairs, as merge_pass.hpp has for keys, and the launches of this
// room. Each queues one kernel on `stream` and checks the launch; those of pairs have the shape
// that tuning.hpp has for PairOf<Key, Value> on `architecture`. Throws: Error(kDevice) naming the
// kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/record_word.hpp"
#include "gpu/merge/merge_pass.hpp"
#include "gpu/sort/launch.hpp"

namespace gsort::gpu {

// Values go where their keys go.
template <class Key, class Value>
struct PairSortPass {
  BlockSortPass<Key> keys;
  const Value* values_in = nullptr;
  Value* values_out = nullptr;
};

template <class Key, class Value>
struct PairMergePass {
  MergePass<Key> keys;
  const Value* values_in = nullptr;
  Value* values_out = nullptr;
  // For two arrays apart: how much further than its keys the second one's values are from the
  // first's, in values, modulo 2^64.
  std::uint64_t second_values_shift = 0;
};

template <class Key, class Value>
void launch_pair_sort(const PairSortPass<Key, Value>& pass, unsigned architecture,
                      cudaStream_t stream);

// Merges by the rows that launch_partition<PairOf<Key, Value>>(pass.keys) wrote, or
// launch_two_way_partition.
template <class Key, class Value>
void launch_pair_merge(const PairMergePass<Key, Value>& pass, unsigned architecture,
                       cudaStream_t stream);

// The merge of small inputs, of fan-in 2, whose blocks search for their cuts;
// pass.keys.rows_per_group counts its tiles.
template <class Key, class Value>
void launch_small_pair_merge(const PairMergePass<Key, Value>& pass, unsigned architecture,
                             cudaStream_t stream);

// Writes numbers[i] = first + i, of 32 or 64 bits.
template <class Number>
void launch_count_up(Number* numbers, std::uint64_t first, std::uint64_t count,
                     cudaStream_t stream);

// Writes words[i], the word of record number numbers[i].
void launch_read_words(const std::byte* records, std::uint32_t record_bytes, const RecordWord& word,
                       const std::uint32_t* numbers, std::uint64_t count, std::uint64_t* words,
                       cudaStream_t stream);

// Copies record number numbers[i] to place i of `to`, which does not overlap `records`.
void launch_gather_records(const std::byte* records, std::uint32_t record_bytes,
                           const std::uint32_t* numbers, std::uint64_t count, std::byte* to,
                           cudaStream_t stream);

}  // namespace gsort::gpu
