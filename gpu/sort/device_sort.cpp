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
// a pass. merge_pass.hpp: what a pass is. tuning.hpp: all sizes.
//
// Example. Tiles of 2, fan-in 2: 5 3 | 8 1 | 7 2 | 6 4 becomes the runs 3 5 | 1 8 | 2 7 | 4 6, then
// 1 3 5 8 | 2 4 6 7, then one run.
//
// Cost. n keys of w bytes, tiles of T keys, fan-in k: ceil(log_k(n / T)) passes, and each moves 2wn
// bytes. On an H200, 2^28 random keys: 6.25 ms (u32) and 13.72 (u64), 2.0 and 2.06 times the rate
// of CUB 3.0.1's merge sort. Of u32's a pass takes 0.83, where its bytes take 0.51, the partition
// about 0.1 a pass, the block sort 1.67. In a pass, gather and network are 48% of the instructions,
// the search 13%, loads and stores 18%. Of 2^27 u32 keys the slowest shape, those that interleave
// in every merge, takes 1.03 times as long as random ones.
//
// Source. gather_index.hpp and kway_cut.hpp name theirs. What was tried:
// tools/bench/results/tried.md.
#include "gpu/sort/device_sort.hpp"

#include <algorithm>
#include <utility>

#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/merge/launch.hpp"
#include "gpu/sort/launch.hpp"
#include "gpu/sort/sort_shape.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kOperation = "sorting keys on the GPU";

template <class Key>
struct SortArrays {
  Key* buffer = nullptr;
  SortScratch<Key> scratch;
  std::size_t bytes = 0;
};

template <class Key>
SortArrays<Key> cut_scratch(void* scratch, std::uint64_t count, const KernelTuning& tuning) {
  SortArrays<Key> arrays;
  const SortShape shape = shape_of(count, tuning);
  ScratchCutter cutter(scratch);
  if (!shape.fan_ins.empty()) {
    arrays.buffer = cutter.take<Key>(count);
    arrays.scratch.samples =
        cutter.take<Key>(sample_slots(count, shape.run_count, kWrittenSampleShift<Key>));
    arrays.scratch.rows = cutter.take<std::uint64_t>(row_numbers(count, shape, tuning));
  }
  arrays.bytes = cutter.used_bytes();
  return arrays;
}

// The passes of two runs that a small sort takes.
unsigned small_passes_of(std::uint64_t count, const SmallTuning& tuning) {
  const std::uint64_t runs = div_up(count, tuning.kernels.block_sort_keys());
  unsigned passes = 0;
  while ((std::uint64_t{1} << passes) < runs) ++passes;
  return passes;
}

// The other array, of `count` keys, is all the scratch memory that a small sort takes.
template <class Key>
void queue_small_sort(BlockSortPass<Key> first, Key* output, Key* buffer, unsigned architecture,
                      cudaStream_t stream) {
  const SmallTuning tuning = small_tuning_for<Key>(architecture);
  const unsigned passes = small_passes_of(first.count, tuning);
  first.output = passes % 2 == 0 ? output : buffer;
  first.stores_mapped = passes == 0 && !first.store_map.is_identity();
  launch_small_block_sort(first, architecture, stream);
  MergePass<Key> pass;
  pass.store_map = first.store_map;
  pass.runs.total = first.count;
  pass.runs.run_length = tuning.kernels.block_sort_keys();
  for (unsigned i = 0; i < passes; ++i) {
    pass.input = (passes - i) % 2 == 0 ? output : buffer;
    pass.output = (passes - i) % 2 == 0 ? buffer : output;
    pass.maps = i + 1 == passes && !pass.store_map.is_identity();
    pass.group_count = div_up(first.count, 2 * pass.runs.run_length);
    pass.rows_per_group = div_up(2 * pass.runs.run_length, tuning.kernels.merge_tile_keys(2));
    launch_small_merge(pass, architecture, stream);
    pass.runs.run_length *= 2;
  }
}

}  // namespace

template <class Key>
std::size_t sort_keys_scratch_bytes(std::uint64_t count) {
  require_count(count, kOperation);
  std::size_t most = 0;
  for (const TuningRow& row : kTunings) {
    const KernelTuning tuning = tuning_for<Key>(row.architecture);
    most = std::max(most, cut_scratch<Key>(nullptr, count, tuning).bytes);
    const SmallTuning small = small_tuning_for<Key>(row.architecture);
    if (small_passes_of(count, small) > 0) {
      most = std::max<std::size_t>(most, round_up(count * sizeof(Key), kScratchAlignment));
    }
  }
  return most;
}

template <class Key>
void sort_keys(const KeySort<Key>& sort) {
  const auto& [input, output, count, load_map, store_map, scratch, stream] = sort;
  if (count == 0) return;
  require_sort_memory({.input = input,
                       .output = output,
                       .bytes = count * sizeof(Key),
                       .alignment = sizeof(Key),
                       .scratch = scratch,
                       .scratch_needed = sort_keys_scratch_bytes<Key>(count)},
                      kOperation);

  const unsigned architecture = current_architecture();
  BlockSortPass<Key> first;
  first.input = input;
  first.count = count;
  first.load_map = load_map;
  first.loads_mapped = !load_map.is_identity();
  first.store_map = store_map;
  if (count <= small_tuning_for<Key>(architecture).most_sorted_keys) {
    queue_small_sort(first, output, static_cast<Key*>(scratch.memory), architecture, stream);
    return;
  }

  const KernelTuning tuning = tuning_for<Key>(architecture);
  const SortShape shape = shape_of(count, tuning);
  const SortArrays<Key> arrays = cut_scratch<Key>(scratch.memory, count, tuning);
  first.output = shape.fan_ins.size() % 2 == 0 ? output : arrays.buffer;
  first.samples = arrays.scratch.samples;
  first.stores_mapped = shape.fan_ins.empty() && !store_map.is_identity();
  launch_block_sort(first, architecture, stream);
  Key* from = first.output;
  Key* to = from == output ? arrays.buffer : output;
  for (auto& pass : sort_passes(count, shape, tuning, arrays.scratch, store_map)) {
    pass.input = from;
    pass.output = to;
    launch_partition<Key>(pass, architecture, stream);
    launch_kway_merge(pass, architecture, stream);
    std::swap(from, to);
  }
}

template std::size_t sort_keys_scratch_bytes<std::uint32_t>(std::uint64_t);
template std::size_t sort_keys_scratch_bytes<std::uint64_t>(std::uint64_t);
template std::size_t sort_keys_scratch_bytes<UInt128>(std::uint64_t);
template void sort_keys(const KeySort<std::uint32_t>&);
template void sort_keys(const KeySort<std::uint64_t>&);
template void sort_keys(const KeySort<UInt128>&);

}  // namespace gsort::gpu
