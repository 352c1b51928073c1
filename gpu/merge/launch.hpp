// The launches of the kernels of merging. Each queues one kernel on `stream`, with the shape that
// tuning.hpp has for `architecture`, and checks the launch. Throws: Error(kDevice) naming the
// kernel.
#pragma once

#include <cuda_runtime_api.h>

#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

// Writes the samples of the runs of `table` in `keys`, kReadSampleShift apart.
template <class Key>
void launch_sample(const Key* keys, const RunTable& table, Key* samples, unsigned architecture,
                   cudaStream_t stream);

// Writes the rows of cuts. Element: Key, or PairOf<Key, Value>, whose tiles are cut.
template <class Element, class Key>
void launch_partition(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream);

// The same of a single group of two runs, without samples; a row every two_way_tile_keys.
template <class Element, class Key>
void launch_two_way_partition(const MergePass<Key>& pass, unsigned architecture,
                              cudaStream_t stream);

// Merges by rows of cuts.
template <class Key>
void launch_kway_merge(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream);

// The same by rows that launch_two_way_partition wrote.
template <class Key>
void launch_two_way_merge(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream);

// The merge of small inputs, of fan-in 2, whose blocks search for their cuts; pass.rows_per_group
// counts its tiles.
template <class Key>
void launch_small_merge(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream);

}  // namespace gsort::gpu
