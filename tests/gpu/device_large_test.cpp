// Sorts and merges of more keys than 31 and 32 bits can count. They take about 100 GiB of device
// memory; where there is less they skip.
#include <algorithm>
#include <string>
#include <vector>

#include "device_memory.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/distribute/device_pair_distribute.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/records/device_pairs.hpp"
#include "gpu/segmented/device_batch.hpp"
#include "gpu/sort/device_sort.hpp"
#include "large_inputs.hpp"

namespace gsort::gpu {
namespace {

using Key = std::uint32_t;

constexpr std::uint64_t kTwo31 = std::uint64_t{1} << 31;
constexpr std::uint64_t kTwo32 = std::uint64_t{1} << 32;
constexpr std::uint64_t kCounts[] = {kTwo31 - 1, kTwo31, kTwo31 + 1, kTwo32 + 3};

// Keys of all counts fit 32 bits, and the largest count repeats each of them.
unsigned shift_for(std::uint64_t count) {
  return count > kTwo32 ? 1 : 0;
}

class DeviceLarge : public GpuTest {
 protected:
  // Skips unless this many bytes are free, and some more for their surroundings.
  static bool lacks_memory(std::uint64_t bytes) {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), CudaCall::kQuery,
               "asking for free device memory");
    return free_bytes < bytes + (std::uint64_t{1} << 30);
  }

  template <class T>
  static void expect_sorted(std::uint64_t count) {
    const std::size_t bytes = sort_keys_scratch_bytes<T>(count);
    if (lacks_memory(count * sizeof(T) + bytes)) GTEST_SKIP() << "too little device memory";
    const DeviceArray<T> keys(count);
    const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
    const ScatteredKeys scattered{count, count, shift_for(count)};
    fill_scattered(scattered, keys.get());
    sort_keys<T>({.input = keys.get(),
                  .output = keys.get(),
                  .count = count,
                  .scratch = {scratch.get(), bytes}});
    EXPECT_EQ(count_wrong(scattered, keys.get()), 0U) << count;
  }

  template <class T = Key>
  static void expect_distributed(std::uint64_t count, const DistributionChoice& choice) {
    const std::size_t bytes = sort_keys_by_distribution_scratch_bytes<T>(count, choice);
    if (lacks_memory(count * sizeof(T) + bytes)) GTEST_SKIP() << "too little device memory";
    const DeviceArray<T> keys(count);
    const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
    const ScatteredKeys scattered{count, count, shift_for(count)};
    fill_scattered(scattered, keys.get());
    sort_keys_by_distribution<T>({.input = keys.get(),
                                  .output = keys.get(),
                                  .count = count,
                                  .scratch = {scratch.get(), bytes}},
                                 choice);
    EXPECT_EQ(count_wrong(scattered, keys.get()), 0U) << count;
  }

  // Sorts by merging, then by distributing; `fill` makes the input, `wrong` counts in the output.
  template <class T, class Value, class Fill, class Wrong>
  static void expect_sorted_pairs(std::uint64_t count, const Fill& fill, const Wrong& wrong) {
    constexpr DistributionChoice kAlways{.least_keys = 0};
    const std::size_t bytes = std::max(sort_pairs_scratch_bytes<T, Value>(count),
                                       sort_many_pairs_scratch_bytes<T, Value>(count, kAlways));
    if (lacks_memory(count * (sizeof(T) + sizeof(Value)) + bytes)) {
      GTEST_SKIP() << "too little device memory";
    }
    const DeviceArray<T> keys(count);
    const DeviceArray<Value> values(count);
    const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
    const Pairs<T, Value> pairs{keys.get(), values.get()};
    const PairSort<T, Value> sort{
        .input = pairs, .output = pairs, .count = count, .scratch = {scratch.get(), bytes}};
    fill(pairs);
    sort_pairs<T, Value>(sort);
    EXPECT_EQ(wrong(pairs), 0U) << count << " merged";
    fill(pairs);
    sort_many_pairs<T, Value>(sort, kAlways);
    EXPECT_EQ(wrong(pairs), 0U) << count << " distributed";
  }

  // A pair's value is its key again, so that keys and values must have travelled together.
  template <class T, class Value>
  static void expect_keys_with_values(std::uint64_t count) {
    const ScatteredKeys scattered{count, count, shift_for(count)};
    expect_sorted_pairs<T, Value>(
        count,
        [&](const Pairs<T, Value>& pairs) {
          fill_scattered(scattered, pairs.keys);
          fill_scattered(scattered, pairs.values);
        },
        [&](const Pairs<T, Value>& pairs) {
          return count_wrong(scattered, pairs.keys) + count_wrong(scattered, pairs.values);
        });
  }
};

TEST_F(DeviceLarge, KeysAreSorted) {
  for (const std::uint64_t count : kCounts) expect_sorted<Key>(count);
}

