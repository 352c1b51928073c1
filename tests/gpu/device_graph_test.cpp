// Sorts captured in a CUDA graph and replayed with other keys: a call queues the same work whatever
// the keys are, and waits for nothing.
#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "device_memory.hpp"
#include "distributions.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/distribute/device_pair_distribute.hpp"
#include "gpu/sort/device_sort.hpp"
#include "library/device_segments.hpp"

namespace gsort::gpu {
namespace {

template <class Key>
class DeviceGraph : public GpuTest {};

using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceGraph, KeyTypes);

// Sorts keys of several shapes, one after the other, by one graph.
template <class Key, class Sort>
void replay_with_changed_keys(std::size_t count, std::size_t scratch_bytes, const Sort& sort) {
  if (are_too_many(count)) return;
  const DeviceArray<Key> input(count);
  const DeviceArray<Key> output(count);
  const DeviceArray<unsigned char> scratch(scratch_bytes, 256 - DeviceArray<char>::kGuard);
  const CapturedGraph graph([&](cudaStream_t stream) {
    sort(KeySort<Key>{.input = input.get(),
                      .output = output.get(),
                      .count = count,
                      .scratch = {scratch.get(), scratch_bytes},
                      .stream = stream});
  });
  for (const Shape shape : {Shape::kUniform, Shape::kSorted, Shape::kZipf, Shape::kEqual,
                            Shape::kSawtooth, Shape::kUniform}) {
    std::vector<Key> keys = make_keys<Key>(shape, count, 3);
    graph.replay(input.get(), keys);
    std::sort(keys.begin(), keys.end());
    ASSERT_TRUE(output.values() == keys) << static_cast<int>(shape);
    ASSERT_TRUE(output.guards_hold() && scratch.guards_hold());
  }
}

TYPED_TEST(DeviceGraph, ReplaysSortsByMerging) {
  for (const std::size_t count : {std::size_t{5000}, std::size_t{300007}, std::size_t{5000011}}) {
    replay_with_changed_keys<TypeParam>(count, sort_keys_scratch_bytes<TypeParam>(count),
                                        [](const KeySort<TypeParam>& sort) { sort_keys(sort); });
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceGraph, ReplaysSortsByDistribution) {
  DistributionChoice choice;
  choice.least_keys = 0;
  for (const std::size_t count : {std::size_t{29000}, std::size_t{300007}, std::size_t{9000011}}) {
    replay_with_changed_keys<TypeParam>(
        count, sort_keys_by_distribution_scratch_bytes<TypeParam>(count, choice),
        [&](const KeySort<TypeParam>& sort) { sort_keys_by_distribution(sort, choice); });
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceGraph, ReplaysStableSortsOfPairsByDistribution) {
  DistributionChoice choice;
  choice.least_keys = 0;
  const std::size_t count = 29000;
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), 0U);
  const DeviceArray<TypeParam> keys_in(make_keys<TypeParam>(Shape::kUniform, count, 2));
  const DeviceArray<std::uint32_t> values_in(values);
  const DeviceArray<TypeParam> keys_out(count);
  const DeviceArray<std::uint32_t> values_out(count);
  const std::size_t bytes =
      sort_pairs_by_distribution_scratch_bytes<TypeParam, std::uint32_t>(count, choice);
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  const CapturedGraph graph([&](cudaStream_t stream) {
    sort_pairs_by_distribution<TypeParam, std::uint32_t>(
        {.input = {keys_in.get(), values_in.get()},
         .output = {keys_out.get(), values_out.get()},
         .count = count,
         .scratch = {scratch.get(), bytes},
         .stream = stream},
        choice);
  });
  for (const Shape shape : {Shape::kUniform, Shape::kZipf, Shape::kEqual, Shape::kSawtooth}) {
    const std::vector<TypeParam> keys = make_keys<TypeParam>(shape, count, 3);
    graph.replay(keys_in.get(), keys);
    std::vector<std::uint32_t> expected = values;
    std::stable_sort(expected.begin(), expected.end(),
                     [&](std::uint32_t x, std::uint32_t y) { return keys[x] < keys[y]; });
    ASSERT_TRUE(values_out.values() == expected) << static_cast<int>(shape);
    ASSERT_TRUE(values_out.guards_hold() && scratch.guards_hold());
  }
}

// Where each array begins, and where the last one ends.
using Offsets = std::vector<std::uint64_t>;

// The input of a call of the library, and its result: keys that are sorted in each of these
// arrays.
struct Arrays {
  Offsets before;  // empty if keys are not sorted
  Offsets after;
};

// Calls that give keys: of the keys before and after.
struct KeysCall {
  std::size_t scratch_bytes;
  std::function<void(const double*, double*, DeviceScratch, cudaStream_t)> call;
};

// Calls that give numbers of keys: where each key of each array was before.
struct NumbersCall {
  std::size_t scratch_bytes;
  // Takes keys, indices, and the numbers 0 to count - 1 as values.
  std::function<void(const double*, std::int64_t*, const std::int64_t*, DeviceScratch,
                     cudaStream_t)>
      call;
};

// Calls visit(begin, end) for the places of every array.
void for_each_array(const Offsets& offsets,
                    const std::function<void(std::ptrdiff_t, std::ptrdiff_t)>& visit) {
  for (std::size_t array = 0; array + 1 < offsets.size(); ++array) {
    visit(static_cast<std::ptrdiff_t>(offsets[array]),
          static_cast<std::ptrdiff_t>(offsets[array + 1]));
  }
}

void sort_each(std::vector<double>& keys, const Offsets& offsets) {
  for_each_array(offsets, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    std::sort(keys.begin() + begin, keys.begin() + end, std::greater<>());
  });
}

