// long_arrays: the arrays of a batch that are longer than a tile. Their tiles are sorted, then
// passes of k-way merging (merge_pass.hpp) join the tiles of each array, and never those of two.
// Index arithmetic alone, for the host and the device; long_sort_kernel.cuh has the kernels.
//
// Problem. All arrays go through the same launches, but a short array needs fewer passes than a
// long one, and only the device may know how long they are.
//
// Idea. Every array gets tiles of its own, numbered through all arrays, and rows of cuts of its
// own; which array a tile or a row belongs to follows from its number. The passes are those of the
// longest array that can be. An array that needs fewer starts with a later pass, so that all end
// with the last: then a pass has one input, one output, and one answer to whether it stores maps
// and samples. Before its start an array has no rows that exist; its tiles are sorted into the
// buffer that its first pass reads.
//
// Example. Tiles of 4 keys, passes of fan-in 2, 2. An array of 11 keys has tiles 0 1 2 and starts
// with pass 0: groups 0 1 | 2, then 01 2. The next, of 7 keys, has tiles 3 4 and starts with
// pass 1.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "gpu/merge/find_last.hpp"

namespace gsort::gpu {

struct LongArray {
  std::uint64_t begin = 0;       // position in the input
  std::uint64_t length = 0;      // in keys; 0: there is no such array
  std::uint64_t first_tile = 0;  // number of its first tile
};

// The merge passes that long arrays share.
struct LongPasses {
  static constexpr unsigned kMost = 32;

  unsigned tile_keys = 1;
  unsigned pass_count = 0;
  unsigned levels_from[kMost + 1] = {};  // two-way levels of this pass and all later ones

  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t tiles_of(std::uint64_t length) const {
    return (length + tile_keys - 1) / tile_keys;
  }
  // The pass with which an array of `tiles` tiles starts; pass_count for one tile.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned start_of(std::uint64_t tiles) const {
    unsigned pass = pass_count;
    while (pass > 0 && (std::uint64_t{1} << levels_from[pass]) < tiles) --pass;
    return pass;
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned fan_in(unsigned pass) const {
    return 1U << (levels_from[pass] - levels_from[pass + 1]);
  }
};

// A row of cuts of one pass, in terms of its array. Runs and positions count in the array, and end
// where the array ends.
struct GroupRow {
  std::uint64_t length = 0;      // of the array; 0: there is no such row
  std::uint64_t run_length = 0;  // of the array's runs in this pass; the last is shorter
  std::uint64_t run_tiles = 0;   // the same in tiles
  std::uint64_t first_run = 0;   // of the row's group
  std::uint64_t end_run = 0;
  std::uint64_t tile_position = 0;  // of the row's merge tile, in the group; may lie behind its end

  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t run_begin(std::uint64_t run) const {
    const std::uint64_t position = run * run_length;
    return position < length ? position : length;
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t group_begin() const {
    return run_begin(first_run);
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t group_length() const {
    return run_begin(end_run) - group_begin();
  }
  // Does a merge tile begin here? Else the row is the end of its group.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr bool is_tile() const {
    return tile_position < group_length();
  }
  // The position in the group that the row cuts at.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t position() const {
    return is_tile() ? tile_position : group_length();
  }
};

// Row `row` of an array of `length` keys in pass `pass`. Every whole group has as many rows as
// merge tiles begin in it, and one for its end.
[[nodiscard]] GSORT_HOST_DEVICE constexpr GroupRow group_row(const LongPasses& passes,
                                                             unsigned pass, std::uint64_t length,
                                                             std::uint64_t row,
                                                             unsigned merge_tile_keys) {
  const unsigned start = passes.start_of(passes.tiles_of(length));
  if (pass < start || length == 0) return {};
  const unsigned fan_in = passes.fan_in(pass);
  GroupRow found;
  found.run_tiles = std::uint64_t{1} << (passes.levels_from[start] - passes.levels_from[pass]);
  found.run_length = found.run_tiles * passes.tile_keys;
  const std::uint64_t group_length = found.run_length * fan_in;
  const std::uint64_t rows_a_group = (group_length + merge_tile_keys - 1) / merge_tile_keys + 1;
  // Both fit 32 bits: a launch has fewer than 2^32 rows, and arrays are bounded.
  const std::uint64_t group =
      static_cast<std::uint32_t>(row) / static_cast<std::uint32_t>(rows_a_group);
  found.first_run = group * fan_in;
  found.end_run = found.first_run + fan_in;
  found.tile_position = (row - group * rows_a_group) * merge_tile_keys;
  found.length = group * group_length < length ? length : 0;
  return found;
}

// How many rows an array of `length` keys has in a pass in which it takes part.
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t rows_of_array(std::uint64_t length,
                                                                      std::uint64_t run_length,
                                                                      unsigned fan_in,
                                                                      unsigned merge_tile_keys) {
  const std::uint64_t group_length = run_length * fan_in;
  const std::uint64_t whole_groups = (length - 1) / group_length;
  const std::uint64_t rest = length - whole_groups * group_length;
  return whole_groups * ((group_length + merge_tile_keys - 1) / merge_tile_keys + 1) +
         (rest + merge_tile_keys - 1) / merge_tile_keys + 1;
}

// Where the rows of an array begin if arrays differ in length: a number that grows, from one array
// to the next, by at least the rows that the array has in any pass. An array of t tiles in groups
// of at least f tiles each has at most tT / m + 2 (t / f + 1) rows, for merge tiles of at least m
// keys.
struct RowSlots {
  static constexpr unsigned kShift = 4;
  std::uint64_t scaled_rows_a_tile = 0;  // times 2^kShift, rounded up

