// The parameters of the block sort, as merge_pass.hpp has for merges, and its launches. Each queues
// one kernel on `stream`, with the shape that tuning.hpp has for `architecture`, and checks the
// launch. Throws: Error(kDevice) naming the kernel.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/key.hpp"

namespace gsort::gpu {

// Tile i of the input becomes run i of the output.
template <class Key>
struct BlockSortPass {
  const Key* input = nullptr;
  Key* output = nullptr;
  Key* samples = nullptr;  // nullptr: none are wanted
  std::uint64_t count = 0;
  KeyMap<Key> load_map;
  KeyMap<Key> store_map;
  bool loads_mapped = false;  // the maps are not the identity
  bool stores_mapped = false;
};

template <class Key>
void launch_block_sort(const BlockSortPass<Key>& pass, unsigned architecture, cudaStream_t stream);

// With the shape for small inputs.
template <class Key>
void launch_small_block_sort(const BlockSortPass<Key>& pass, unsigned architecture,
                             cudaStream_t stream);

}  // namespace gsort::gpu
