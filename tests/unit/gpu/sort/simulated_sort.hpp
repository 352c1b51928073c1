// A sort of long arrays on the CPU: tiles, samples, rows of cuts and merges, by the same index
// arithmetic as on the device; tiles and merge tiles are sorted by std::sort.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpu/merge/kway_cut.hpp"
#include "gpu/sort/long_arrays.hpp"

namespace gsort::gpu {

class SimulatedSort {
 public:
  using Keys = std::vector<std::uint32_t>;
  static constexpr std::uint32_t kShift = 2;

  SimulatedSort(const LongArrays& arrays, const LongPasses& passes, const Keys& input,
                std::uint64_t tiles)
      : arrays_(arrays),
        passes_(passes),
        output_(input.size()),
        buffer_(input.size()),
        samples_(samples_of_tile(tiles, passes.tile_keys, kShift)) {
    for (std::uint64_t tile = 0; tile < tiles; ++tile) sort_tile(input, tile);
  }

  // Returns false if a merge tile is too large, or its cuts do not ascend.
  template <unsigned kFanIn>
  bool merge(unsigned pass, const LongArrays& arrays, std::uint64_t rows,
             unsigned merge_tile_keys) {
    arrays_ = arrays;
    const bool to_output = (passes_.pass_count - 1 - pass) % 2 == 0;
    const Keys& from = to_output ? buffer_ : output_;
    Keys& to = to_output ? output_ : buffer_;
    std::vector<Row> all;
    for (std::uint64_t row = 0; row < rows; ++row) {
      const LongPlace place = arrays_.place_of_row(row);
      const GroupRow group =
          group_row(passes_, pass, place.array.length, place.index, merge_tile_keys);
      all.push_back({place, group, cut<kFanIn>(from, place, group)});
    }
    bool fits = true;
    for (std::uint64_t row = 0; row < rows; ++row) {
      if (!all[row].group.is_tile()) continue;
      Keys keys;
      for (unsigned lane = 0; lane < kFanIn; ++lane) {
        const std::uint64_t begin = all[row].cuts[lane];
        const std::uint64_t end = all.at(row + 1).cuts[lane];
        if (begin > end) return false;
        keys.insert(keys.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
                    from.begin() + static_cast<std::ptrdiff_t>(end));
      }
      fits = fits && keys.size() <= merge_tile_keys;
      std::sort(keys.begin(), keys.end());
      store(all[row], keys, to);
    }
    return fits;
  }

  [[nodiscard]] const Keys& output() const { return output_; }

 private:
  struct Row {
    LongPlace place;
    GroupRow group;
    std::vector<std::uint64_t> cuts;
  };

  void sort_tile(const Keys& input, std::uint64_t tile) {
    const SortedTile found = sorted_tile(arrays_, passes_, tile);
    if (found.count == 0) return;
    Keys& to = found.passes % 2 == 0 ? output_ : buffer_;
    const auto begin = static_cast<std::ptrdiff_t>(found.begin);
    std::copy_n(input.begin() + begin, found.count, to.begin() + begin);
    std::sort(to.begin() + begin, to.begin() + begin + found.count);
    if (found.passes == 0) return;
    const std::uint64_t first = samples_of_tile(found.number, passes_.tile_keys, kShift);
    for (unsigned i = 0; i < found.count; i += 1U << kShift) {
      samples_.at(first + (i >> kShift)) = to[found.begin + i];
    }
  }

  void store(const Row& row, const Keys& keys, Keys& to) {
    const std::uint64_t group_begin = row.place.array.begin + row.group.group_begin();
    const std::uint64_t samples = first_sample(row.place, row.group, row.group.first_run);
    for (std::uint64_t i = 0; i < keys.size(); ++i) {
      const std::uint64_t position = row.group.position() + i;
      to.at(group_begin + position) = keys[i];
      if (position % (1U << kShift) == 0) samples_.at(samples + (position >> kShift)) = keys[i];
    }
  }

  [[nodiscard]] std::uint64_t first_sample(const LongPlace& place, const GroupRow& group,
                                           std::uint64_t run) const {
    return samples_of_tile(place.array.first_tile + run * group.run_tiles, passes_.tile_keys,
                           kShift);
  }

  template <unsigned kFanIn>
  std::vector<std::uint64_t> cut(const Keys& from, const LongPlace& place, const GroupRow& group) {
    using Team = SerialTeam<kFanIn>;
    typename Team::template Each<SampledRun<std::uint32_t>> runs;
    typename Team::template Each<std::uint64_t> cuts;
    for (unsigned lane = 0; lane < kFanIn; ++lane) {
      const std::uint64_t run = group.first_run + lane;
      const std::uint64_t begin = group.run_begin(run);
      const std::uint64_t length = group.run_begin(run + 1) - begin;
      if (length == 0) continue;
      runs[lane] = {from.data() + place.array.begin + begin,
                    samples_.data() + first_sample(place, group, run), length};
    }
    kway_cut<Team, std::uint32_t>(Team{}, group.position(), kShift, runs, cuts);
    std::vector<std::uint64_t> positions(kFanIn);
    for (unsigned lane = 0; lane < kFanIn; ++lane) {
      positions[lane] = place.array.begin + group.run_begin(group.first_run + lane) + cuts[lane];
    }
    return positions;
  }

  LongArrays arrays_;
  LongPasses passes_;
  Keys output_;
  Keys buffer_;
  Keys samples_;
};

}  // namespace gsort::gpu