  [[nodiscard]] static constexpr RowSlots of(std::uint64_t tile_keys,
                                             std::uint64_t least_merge_tile_keys,
                                             std::uint64_t least_fan_in) {
    const std::uint64_t divisor = least_merge_tile_keys * least_fan_in;
    const std::uint64_t dividend = (tile_keys * least_fan_in + 2 * least_merge_tile_keys) << kShift;
    return {(dividend + divisor - 1) / divisor};
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t first_row(std::uint64_t first_tile,
                                                                    std::uint64_t index) const {
    return (first_tile * scaled_rows_a_tile >> kShift) + 3 * index;
  }
};

// How many long arrays there are, and their tiles, in one number, so that the device counts both
// with one atomic addition: the old number gives an array its index and its first tile. For middle
// arrays (segmented_windows.hpp) it counts rows in place of tiles.
struct LongTicket {
  static constexpr unsigned kShift = 32;

  [[nodiscard]] GSORT_HOST_DEVICE static constexpr std::uint64_t of_array(std::uint64_t tiles) {
    return of_arrays(1, tiles);
  }
  [[nodiscard]] GSORT_HOST_DEVICE static constexpr std::uint64_t of_arrays(std::uint64_t arrays,
                                                                           std::uint64_t tiles) {
    return (arrays << kShift) + tiles;
  }
  [[nodiscard]] GSORT_HOST_DEVICE static constexpr std::uint64_t arrays(std::uint64_t ticket) {
    return ticket >> kShift;
  }
  [[nodiscard]] GSORT_HOST_DEVICE static constexpr std::uint64_t tiles(std::uint64_t ticket) {
    return ticket & ((std::uint64_t{1} << kShift) - 1);
  }
};

// Counters of the device, from before it sorts arrays of different lengths, and while it does.
struct SegmentedCounts {
  std::uint64_t long_ticket = 0;
  std::uint64_t tile_arrays = 0;    // arrays that take one tile of their own
  std::uint64_t windows = 0;        // listed ones (segmented_windows.hpp)
  std::uint64_t middle_ticket = 0;  // of middle arrays and their rows
  // Jobs that blocks took beyond their first (taken_jobs.cuh), of each launch.
  std::uint64_t taken_windows = 0;
  std::uint64_t taken_middle_windows = 0;
  std::uint64_t taken_tiles = 0;
  std::uint64_t taken_rows[LongPasses::kMost] = {};
  std::uint64_t met_blocks = 0;  // cooperative_launch.cuh
};

// An array, and which of its tiles or rows is meant.
struct LongPlace {
  LongArray array;
  std::uint64_t index = 0;
};

// All long arrays of a batch. Either of one length, or listed in device memory in any order, with
// ascending first tiles; arrays that take one tile of their own are listed apart, and have the
// numbers behind all tiles of the long ones.
struct LongArrays {
  std::uint64_t array_count = 0;  // of one length
  std::uint64_t array_keys = 0;
  std::uint64_t array_tiles = 0;
  std::uint64_t array_rows = 0;       // in this pass
  SegmentedCounts* counts = nullptr;  // else
  const LongArray* long_arrays = nullptr;
  const LongArray* tile_arrays = nullptr;
  RowSlots slots;

