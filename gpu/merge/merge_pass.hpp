// One pass of k-way merging, as host and kernels see it. Runs lie back to back in the input; every
// `fan_in` neighbours are a group, and a group's merge takes the same place in the output as its
// runs in the input. So a pass is described by where runs begin, and by nothing else.
//
//   runs     | r0 | r1 | r2 | r3 | r4 |          fan-in 4
//   groups   |        g0         | g1 |
//   tiles    |   |   |   |   |   |  | |          of merge_tile_keys; the last of a group is shorter
//   rows     0   1   2   3   4  5,6 7  8         at each tile's begin and each group's end
//
// The partition kernel writes a row of cuts for each tile's begin and each group's end; block b of
// the merge kernel merges what lies between the rows b and b + 1, and does nothing if row b is the
// end of a group.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"
#include "element/key.hpp"
#include "gpu/cuda/tuning.hpp"

namespace gsort::gpu {

// All lanes of a warp, for the calls that name who takes part.
inline constexpr unsigned kWholeWarp = 0xffffffffU;

// The most keys of one call; 256 GiB of u64 keys. Places among samples, one every 2^5 keys, then
// fit 32 bits.
inline constexpr std::uint64_t kMaxSortedKeys = std::uint64_t{1} << 35;

// Where runs begin. Either all have the same length but the last, or `bounds` (device memory) lists
// where the slices of the first pass begin, and a run of this pass holds `stride` of them.
struct RunTable {
  std::uint64_t total = 0;  // keys in all runs
  std::uint64_t run_count = 0;
  std::uint64_t run_length = 0;  // of even runs
  const std::uint64_t* bounds = nullptr;
  std::uint64_t last_bound = 0;  // bounds[last_bound] == total
  std::uint64_t stride = 1;

  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t begin(std::uint64_t run) const {
    if (bounds != nullptr) {
      const std::uint64_t index = run * stride;
      return bounds[index < last_bound ? index : last_bound];
    }
    const std::uint64_t position = run * run_length;
    return position < total ? position : total;
  }

  // Where the samples of a run begin in the array of samples, if every 2^shift-th key is one.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t sample_begin(std::uint64_t run,
                                                                       std::uint32_t shift) const {
    return (begin(run) >> shift) + run;
  }
};

[[nodiscard]] constexpr std::uint64_t sample_slots(std::uint64_t total, std::uint64_t run_count,
                                                   std::uint32_t shift) {
  return (total >> shift) + run_count + 1;
}

// Two runs that are merged, as positions from the input's first key. For two arrays apart from each
// other the input is the first array, and second_begin is what leads from it to the other one.
struct TwoRuns {
  std::uint64_t first_begin = 0;
  std::uint64_t first_length = 0;
  std::uint64_t second_begin = 0;
  std::uint64_t second_length = 0;

  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t length() const {
    return first_length + second_length;
  }
};

// A row of cuts is kRowHeader + fan_in numbers: the header, then each run's cut as a position in
// the input.
inline constexpr std::uint64_t kRowHeader = 3;
inline constexpr std::uint64_t kGroupEnd = ~std::uint64_t{0};
enum RowField : std::uint8_t {
  kOutputPosition,  // where the tile goes, or kGroupEnd
  kGroupPosition,   // the same, counted from the group's begin
  kSampleBegin,     // where the merged run's samples begin
};

// A tile of a pass whose groups are two runs, by the position of its keys in the group.
struct TileOfTwo {
  TwoRuns runs;
  std::uint64_t group = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // == begin: this tile has no keys
};

// Whether merges take keys that are not in ordered form yet. The engine has no such keys of 128
// bits, and mapping one would take 200 instructions.
template <class Key>
inline constexpr bool kMapsLoads = !kIsWide<Key>;

// Reads keys as they were given as ordered ones. Stands where a pointer to ordered keys stands.
template <class Key>
struct MappedReader {
  const Key* keys = nullptr;
  const KeyMap<Key>* map = nullptr;

  template <class Place>
  [[nodiscard]] GSORT_HOST_DEVICE constexpr Key operator[](Place place) const {
    return map->to_ordered(keys[place]);
  }
  template <class Distance>
  [[nodiscard]] friend GSORT_HOST_DEVICE constexpr MappedReader operator+(MappedReader reader,
                                                                          Distance distance) {
    return {reader.keys + distance, reader.map};
  }
};

template <class Key>
struct MergePass {
  const Key* input = nullptr;
  Key* output = nullptr;
  Key* samples = nullptr;  // of the runs; replaced by those of the merged runs
  std::uint32_t sample_shift = kReadSampleShift;  // of these samples
  bool writes_samples = false;  // false in the last pass; kWrittenSampleShift<Key> of the others
  bool maps = false;            // store_map is not the identity
  KeyMap<Key> store_map;
  // load_map is not the identity: the input and its samples are keys as they were given. Only of
  // the first pass, of launch_small_merge and launch_two_way_merge.
  bool loads_mapped = false;
  KeyMap<Key> load_map;
  RunTable runs;
  std::uint32_t fan_in = 2;
  std::uint64_t group_count = 0;
  std::uint64_t row_count = 0;
  std::uint64_t rows_per_group = 0;  // of even runs; of blocks that search, their tiles alone
  const std::uint64_t* group_first_row = nullptr;  // else: device memory, group_count entries
  std::uint64_t* rows = nullptr;
  bool two_arrays = false;  // `apart` is the only group
  TwoRuns apart;

  // `keys` of the input or of its samples, as what reads them: a pointer unless they are mapped.
  template <bool kMapped>
  [[nodiscard]] GSORT_HOST_DEVICE constexpr auto reader(const Key* keys) const {
    if constexpr (kMapped) {
      return MappedReader<Key>{keys, &load_map};
    } else {
      return keys;
    }
  }

  // The tile of a pass of fan-in 2 whose rows_per_group are tiles alone, none for a group's end.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr TileOfTwo tile_of_two(std::uint64_t tile,
                                                                  std::uint64_t tile_keys) const {
    TileOfTwo found;
    found.group = tile / rows_per_group;
    found.runs = two_runs(found.group);
    const std::uint64_t length = found.runs.length();
    const std::uint64_t begin = tile % rows_per_group * tile_keys;
    found.begin = begin < length ? begin : length;
    found.end = length - found.begin < tile_keys ? length : found.begin + tile_keys;
    return found;
  }

  [[nodiscard]] GSORT_HOST_DEVICE constexpr TwoRuns two_runs(std::uint64_t group) const {
    if (two_arrays) return apart;
    const std::uint64_t begin = runs.begin(2 * group);
    const std::uint64_t middle = runs.begin(2 * group + 1);
    return {begin, middle - begin, middle, runs.begin(2 * group + 2) - middle};
  }
};

}  // namespace gsort::gpu
