// Sorting keys on the GPU: a block sort, then passes of k-way merging, and nothing but
// comparisons.
//
// Problem. A sort by two-way merges is bound by bytes: 2^28 u32 keys in tiles of 8,192 take 15
// passes, 8 ms of bytes alone on an H200 (4.2 TB/s).
//
// Idea. A pass merges 8 runs, as a tree of two-way levels in shared memory: 5 passes, 3 ms of
// bytes. Then instructions are the bound, so levels have no bank conflicts and no branches, and the
// work is spread over pipes that idle otherwise. Small inputs wait for latency instead: tiles of
// 2,048 keys, and passes of two runs whose blocks find their cuts themselves, so that a pass is one
// launch, and starts while the one before it ends.
//
// Parts. thread_sort.hpp: register networks. gather_index.hpp, block_merge.cuh: a two-way level.
// kway_cut.hpp, partition_kernel.cuh: exact cuts, from samples. kway_merge_kernel.cuh: one tile of
// a pass. merge_pass.hpp: what a pass is. sort_elements.hpp: all passes. tuning.hpp: all sizes.
//
// Example. Tiles of 2, fan-in 2: 5 3 | 8 1 | 7 2 | 6 4 becomes the runs 3 5 | 1 8 | 2 7 | 4 6, then
// 1 3 5 8 | 2 4 6 7, then one run.
//
// Cost. n keys of w bytes, tiles of T keys, fan-in k: ceil(log_k(n / T)) passes, and each moves 2wn
// bytes. On an H200, 2^28 random keys: 6.25 ms (u32) and 13.72 (u64), 2.0 and 2.06 times the rate
// of CUB 3.0.1's merge sort. With u32, a pass takes 0.83, where its bytes take 0.51, the partition
// about 0.1 a pass, the block sort 1.67. In a pass, gather and network are 48% of the instructions,
// the search 13%, loads and stores 18%. With 2^27 u32 keys, the slowest shape, interleaving
// in every merge, takes 1.03 times as long as random ones.
//
// Source. gather_index.hpp and kway_cut.hpp name theirs. Trials:
// tools/bench/results/tried.md.
#include "gpu/sort/device_sort.hpp"

#include <algorithm>

#include "gpu/sort/sort_elements.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kOperation = "sorting keys on the GPU";

// The passes of two runs that a small sort takes.
unsigned small_passes_of(std::uint64_t count, const SmallTuning& tuning) {
  const std::uint64_t runs = div_up(count, tuning.kernels.block_sort_keys());
  unsigned passes = 0;
  while ((std::uint64_t{1} << passes) < runs) ++passes;
  return passes;
}

// The other array, of `count` keys, is all the scratch memory that a small sort takes.
template <class Key>
void queue_small_sort(const KeySort<Key>& sort, const SmallTuning& tuning, unsigned architecture) {
  Key* const output = sort.output.keys;
  auto* const buffer = static_cast<Key*>(sort.scratch.memory);
  const unsigned passes = small_passes_of(sort.count, tuning);
  BlockSortPass<Key> first = block_sort_of(sort);
  first.output = passes % 2 == 0 ? output : buffer;
  first.stores_mapped = passes == 0 && !sort.store_map.is_identity();
  launch_small_block_sort(first, architecture, sort.stream);
  MergePass<Key> pass;
  pass.store_map = sort.store_map;
  pass.runs.total = sort.count;
  pass.runs.run_length = tuning.kernels.block_sort_keys();
  for (unsigned i = 0; i < passes; ++i) {
    pass.input = (passes - i) % 2 == 0 ? output : buffer;
    pass.output = (passes - i) % 2 == 0 ? buffer : output;
    pass.maps = i + 1 == passes && !sort.store_map.is_identity();
    pass.group_count = div_up(sort.count, 2 * pass.runs.run_length);
    pass.rows_per_group = div_up(2 * pass.runs.run_length, tuning.kernels.merge_tile_keys(2));
    launch_small_merge(pass, architecture, sort.stream);
    pass.runs.run_length *= 2;
  }
}

}  // namespace

template <class Key>
std::size_t sort_keys_scratch_bytes(std::uint64_t count) {
  require_count(count, kOperation);
  return most_on_any_card([&](unsigned architecture) {
    const std::size_t bytes =
        cut_sort_arrays<Key, NoValue>(nullptr, count, tuning_for<Key>(architecture)).bytes;
    if (small_passes_of(count, small_tuning_for<Key>(architecture)) == 0) return bytes;
    return std::max<std::size_t>(bytes, round_up(count * sizeof(Key), kScratchAlignment));
  });
}

template <class Key>
void sort_keys(const KeySort<Key>& sort) {
  if (sort.count == 0) return;
  require_sort_memory(sort, sort_keys_scratch_bytes<Key>(sort.count), kOperation);
  const unsigned architecture = current_architecture();
  const SmallTuning tuning = small_tuning_for<Key>(architecture);
  if (sort.count <= tuning.most_sorted_keys) return queue_small_sort(sort, tuning, architecture);
  queue_sort(sort);
}

template std::size_t sort_keys_scratch_bytes<std::uint32_t>(std::uint64_t);
template std::size_t sort_keys_scratch_bytes<std::uint64_t>(std::uint64_t);
template std::size_t sort_keys_scratch_bytes<UInt128>(std::uint64_t);
template void sort_keys(const KeySort<std::uint32_t>&);
template void sort_keys(const KeySort<std::uint64_t>&);
template void sort_keys(const KeySort<UInt128>&);

}  // namespace gsort::gpu