TEST_F(DeviceLarge, KeysOf8BytesAreSorted) {
  for (const std::uint64_t count : {kTwo31 + 1, kTwo32 + 3}) {
    expect_sorted<std::uint64_t>(count);
    expect_distributed<std::uint64_t>(count, {});
  }
}

TEST_F(DeviceLarge, KeysAreDistributed) {
  for (const std::uint64_t count : kCounts) expect_distributed(count, {.least_keys = 0});
}

TEST_F(DeviceLarge, KeysAreDistributedInPieces) {
  for (const std::uint64_t count : kCounts) expect_distributed(count, {});
}

TEST_F(DeviceLarge, SlicesAreMerged) {
  for (const std::uint64_t count : kCounts) {
    for (const std::uint32_t slices : {2U, 5U, 9U}) {
      std::vector<std::uint64_t> counts;
      for (std::uint32_t slice = 0; slice < slices; ++slice) {
        counts.push_back(slice_count(count, slices, slice));
      }
      const std::size_t bytes = merge_slices_scratch_bytes<Key>(count, slices);
      if (lacks_memory(2 * count * sizeof(Key) + bytes)) GTEST_SKIP() << "too little device memory";
      const DeviceArray<Key> in(count);
      const DeviceArray<Key> out(count);
      const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
      fill_slices(count, slices, shift_for(count), in.get());
      merge_slices<Key>({.input = in.get(),
                         .slice_counts = counts.data(),
                         .slice_count = slices,
                         .output = out.get(),
                         .scratch = {scratch.get(), bytes}});
      EXPECT_EQ(count_wrong({count, count, shift_for(count)}, out.get()), 0U)
          << slices << " slices of " << count;
    }
  }
}

TEST_F(DeviceLarge, BatchesAreSorted) {
  for (const std::uint64_t length : {std::uint64_t{4096}, std::uint64_t{100003}, kTwo31 + 1}) {
    const std::uint64_t arrays = kTwo32 / length + 1;
    const std::uint64_t count = arrays * length;
    const std::size_t bytes = sort_batch_scratch_bytes<Key>(arrays, length);
    if (lacks_memory(count * sizeof(Key) + bytes)) GTEST_SKIP() << "too little device memory";
    const DeviceArray<Key> keys(count);
    const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
    const ScatteredKeys scattered{count, length, 0};
    fill_scattered(scattered, keys.get());
    sort_batch<Key>({.input = keys.get(),
                     .output = keys.get(),
                     .array_count = arrays,
                     .array_keys = length,
                     .scratch = {scratch.get(), bytes}});
    EXPECT_EQ(count_wrong(scattered, keys.get()), 0U) << arrays << " x " << length;
  }
}

TEST_F(DeviceLarge, ArraysGivenByOffsetsAreSorted) {
  constexpr std::uint64_t kLength = 100003;
  constexpr std::uint64_t kArrays = kTwo32 / kLength + 1;
  constexpr std::uint64_t kCount = kArrays * kLength;
  const std::size_t bytes = sort_segmented_batch_scratch_bytes<Key>(kArrays, kCount);
  if (lacks_memory(kCount * sizeof(Key) + bytes)) GTEST_SKIP() << "too little device memory";
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t array = 0; array <= kArrays; ++array) offsets.push_back(array * kLength);
  const DeviceArray<std::uint64_t> table(offsets);
  const DeviceArray<Key> keys(kCount);
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  const ScatteredKeys scattered{kCount, kLength, 0};
  fill_scattered(scattered, keys.get());
  sort_segmented_batch<Key>({.input = keys.get(),
                             .output = keys.get(),
                             .offsets = table.get(),
                             .array_count = kArrays,
                             .count = kCount,
                             .scratch = {scratch.get(), bytes}});
  EXPECT_EQ(count_wrong(scattered, keys.get()), 0U);
}

TEST_F(DeviceLarge, PairsAreSorted) {
  for (const std::uint64_t count : kCounts) expect_keys_with_values<Key, Key>(count);
}

TEST_F(DeviceLarge, PairsWithKeysOf8BytesAreSorted) {
  for (const std::uint64_t count : {kTwo31 + 1, kTwo32 + 3}) {
    expect_keys_with_values<std::uint64_t, std::uint32_t>(count);
  }
}

// Each key but the last is there twice, so the order of equal ones shows.
TEST_F(DeviceLarge, PairsOf16BytesAreSortedStably) {
  using Wide = std::uint64_t;
  static constexpr ScatteredKeys kScattered{kTwo31 + 1, kTwo31 + 1, 1};
  expect_sorted_pairs<Wide, Wide>(
      kScattered.count,
      [](const Pairs<Wide, Wide>& pairs) {
        fill_scattered(kScattered, pairs.keys);
        fill_positions(kScattered.count, pairs.values);
      },
      [](const Pairs<Wide, Wide>& pairs) {
        return count_misplaced(kScattered, pairs.keys, pairs.values);
      });
}

}  // namespace
}  // namespace gsort::gpu