// With all numbers counted from the first key, or from that of each array.
std::vector<std::int64_t> numbers_of(const std::vector<double>& keys, const Offsets& offsets,
                                     bool of_each) {
  std::vector<std::int64_t> numbers(keys.size());
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  for_each_array(offsets, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    std::ranges::stable_sort(numbers.begin() + begin, numbers.begin() + end, std::greater<>(),
                             [&](std::int64_t i) { return keys[static_cast<std::size_t>(i)]; });
    for (auto i = begin; of_each && i < end; ++i) numbers[static_cast<std::size_t>(i)] -= begin;
  });
  return numbers;
}

// Values that are no NaN and no zero, whose order is that of the host; sorted in each array.
std::vector<double> doubles_of(Shape shape, std::size_t count, const Offsets& sorted) {
  std::vector<double> keys;
  for (const std::uint32_t key : make_keys<std::uint32_t>(shape, count, 5)) {
    keys.push_back(static_cast<double>(key % 50'000) - 25'000.5);
  }
  sort_each(keys, sorted);
  return keys;
}

using LibraryGraph = GpuTest;

constexpr Shape kReplayed[] = {Shape::kUniform, Shape::kSorted, Shape::kEqual, Shape::kZipf,
                               Shape::kUniform};

void replay_keys(const KeysCall& keys_call, const Arrays& arrays) {
  const std::size_t count = arrays.after.back();
  const DeviceArray<double> input(count);
  const DeviceArray<double> output(count);
  const DeviceArray<unsigned char> scratch(keys_call.scratch_bytes,
                                           256 - DeviceArray<char>::kGuard);
  const CapturedGraph graph([&](cudaStream_t stream) {
    keys_call.call(input.get(), output.get(), {scratch.get(), keys_call.scratch_bytes}, stream);
  });
  for (const Shape shape : kReplayed) {
    std::vector<double> keys = doubles_of(shape, count, arrays.before);
    graph.replay(input.get(), keys);
    sort_each(keys, arrays.after);
    ASSERT_TRUE(output.values() == keys) << static_cast<int>(shape);
    ASSERT_TRUE(output.guards_hold() && scratch.guards_hold());
  }
}

void replay_numbers(const NumbersCall& numbers, const Arrays& arrays, bool of_each) {
  const std::size_t count = arrays.after.back();
  std::vector<std::int64_t> positions(count);
  std::iota(positions.begin(), positions.end(), std::int64_t{0});
  const DeviceArray<double> input(count);
  const DeviceArray<std::int64_t> values(positions);
  const DeviceArray<std::int64_t> output(count);
  const DeviceArray<unsigned char> scratch(numbers.scratch_bytes, 256 - DeviceArray<char>::kGuard);
  const CapturedGraph graph([&](cudaStream_t stream) {
    numbers.call(input.get(), output.get(), values.get(), {scratch.get(), numbers.scratch_bytes},
                 stream);
  });
  for (const Shape shape : kReplayed) {
    const std::vector<double> keys = doubles_of(shape, count, arrays.before);
    graph.replay(input.get(), keys);
    ASSERT_TRUE(output.values() == numbers_of(keys, arrays.after, of_each))
        << static_cast<int>(shape);
    ASSERT_TRUE(output.guards_hold() && scratch.guards_hold());
  }
}

// Small sorts and merges have kernels of their own.
constexpr std::uint64_t kCounts[] = {20'011, 100'003, 2'500'003};

TEST_F(LibraryGraph, ReplaysSortsOfKeys) {
  for (const std::uint64_t count : kCounts) {
    if (are_too_many(count)) continue;
    replay_keys({device_sort_scratch_bytes<double>(count),
                 [&](const double* keys, double* out, DeviceScratch scratch, cudaStream_t stream) {
                   sort_device_keys(keys, out, count, Order::kDescending, scratch, stream);
                 }},
                {{}, {0, count}});
  }
}

TEST_F(LibraryGraph, ReplaysStableSortsOfPairsAndNumbers) {
  for (const std::uint64_t count : kCounts) {
    if (are_too_many(count)) continue;
    const DeviceArray<double> sorted(count);
    replay_numbers({device_pairs_scratch_bytes<double, std::int64_t>(count),
                    [&](const double* keys, std::int64_t* out, const std::int64_t* values,
                        DeviceScratch scratch, cudaStream_t stream) {
                      sort_device_pairs(keys, sorted.get(), values, out, count, Order::kDescending,
                                        scratch, stream);
                    }},
                   {{}, {0, count}}, false);
    replay_numbers({device_argsort_scratch_bytes<double, std::int64_t>(count),
                    [&](const double* keys, std::int64_t* out, const std::int64_t* /*values*/,
                        DeviceScratch scratch, cudaStream_t stream) {
                      argsort_device_keys(keys, out, count, Order::kDescending, scratch, stream);
                    }},
                   {{}, {0, count}}, false);
  }
}

// The offsets, each multiplied by `factor`.
Offsets stretched(Offsets offsets, std::uint64_t factor) {
  for (std::uint64_t& offset : offsets) offset *= factor;
  return offsets;
}

TEST_F(LibraryGraph, ReplaysSegments) {
  for (const std::uint64_t factor : {1U, 7U}) {
    const Offsets offsets = stretched({0, 5, 5, 900, 1'000, 19'000, 19'001, 20'000}, factor);
    if (are_too_many(offsets.back())) continue;
    const DeviceArray<std::uint64_t> device_offsets(offsets);
    const DeviceSegments segments{.array_count = offsets.size() - 1,
                                  .offsets = device_offsets.get(),
                                  .count = offsets.back()};
    replay_keys({device_segments_scratch_bytes<double>(segments),
                 [&](const double* keys, double* out, DeviceScratch scratch, cudaStream_t stream) {
                   sort_device_segments(keys, out, segments, Order::kDescending, scratch, stream);
                 }},
                {{}, offsets});
    const DeviceArray<double> sorted(offsets.back());
    const std::size_t bytes = device_segment_pairs_scratch_bytes<double>(segments);
    replay_numbers({bytes,
                    [&](const double* keys, std::int64_t* out, const std::int64_t* values,
                        DeviceScratch scratch, cudaStream_t stream) {
                      sort_device_segment_pairs(keys, sorted.get(), values, out, segments,
                                                Order::kDescending, scratch, stream);
                    }},
                   {{}, offsets}, false);
    replay_numbers({bytes,
                    [&](const double* keys, std::int64_t* out, const std::int64_t* /*values*/,
                        DeviceScratch scratch, cudaStream_t stream) {
                      argsort_device_segments(keys, out, segments, Order::kDescending, scratch,
                                              stream);
                    }},
                   {{}, offsets}, true);
  }
}

TEST_F(LibraryGraph, ReplaysBatchesOfShortAndLongArrays) {
  for (const std::uint64_t array_keys : {30U, 1'000U, 9'000U, 70'000U}) {
    constexpr std::uint64_t kArrays = 3;
    if (are_too_many(kArrays * array_keys)) continue;
    replay_keys({device_batch_scratch_bytes<double>(kArrays, array_keys),
                 [&](const double* keys, double* out, DeviceScratch scratch, cudaStream_t stream) {
                   sort_device_batch(keys, out, kArrays, array_keys, Order::kDescending, scratch,
                                     stream);
                 }},
                {{}, stretched({0, 1, 2, 3}, array_keys)});
  }
}

TEST_F(LibraryGraph, ReplaysMergesOfTwoArrays) {
  for (const std::uint64_t count : kCounts) {
    if (are_too_many(count)) continue;
    const std::uint64_t half = count / 3;
    replay_keys({device_merge_scratch_bytes<double>(count),
                 [&](const double* keys, double* out, DeviceScratch scratch, cudaStream_t stream) {
                   merge_device_keys(keys, half, keys + half, count - half, out, Order::kDescending,
                                     scratch, stream);
                 }},
                {{0, half, count}, {0, count}});
    const DeviceArray<double> sorted(count);
    replay_numbers({device_pair_merge_scratch_bytes<double, std::int64_t>(count),
                    [&](const double* keys, std::int64_t* out, const std::int64_t* values,
                        DeviceScratch scratch, cudaStream_t stream) {
                      merge_device_pairs(keys, values, half, keys + half, values + half,
                                         count - half, sorted.get(), out, Order::kDescending,
                                         scratch, stream);
                    }},
                   {{0, half, count}, {0, count}}, false);
  }
}

// More than eight slices take two passes.
TEST_F(LibraryGraph, ReplaysMergesOfSlices) {
  for (const Offsets& offsets :
       {Offsets{0, 4'000, 4'001, 9'000, 9'000, 15'000}, Offsets{0, 40'000, 40'001, 90'000, 150'000},
        Offsets{0, 1, 2'000, 2'000, 3'500, 4'000, 6'000, 7'000, 9'000, 15'000, 20'000}}) {
    const std::uint64_t count = offsets.back();
    if (are_too_many(count)) continue;
    // The counts are overwritten when they have been read.
    Offsets counts;
    const auto read_counts = [&] {
      counts.resize(offsets.size());
      std::adjacent_difference(offsets.begin(), offsets.end(), counts.begin());
      return counts.data() + 1;
    };
    const auto slice_count = static_cast<std::uint32_t>(offsets.size() - 1);
    replay_keys({device_slices_scratch_bytes<double>(count, slice_count),
                 [&](const double* keys, double* out, DeviceScratch scratch, cudaStream_t stream) {
                   merge_device_slices(keys, read_counts(), slice_count, out, Order::kDescending,
                                       scratch, stream);
                   std::ranges::fill(counts, 0);
                 }},
                {offsets, {0, count}});
    const DeviceArray<double> sorted(count);
    replay_numbers({device_pair_slices_scratch_bytes<double, std::int64_t>(count, slice_count),
                    [&](const double* keys, std::int64_t* out, const std::int64_t* values,
                        DeviceScratch scratch, cudaStream_t stream) {
                      merge_device_pair_slices(keys, values, read_counts(), slice_count,
                                               sorted.get(), out, Order::kDescending, scratch,
                                               stream);
                      std::ranges::fill(counts, 0);
                    }},
                   {offsets, {0, count}}, false);
  }
}

}  // namespace
}  // namespace gsort::gpu
