// Shared by the tests of sorts by distribution: choices, sizes, and a sort that is compared with
// std::sort of a copy taken before the call.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "device_memory.hpp"
#include "distributions.hpp"
#include "gpu/cuda/tuning.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/distribute/launch.hpp"

namespace gsort::gpu {

// Distributes as few keys as there are.
inline DistributionChoice choice_of(unsigned first_bits, unsigned second_bits,
                                    std::uint64_t seed = 1) {
  return {seed, 0, first_bits, second_bits};
}

// One distribution, whose buckets are sorted as wholes: some long, some of one key, some crowded.
inline DistributionChoice once(unsigned first_bits = 0, std::uint64_t seed = 1) {
  return {.seed = seed, .least_keys = 0, .first_bits = first_bits, .once = true};
}

// The same choice, but tiles are merged instead of divided into cells by a sample.
inline DistributionChoice merging(DistributionChoice choice) {
  choice.most_of_cell = 0;
  return choice;
}

template <class Key>
struct Case {
  DistributionChoice choice;
  KeyMap<Key> load_map{};
  KeyMap<Key> store_map{};
  std::size_t misalign = 0;
  bool in_place = false;
};

template <class Key>
void sort_and_compare(const std::vector<Key>& keys, const Case<Key>& how, const std::string& what) {
  if (is_left_out(keys.size())) return;
  std::vector<Key> expected = keys;
  for (Key& key : expected) key = how.load_map.to_ordered(key);
  std::sort(expected.begin(), expected.end());
  for (Key& key : expected) key = how.store_map.to_raw(key);

  const DeviceArray<Key> input(keys, how.misalign);
  const DeviceArray<Key> apart(how.in_place ? 0 : keys.size(), how.misalign);
  const DeviceArray<Key>& output = how.in_place ? input : apart;
  const std::size_t bytes = sort_keys_by_distribution_scratch_bytes<Key>(keys.size(), how.choice);
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  sort_keys_by_distribution<Key>({.input = input.get(),
                                  .output = output.get(),
                                  .count = keys.size(),
                                  .load_map = how.load_map,
                                  .store_map = how.store_map,
                                  .scratch = {scratch.get(), bytes}},
                                 how.choice);
  ASSERT_TRUE(output.values() == expected) << what << ", " << keys.size() << " keys";
  ASSERT_TRUE(output.guards_hold() && scratch.guards_hold()) << what;
  ASSERT_TRUE(how.in_place || input.values() == keys) << what << ": the input changed";
}

// Around a tile of the distribution, a tile of the block sort, and several of each.
template <class Key>
std::vector<std::size_t> border_sizes() {
  std::vector<std::size_t> sizes{128, 129, 255, 257, 1000, 2047, 2049, 1234567};
  const std::size_t sort_tile = tuning_for<Key>(90).block_sort_keys();
  for (const std::size_t tile : {std::size_t{kFirstDistribution<Key>.tile_keys()}, sort_tile,
                                 std::size_t{packed_tile_keys<Key>(sort_tile)}}) {
    for (const std::size_t times : {1U, 2U, 3U, 8U, 9U, 33U}) {
      for (const std::size_t near : {tile * times - 1, tile * times, tile * times + 1}) {
        sizes.push_back(near);
      }
    }
  }
  return sizes;
}

}  // namespace gsort::gpu
