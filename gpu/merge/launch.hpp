// The launches of the kernels. Each queues one kernel on `stream`, or a partition and the merge
// that waits for it, with the shape that tuning.hpp has for `architecture`, and checks the launch.
// Throws: Error(kDevice) naming the kernel.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/table_copy.hpp"
#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

template <class Key>
void launch_block_sort(const BlockSortPass<Key>& pass, unsigned architecture, cudaStream_t stream);

// The kernels for small inputs (tuning.hpp). The merge is of fan-in 2 and searches for its cuts;
// pass.rows_per_group counts its tiles.
template <class Key>
void launch_small_block_sort(const BlockSortPass<Key>& pass, unsigned architecture,
                             cudaStream_t stream);
template <class Key>
void launch_small_merge(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream);

template <class Key>
void launch_partition(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream);

// Cuts and merges a single group of two runs, without samples; a row every two_way_tile_keys.
template <class Key>
void launch_two_way_merge(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream);

template <class Key>
void launch_kway_merge(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream);

// The same of pairs, with the shape for PairOf<Key, Value>.
template <class Key, class Value>
void launch_pair_sort(const PairSortPass<Key, Value>& pass, unsigned architecture,
                      cudaStream_t stream);

template <class Key, class Value>
void launch_pair_partition(const PairMergePass<Key, Value>& pass, unsigned architecture,
                           cudaStream_t stream);

template <class Key, class Value>
void launch_pair_merge(const PairMergePass<Key, Value>& pass, unsigned architecture,
                       cudaStream_t stream);

// Cuts and merges a single group of two runs. With no rows every block searches for its own cuts;
// pass.keys.rows_per_group counts the tiles.
template <class Key, class Value>
void launch_two_way_pair_merge(const PairMergePass<Key, Value>& pass, unsigned architecture,
                               cudaStream_t stream);

// Writes the samples of the runs of `table` in `keys`, kReadSampleShift apart.
template <class Key>
void launch_sample(const Key* keys, const RunTable& table, Key* samples, unsigned architecture,
                   cudaStream_t stream);

}  // namespace gsort::gpu