  // The tiles of listed arrays, including arrays with one tile of their own, and their rows.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t listed_tiles() const {
    return LongTicket::tiles(counts->long_ticket) + counts->tile_arrays;
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t listed_rows() const {
    return slots.first_row(LongTicket::tiles(counts->long_ticket),
                           LongTicket::arrays(counts->long_ticket));
  }

  [[nodiscard]] GSORT_HOST_DEVICE constexpr LongPlace place_of_tile(std::uint64_t tile) const {
    if (counts == nullptr) {
      // Tiles are fewer than 2^32: a launch has no more blocks.
      const std::uint64_t array =
          static_cast<std::uint32_t>(tile) / static_cast<std::uint32_t>(array_tiles);
      return {even_array(array), tile - array * array_tiles};
    }
    const std::uint64_t tiles = LongTicket::tiles(counts->long_ticket);
    if (tile >= tiles) {
      const std::uint64_t index = tile - tiles;
      return index < counts->tile_arrays ? LongPlace{tile_arrays[index], 0} : LongPlace{};
    }
    const LongArray* const list = long_arrays;
    const std::uint64_t index = find_last(LongTicket::arrays(counts->long_ticket), tile,
                                          [list](std::uint64_t i) { return list[i].first_tile; });
    return {list[index], tile - list[index].first_tile};
  }

  [[nodiscard]] GSORT_HOST_DEVICE constexpr LongPlace place_of_row(std::uint64_t row) const {
    if (counts == nullptr) {
      const std::uint64_t array =
          static_cast<std::uint32_t>(row) / static_cast<std::uint32_t>(array_rows);
      return {even_array(array), row - array * array_rows};
    }
    const std::uint64_t arrays = LongTicket::arrays(counts->long_ticket);
    if (row >= listed_rows()) return {};
    const LongArray* const list = long_arrays;
    const RowSlots all_slots = slots;
    const auto first_row = [list, all_slots](std::uint64_t i) {
      return all_slots.first_row(list[i].first_tile, i);
    };
    const std::uint64_t index = find_last(arrays, row, first_row);
    return {list[index], row - first_row(index)};
  }

 private:
  [[nodiscard]] GSORT_HOST_DEVICE constexpr LongArray even_array(std::uint64_t array) const {
    if (array >= array_count) return {};
    return {array * array_keys, array_keys, array * array_tiles};
  }
};

// The facts that a block has about its tile. No initial values: it lies in shared memory.
struct SortedTile {
  std::uint64_t begin;     // position in the input
  std::uint64_t in_array;  // position in its array
  std::uint64_t number;    // among all tiles of long arrays
  unsigned count;          // keys; 0: there is no such tile
  unsigned passes;         // that follow
};

[[nodiscard]] GSORT_HOST_DEVICE constexpr SortedTile sorted_tile(const LongArrays& arrays,
                                                                 const LongPasses& passes,
                                                                 std::uint64_t tile) {
  const LongPlace place = arrays.place_of_tile(tile);
  if (place.array.length == 0) return {0, 0, 0, 0, 0};
  const std::uint64_t skipped = place.index * passes.tile_keys;
  const std::uint64_t left = place.array.length - skipped;
  const std::uint64_t tiles = passes.tiles_of(place.array.length);
  return {place.array.begin + skipped, skipped, place.array.first_tile + place.index,
          left < passes.tile_keys ? static_cast<unsigned>(left) : passes.tile_keys,
          passes.pass_count - passes.start_of(tiles)};
}

// Where the samples of a tile begin, if every 2^shift-th key is one: each tile has room for those
// of a whole one, so that runs of whole tiles have theirs end to end.
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t samples_of_tile(std::uint64_t tile,
                                                                        unsigned tile_keys,
                                                                        std::uint32_t shift) {
  return tile * (tile_keys >> shift);
}

}  // namespace gsort::gpu
