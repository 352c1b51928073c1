// Shared by the tests of sorts by distribution, of keys and of pairs: choices, elements, sizes, and
// a sort that is compared with std::stable_sort of a copy taken before the call.
#pragma once

#include <string>
#include <vector>

#include "device_memory.hpp"
#include "distributions.hpp"
#include "gpu/cuda/tuning.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/distribute/device_pair_distribute.hpp"
#include "gpu/distribute/launch.hpp"
#include "pairs_on_both.hpp"

namespace gsort::gpu {

using DistributedKeys =
    ::testing::Types<Types<std::uint32_t, NoValue>, Types<std::uint64_t, NoValue>>;
using DistributedElements =
    ::testing::Types<Types<std::uint32_t, NoValue>, Types<std::uint64_t, NoValue>,
                     Types<std::uint64_t, std::uint32_t>, Types<std::uint64_t, std::uint64_t>>;
using DistributedPairs =
    ::testing::Types<Types<std::uint64_t, std::uint32_t>, Types<std::uint64_t, std::uint64_t>>;

// Distributes as few elements as there are.
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

template <class T>
std::size_t distribution_bytes(std::uint64_t count, const DistributionChoice& choice = {}) {
  using Key = typename T::Key;
  if constexpr (kHasValues<typename T::Value>) {
    return sort_many_pairs_scratch_bytes<Key, typename T::Value>(count, choice);
  } else {
    return sort_keys_by_distribution_scratch_bytes<Key>(count, choice);
  }
}

template <class T>
void distribute(const ElementSort<typename T::Key, typename T::Value>& sort,
                const DistributionChoice& choice) {
  if constexpr (kHasValues<typename T::Value>) {
    sort_many_pairs(sort, choice);
  } else {
    sort_keys_by_distribution(sort, choice);
  }
}

template <class T>
void sort_and_compare(const HostPairs<T>& elements, const Case<typename T::Key>& how,
                      const std::string& what) {
  const std::size_t count = elements.count();
  if (is_left_out(count)) return;
  const HostPairs<T> expected = stably_sorted(elements, how.load_map, how.store_map);
  const DevicePairArrays<T> input(elements, how.misalign);
  const DevicePairArrays<T> apart(how.in_place ? 0 : count, how.misalign);
  const DevicePairArrays<T>& output = how.in_place ? input : apart;
  const std::size_t bytes = distribution_bytes<T>(count, how.choice);
  const Scratch scratch(bytes, kScratchShift);
  distribute<T>({.input = input.get(),
                 .output = output.get(),
                 .count = count,
                 .load_map = how.load_map,
                 .store_map = how.store_map,
                 .scratch = {scratch.get(), bytes}},
                how.choice);
  const HostPairs<T> found = output.pairs();
  ASSERT_TRUE(found.keys == expected.keys) << "keys, " << what << ", " << count;
  ASSERT_TRUE(found.values == expected.values) << "values, " << what << ", " << count;
  ASSERT_TRUE(output.guards_hold() && input.guards_hold() && scratch.guards_hold()) << what;
  ASSERT_TRUE(how.in_place || input.pairs() == elements) << what << ": the input changed";
}

// Elements with keys of a shape; their values tell where they were.
template <class T>
HostPairs<T> elements_of(Shape shape, std::size_t count, std::uint64_t seed) {
  return with_positions<T>(make_keys<typename T::Key>(shape, count, seed));
}

// The beginning of the scratch memory after a sort in place.
template <class Word, class T>
std::vector<Word> scratch_of_sort(const HostPairs<T>& elements, const DistributionChoice& choice,
                                  std::size_t words) {
  const DevicePairArrays<T> array(elements, 0);
  const std::size_t bytes = distribution_bytes<T>(elements.count(), choice);
  const Scratch scratch(bytes, kScratchShift);
  distribute<T>({.input = array.get(),
                 .output = array.get(),
                 .count = elements.count(),
                 .scratch = {scratch.get(), bytes}},
                choice);
  wait_for_device();
  std::vector<Word> begin(words);
  check_cuda(cudaMemcpy(begin.data(), scratch.get(), words * sizeof(Word), cudaMemcpyDeviceToHost),
             CudaCall::kCopy, "copying from the GPU");
  cases_of_test.run = 1;
  return begin;
}

// The counters of the device.
template <class T>
DistributionCounts counts_of_sort(const HostPairs<T>& elements, const DistributionChoice& choice) {
  return scratch_of_sort<DistributionCounts>(elements, choice, 1).front();
}

// Around a warp's elements, a tile of the distribution, a tile of the block sort, and several of
// each.
template <class T>
std::vector<std::size_t> border_sizes() {
  using Key = typename T::Key;
  std::vector<std::size_t> sizes{128, 129, 255, 257, 511, 513, 1000, 2047, 2049, 1234567};
  const std::size_t sort_tile = tuning_for<ElementOf<Key, typename T::Value>>(90).block_sort_keys();
  std::size_t tile_keys = kFirstDistribution<Key>.tile_keys();
  if constexpr (kHasValues<typename T::Value>) {
    tile_keys = kPairDistribution<Key, typename T::Value>.tile_keys();
  }
  for (const std::size_t tile :
       {tile_keys, sort_tile, std::size_t{packed_tile_keys<Key>(sort_tile)}}) {
    for (const std::size_t times : {1U, 2U, 3U, 8U, 9U, 33U}) {
      for (const std::size_t near : {tile * times - 1, tile * times, tile * times + 1}) {
        sizes.push_back(near);
      }
    }
  }
  return sizes;
}

}  // namespace gsort::gpu
