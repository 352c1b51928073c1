// long_sort_kernel: sorts each tile of arrays that are longer than a tile, and arrays that take one
// tile of their own. long_partition_kernel: the rows of cuts of one merge pass over long arrays;
// kway_merge_kernel then merges by them as for any pass. long_arrays.hpp says which tile and row
// belongs to which array.
//
// Threads: block b sorts tile b, thread t makes row t; kFanIn neighbours make one row of cuts.
// Shared memory: the tile, rows of E words and a pad; one co-rank a thread.
// Device memory: the sort reads and writes each key once, 2 * sizeof(Key) bytes an element; a row
// of cuts reads the samples around its cuts, then about 16 keys a run.
#pragma once

#include <cstdint>

#include "gpu/batch_pass.hpp"
#include "gpu/batch_tile.cuh"
#include "gpu/partition_kernel.cuh"

namespace gsort::gpu {

// Where the samples of a tile begin: tiles have room for those of a whole one, so that runs of
// whole tiles have theirs end to end.
template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t samples_of_tile(std::uint64_t tile,
                                                                        unsigned tile_keys) {
  return tile * (tile_keys >> kWrittenSampleShift<Key>);
}

template <class Key, unsigned kThreads, unsigned kRowWords, unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    long_sort_kernel(const __grid_constant__ LongSortPass<Key> pass) {
  constexpr unsigned kTileKeys = kThreads * kRowWords;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ unsigned co_ranks[kThreads + 1];
  const TileWords<Key, kRowWords> tile{reinterpret_cast<Key*>(shared_bytes)};
  const LongPlace found = pass.arrays.place_of_tile(blockIdx.x);
  if (found.array.length == 0) return;
  const std::uint64_t skipped = found.index * kTileKeys;
  const std::uint64_t begin = found.array.begin + skipped;
  const std::uint64_t left = found.array.length - skipped;
  const unsigned count = left < kTileKeys ? static_cast<unsigned>(left) : kTileKeys;

  const unsigned row = threadIdx.x;
  const unsigned warp_word = row / 32 * 32 * kRowWords;
  const TileRow place = row_of_list(begin, count, row, kRowWords);
  const Key* const from = pass.input + begin;
  const bool vectors = warp_word + 32 * kRowWords <= count &&
                       reinterpret_cast<std::uintptr_t>(from) % sizeof(KeyVector<Key>) == 0;
  Key keys[kRowWords] = {};
  if (warp_word < count) {
    const EndMaps<Key>& maps = pass.maps;
    if (vectors) {
      warp_load_vectors(tile, {from + warp_word, maps.loads_mapped, maps.load_map}, keys);
    } else {
      warp_load_rows<kRowWords>(tile, {pass.input, maps.loads_mapped, maps.load_map}, place,
                                kRowWords, keys);
    }
    thread_sort(keys);
  }
  block_sort_lists(tile, row, place, (count + kRowWords - 1) / kRowWords, true, co_ranks, keys);
  if (warp_word >= count) return;
  thread_store_row(tile, row, keys);

  const std::uint64_t tiles = pass.passes.tiles_of(found.array.length);
  const unsigned passes = pass.passes.pass_count - pass.passes.start_of(tiles);
  Key* const to = passes % 2 == 0 ? pass.after_even_passes : pass.after_odd_passes;
  TileTarget<Key> target{
      to + begin, count, nullptr, 0, pass.maps.stores_mapped && passes == 0, pass.maps.store_map};
  if (passes > 0) {
    target.samples =
        pass.samples + samples_of_tile<Key>(found.array.first_tile + found.index, kTileKeys);
  }
  warp_store_tile(tile, target);
}

template <class Key, std::uint32_t kTileKeys, unsigned kFanIn>
__global__ void __launch_bounds__(kPartitionThreads, 12)
    long_partition_kernel(const __grid_constant__ LongMergePass<Key> pass) {
  using Team = LaneTeam<kFanIn>;
  const unsigned lane = threadIdx.x % kFanIn;
  const std::uint64_t row = (std::uint64_t{blockIdx.x} * kPartitionThreads + threadIdx.x) / kFanIn;
  LongPlace place;  // rows that do not exist take part in the shuffles, with runs of no keys
  GroupRow group;
  if (row < pass.merge.row_count) {
    place = pass.arrays.place_of_row(row);
    group = group_row(pass.passes, pass.pass, place.array.length, place.index, kTileKeys);
  }
  const std::uint64_t length = group.exists ? place.array.length : 0;
  const auto clipped = [length](std::uint64_t position) {
    return position < length ? position : length;
  };
  const std::uint64_t run = group.group * kFanIn + lane;
  const std::uint64_t begin = clipped(run * group.run_length);
  const std::uint64_t end = clipped((run + 1) * group.run_length);
  const std::uint64_t group_begin = clipped(group.group * kFanIn * group.run_length);
  const std::uint64_t group_end = clipped((group.group + 1) * kFanIn * group.run_length);
  const std::uint64_t wanted = group.row * kTileKeys;
  const bool is_tile = wanted < group_end - group_begin;
  const std::uint64_t position = is_tile ? wanted : group_end - group_begin;

  typename Team::template Each<SampledRun<Key>> runs;
  typename Team::template Each<std::uint64_t> cuts;
  const std::uint64_t first_tile = place.array.first_tile;
  runs[lane] = {pass.merge.input + place.array.begin + begin,
                pass.merge.samples +
                    samples_of_tile<Key>(first_tile + run * group.run_tiles, pass.passes.tile_keys),
                end - begin};
  kway_cut<Team, Key>(Team{}, position, kWrittenSampleShift<Key>, runs, cuts);
  if (row >= pass.merge.row_count) return;

  std::uint64_t* const out = pass.merge.rows + row * (kRowHeader + kFanIn);
  out[kRowHeader + lane] = place.array.begin + begin + cuts[lane];
  if (lane == 0) {
    out[kOutputPosition] = is_tile ? place.array.begin + group_begin + position : kGroupEnd;
    out[kGroupPosition] = position;
    out[kSampleBegin] = samples_of_tile<Key>(first_tile + group.group * kFanIn * group.run_tiles,
                                             pass.passes.tile_keys);
  }
}

}  // namespace gsort::gpu
