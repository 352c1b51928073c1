// Sorting keys on the GPU: a block sort, then passes of k-way merging, and nothing but
// comparisons.
//
// Model. n keys of w bytes, tiles of T keys, fan-in k: passes P = ceil(log_k(n / T)); every pass
// moves 2wn bytes. For 2^28 u32 keys and T = 8192 a fan-in of 2 means 15 passes, 8 ms of bytes
// alone on an H200 (4.2 TB/s); a fan-in of 8 means 5 passes, 3 ms. So a pass merges 8 runs, as a
// tree of two-way levels in shared memory, and is bound by instructions: it takes 0.83 ms, where
// its bytes would take 0.51 ms.
//
// Parts. thread_sort.hpp: register networks. gather_index.hpp, block_merge.cuh: a two-way level
// without bank conflicts. kway_cut.hpp, partition_kernel.cuh: exact cuts, from samples.
// kway_merge_kernel.cuh: one tile of a pass. merge_pass.hpp: what a pass is. tuning.hpp: all
// sizes.
//
// What each step gained, on an H200, 2^28 random keys, ms for u32 | u64. In the same runs CUB
// 3.0.1 took 12.5 | 28.3 (merge sort) and 5.4 | 16.5 (radix sort).
//   8.93 | 19.98  two-way levels as above, passes of 8, one thread cutting all runs of a tile
//   7.35 | 15.55  a team of lanes cuts, a lane a run: partition 0.37 -> 0.21 a pass (u32). Half
//                 of the comparators by multiply-add: pass of 8 0.98 -> 0.94 | 2.40 -> 2.16. The
//                 choice among the gather's rows in the float pipe: block sort 1.91 -> 1.78
//                 (u32). Barriers of the warp, not the block, while lists have at most 32 rows:
//                 1.78 -> 1.67 (u32)
//   7.08 | 14.89  samples every 64 or 32 keys, not 128: partition 0.21 -> 0.15 a pass (u32). Fewer
//                 rounds of search had changed nothing, so it was taken to wait for its random
//                 reads of 64 bytes
//   6.74 | 14.54  instructions counted one by one: a tile's last warp stored key by key, the
//                 search computed 64-bit addresses, every level searched for its region: pass of
//                 8 0.90 -> 0.85 (u32)
//   6.59 | 14.05  a warp visits the slices of its share only: pass of 8 0.85 -> 0.83 | 1.74 ->
//                 1.68; larger tiles in the block sort of u64; 48 registers for u32
//   6.28 | 13.80  cuts by halving the step of a coarse cut (kway_cut.hpp), not by pivots all the
//                 way: a profile showed that the partition is bound by instructions, 4,300 a warp
//                 of four rows, and not by its scattered reads: 0.12 to 0.15 -> 0.09 to 0.12 a pass
//                 (u32), 0.25 to 0.30 -> 0.20 to 0.24 (u64); from 6.44 in these runs
//   6.25 | 13.72  a lane knows once, not for each vector, whether it stores samples
//                 partitions start when their predecessor is gone, for the sake of the L1 cache,
//                 and merges while theirs ends (launch_overlap.hpp): nothing for 2^28, but of u32
//                 2^27 3.17 -> 3.11, 2^24 0.465 -> 0.455
//
// That is 42.9 to 43.0 and 19.6 Gkeys/s, 2.0 and 2.06 times CUB's merge sort. Of 2^27 u32 keys the
// slowest shape, those that interleave in every merge, takes 1.03 times as long as random ones.
//
// Small inputs wait for latency, not for work: tiles of 2,048 keys in rows of 8, and passes of two
// runs whose blocks find their cuts themselves, by 32 lanes at once, so that a pass is one launch,
// and starts while the one before it ends. Gkeys/s for 2^16, 2^18, 2^20 u32 keys: 1.34, 3.33, 9.05
// with the passes above; 2.18, 6.47, 13.0 so; CUB's merge sort 1.51, 4.28, 10.8.
//
// What did not pay. 256 threads in a merge: a pass of 8 takes 0.12 ms more, as much as half the
// cuts save. 64 threads: more cuts, no faster. E = 16 for u32: 0.23 ms more a pass of 8. E = 32
// for u64: spills. A fan-in of 16: 1.23 ms against 0.90 for 8, and twice the cuts; it is not
// offered. 48 registers for u64: 0.4 ms more in all. Finding the cuts in some blocks of the merge
// kernel while the others merge what was cut before: 6.47 ms for 6.53 (u32, 2^28), but slower for
// 2^30 keys, for any distance between finding and merging from 512 to 65,536 tiles. The search
// takes as many instructions wherever it runs. Beginning each search of the cuts where the pivot's
// value is expected, and going on in growing strides: by count a quarter fewer stretches of 64
// bytes and half the samples are touched, but random keys take the same time (6.48 ms, and 6.50);
// with it, 2^26 keys of zipf's took 9% longer than random ones, which was not compared in that run.
// Merges of random slices from outside, whose samples lie further apart, gain 5 to 9%.
//
// Blocks that cut 16 to 64 neighbouring rows among samples in shared memory: 0.16 to 0.19 ms a pass
// for 0.12 to 0.15, and less than nothing gained by copying the keys around the cuts, too. A round
// that halves in some teams of a warp and changes sides in others: 0.14. Samples every 64 keys:
// 0.5% slower. Blocks of a merge that stay and take tile after tile, the next row of cuts on its
// way: 0.86 ms for 0.82.
//
// What is left. The partition: about 0.1 | 0.22 ms a pass. In a pass, gather and network are 48%
// of the instructions, the search 13%, loads and stores 18%.
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
template void sort_keys(const KeySort<std::uint32_t>&);
template void sort_keys(const KeySort<std::uint64_t>&);

}  // namespace gsort::gpu
