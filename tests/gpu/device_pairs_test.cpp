// sort_pairs and merge_pair_slices on the card, against std::stable_sort of a copy taken before the
// call. A value is made from its pair's position, so each tells where it came from.
#include "gpu/records/device_pairs.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "distributions.hpp"
#include "gpu/cuda/tuning.hpp"
#include "pairs_on_both.hpp"

namespace gsort::gpu {
namespace {

using PairTypes =
    ::testing::Types<Types<std::uint32_t, std::uint32_t>, Types<std::uint32_t, std::uint64_t>,
                     Types<std::uint64_t, std::uint32_t>, Types<std::uint64_t, std::uint64_t>>;

template <class T>
class DevicePairs : public GpuTest {};
TYPED_TEST_SUITE(DevicePairs, PairTypes);

template <class T>
void sort_and_compare(const HostPairs<T>& pairs, KeyMap<typename T::Key> load_map,
                      KeyMap<typename T::Key> store_map, std::size_t misalign, bool in_place,
                      const std::string& what) {
  if (is_left_out(pairs.count())) return;
  const HostPairs<T> expected = stably_sorted(pairs, load_map, store_map);
  const DevicePairArrays<T> input(pairs, misalign);
  const DevicePairArrays<T> apart(in_place ? 0 : pairs.count(), misalign);
  const DevicePairArrays<T>& output = in_place ? input : apart;
  const auto bytes = sort_pairs_scratch_bytes<typename T::Key, typename T::Value>(pairs.count());
  const Scratch scratch(bytes, kScratchShift);
  sort_pairs<typename T::Key, typename T::Value>({.input = input.get(),
                                                  .output = output.get(),
                                                  .count = pairs.count(),
                                                  .load_map = load_map,
                                                  .store_map = store_map,
                                                  .scratch = {scratch.get(), bytes}});
  const HostPairs<T> found = output.pairs();
  ASSERT_TRUE(found.keys == expected.keys) << "keys, " << what << ", " << pairs.count();
  ASSERT_TRUE(found.values == expected.values) << "values, " << what << ", " << pairs.count();
  ASSERT_TRUE(output.guards_hold() && input.guards_hold() && scratch.guards_hold()) << what;
  ASSERT_TRUE(in_place || input.pairs() == pairs) << what << ": the input changed";
}

template <class T>
constexpr KernelTuning kTuningOf = tuning_for<PairOf<typename T::Key, typename T::Value>>(90);

// Sizes at the borders of a thread's words, a block sort's tile and a merge's tile, times fan-ins.
template <class T>
std::vector<std::size_t> border_sizes() {
  constexpr KernelTuning kTuning = kTuningOf<T>;
  std::vector<std::size_t> sizes{0, 1, 2, 3, 31, 32, 33, 63, 65, 1000};
  const auto around = [&](std::size_t size) {
    for (const std::size_t near : {size - 1, size, size + 1}) sizes.push_back(near);
  };
  around(kTuning.keys_per_thread);
  for (const std::size_t times : {1U, 2U, 3U, 4U, 5U, 8U, 9U, 16U, 64U, 65U}) {
    around(times * kTuning.block_sort_keys());
  }
  for (const unsigned fan_in : {2U, 4U, 8U}) around(kTuning.merge_tile_keys(fan_in) * 9);
  sizes.push_back(1234567);
  return sizes;
}

TYPED_TEST(DevicePairs, AreSortedAtEverySizeAtABorder) {
  using Key = typename TypeParam::Key;
  for (const std::size_t size : border_sizes<TypeParam>()) {
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct}) {
      sort_and_compare(with_positions<TypeParam>(make_keys<Key>(shape, size, size)), {}, {}, 0,
                       false, "at a border");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DevicePairs, OfEveryShapeAreSortedStably) {
  using Key = typename TypeParam::Key;
  const std::size_t tile = kTuningOf<TypeParam>.block_sort_keys();
  for (const NamedShape& named : kShapes) {
    for (const std::size_t size : {std::size_t{777}, tile, tile * 5 + 3, std::size_t{3} << 20}) {
      if (are_too_many(size)) continue;
      sort_and_compare(with_positions<TypeParam>(make_keys<Key>(named.shape, size, 5)), {}, {}, 0,
                       false, std::string(named.name));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DevicePairs, AreSortedInPlaceAndAtAnyAlignment) {
  using Key = typename TypeParam::Key;
  for (const std::size_t size : {std::size_t{5000}, std::size_t{100001}, std::size_t{1} << 20}) {
    if (are_too_many(size)) continue;
    for (const std::size_t misalign : {0U, 1U, 2U, 3U}) {
      for (const bool in_place : {false, true}) {
        sort_and_compare(with_positions<TypeParam>(make_keys<Key>(Shape::kSawtooth, size, 1)), {},
                         {}, misalign, in_place, "misaligned by " + std::to_string(misalign));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(DevicePairs, HaveTheirKeysMapped) {
  using Key = typename TypeParam::Key;
  for (const KeyType type : kAllKeyTypes) {
    if (bytes_of(type) != sizeof(Key)) continue;
    for (const bool big_endian : {false, true}) {
      for (const bool descending : {false, true}) {
        const auto map = KeyMap<Key>::of({type, big_endian, descending});
        for (const std::size_t size : {std::size_t{3001}, std::size_t{200000}}) {
          if (are_too_many(size)) continue;
          const auto pairs = with_positions<TypeParam>(make_keys<Key>(Shape::kUniform, size, 9));
          sort_and_compare(pairs, map, map, 0, true, std::string(name_of(type)));
          sort_and_compare(pairs, map, KeyMap<Key>{}, 1, false, std::string(name_of(type)));
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

template <class T>
struct PairSlices {
  HostPairs<T> pairs;
  std::vector<std::uint64_t> counts;
};

// Keys of a shape, cut at random places and sorted; some slices are empty, some hold one pair.
template <class T>
PairSlices<T> make_slices(Shape shape, std::uint32_t slice_count, std::uint64_t mean,
                          std::uint64_t seed) {
  std::mt19937_64 random(seed);
  PairSlices<T> slices;
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < slice_count; ++i) {
    const std::uint64_t kind = random() % 8;
    const std::uint64_t count = kind == 0 ? 0 : (kind == 1 ? 1 : random() % (2 * mean + 1));
    slices.counts.push_back(count);
    total += count;
  }
  auto keys = make_keys<typename T::Key>(shape, total, seed);
  auto begin = keys.begin();
  for (const std::uint64_t count : slices.counts) {
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(count));
    begin += static_cast<std::ptrdiff_t>(count);
  }
  slices.pairs = with_positions<T>(std::move(keys));
  return slices;
}

// A stable merge of slices that lie one behind the other is a stable sort of all of them.
template <class T>
void merge_and_compare(const PairSlices<T>& slices, KeyMap<typename T::Key> map,
                       std::size_t misalign, const std::string& what) {
  if (is_left_out(slices.pairs.count())) return;
  using Key = typename T::Key;
  using Value = typename T::Value;
  const HostPairs<T> expected = stably_sorted(slices.pairs, {}, map);
  const auto slice_count = static_cast<std::uint32_t>(slices.counts.size());
  const std::size_t count = slices.pairs.count();
  const DevicePairArrays<T> input(slices.pairs, misalign);
  const DevicePairArrays<T> output(count, misalign / 2);
  const auto bytes = merge_pair_slices_scratch_bytes<Key, Value>(count, slice_count);
  const Scratch scratch(bytes, kScratchShift);
  merge_pair_slices<Key, Value>({.input = input.get(),
                                 .slice_counts = slices.counts.data(),
                                 .slice_count = slice_count,
                                 .output = output.get(),
                                 .store_map = map,
                                 .scratch = {scratch.get(), bytes}});
  const HostPairs<T> found = output.pairs();
  ASSERT_TRUE(found.keys == expected.keys)
      << "keys, " << what << ", " << slice_count << " slices, " << count;
  ASSERT_TRUE(found.values == expected.values)
      << "values, " << what << ", " << slice_count << " slices, " << count;
  ASSERT_TRUE(output.guards_hold() && scratch.guards_hold()) << what;
  ASSERT_TRUE(input.pairs() == slices.pairs) << what << ": the input changed";
}

TYPED_TEST(DevicePairs, OfAnyNumberOfSlicesAreMerged) {
  for (const std::uint32_t slice_count : {0U, 1U, 2U, 3U, 7U, 8U, 9U, 64U, 65U}) {
    for (const std::uint64_t mean : {3U, 100U, 5000U}) {
      for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct}) {
        merge_and_compare(make_slices<TypeParam>(shape, slice_count, mean, mean), {}, 0, "slices");
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(DevicePairs, OfEveryShapeAreMergedStably) {
  for (const NamedShape& named : kShapes) {
    for (const std::uint32_t slice_count : {2U, 4U, 7U, 20U}) {
      for (const std::uint64_t mean : {700U, 60000U}) {
        merge_and_compare(make_slices<TypeParam>(named.shape, slice_count, mean, 3), {}, 0,
                          std::string(named.name));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Keys far apart, but `percent` of 100 in groups of `group` that differ in their last bits alone;
// the order is random among any `window` neighbours.
template <class Key>
std::vector<Key> grouped_keys(std::size_t count, std::size_t group, unsigned percent,
                              std::size_t window) {
  std::mt19937_64 random(group * 100 + percent);
  std::vector<Key> keys;
  while (keys.size() < count) {
    const auto base = static_cast<Key>(random());
    const bool alone = random() % (group * 100) >= percent;
    for (std::size_t i = 0; i < (alone ? 1 : group) && keys.size() < count; ++i) {
      keys.push_back(static_cast<Key>(base + random() % 16));
    }
  }
  for (std::size_t begin = 0; begin < count; begin += window) {
    const std::size_t end = std::min(begin + window, count);
    std::shuffle(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                 keys.begin() + static_cast<std::ptrdiff_t>(end), random);
  }
  return keys;
}

template <class T>
void sort_and_merge_grouped(std::size_t count, std::size_t group, unsigned percent,
                            std::size_t window) {
  auto keys = grouped_keys<typename T::Key>(count, group, percent, window);
  const std::string what = std::to_string(percent) + "% in " + std::to_string(group);
  sort_and_compare(with_positions<T>(keys), {}, {}, 0, percent == 5, what);
  PairSlices<T> slices;
  for (auto begin = keys.begin(); begin != keys.end();) {
    const auto end = begin + std::min<std::ptrdiff_t>(20000, keys.end() - begin);
    std::sort(begin, end);
    slices.counts.push_back(static_cast<std::uint64_t>(end - begin));
    begin = end;
  }
  slices.pairs = with_positions<T>(std::move(keys));
  merge_and_compare(slices, {}, 0, what);
}

// Such keys share what a short word has of them, and are told apart afterwards.
TYPED_TEST(DevicePairs, ThatDifferInTheirLastBitsAloneAreSortedAndMerged) {
  for (const std::size_t count : {20001U, 150001U}) {
    for (const std::size_t group : {2U, 5U, 24U, 25U, 100U}) {
      for (const unsigned percent : {1U, 5U, 20U, 100U}) {
        for (const std::size_t window : {std::size_t{2000}, std::size_t{8192}, count}) {
          sort_and_merge_grouped<TypeParam>(count, group, percent, window);
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(DevicePairs, OfSlicesAreMergedAtAnyAlignmentAndMapped) {
  using Key = typename TypeParam::Key;
  const auto map = KeyMap<Key>::of({sizeof(Key) == 4 ? KeyType::kF32 : KeyType::kF64, true, true});
  for (const std::size_t misalign : {1U, 2U, 3U, 5U}) {
    for (const std::uint32_t slice_count : {1U, 2U, 6U, 70U}) {
      merge_and_compare(make_slices<TypeParam>(Shape::kUniform, slice_count, 9000, 4), map,
                        misalign, "misaligned by " + std::to_string(misalign));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DevicePairs, AreSortedOnSeveralStreamsAtOnce) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  constexpr std::size_t kCount = 300000;
  constexpr std::size_t kStreams = 4;
  const auto pairs = with_positions<TypeParam>(make_keys<Key>(Shape::kZipf, kCount, 6));
  const auto expected = stably_sorted(pairs, {}, {});
  const DevicePairArrays<TypeParam> input(pairs, 0);
  const auto bytes = sort_pairs_scratch_bytes<Key, Value>(kCount);
  std::vector<std::unique_ptr<DevicePairArrays<TypeParam>>> outputs;
  std::vector<std::unique_ptr<Scratch>> scratches;
  cudaStream_t streams[kStreams];
  for (auto& stream : streams) {
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), CudaCall::kStream,
               "stream");
    outputs.push_back(std::make_unique<DevicePairArrays<TypeParam>>(kCount, 0));
    scratches.push_back(std::make_unique<Scratch>(bytes, kScratchShift));
  }
  check_cuda(cudaDeviceSynchronize(), CudaCall::kStream, "waiting for the GPU");
  for (int round = 0; round < kRoundsOfStreams; ++round) {
    for (std::size_t i = 0; i < kStreams; ++i) {
      sort_pairs<Key, Value>({.input = input.get(),
                              .output = outputs[i]->get(),
                              .count = kCount,
                              .scratch = {scratches[i]->get(), bytes},
                              .stream = streams[i]});
    }
  }
  for (const auto& output : outputs) EXPECT_TRUE(output->pairs() == expected);
  for (const auto stream : streams) cudaStreamDestroy(stream);
}

TYPED_TEST(DevicePairs, AreNotSortedWithBadArguments) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  constexpr std::size_t kCount = 20000;
  const DeviceArray<Key> keys(2 * kCount);
  const DeviceArray<Value> values(2 * kCount);
  const auto bytes = sort_pairs_scratch_bytes<Key, Value>(kCount);
  const Scratch scratch(bytes, kScratchShift);
  const Pairs<Key, Value> good{keys.get(), values.get()};
  const auto sort_refused = [&](ConstPairs<Key, Value> in, Pairs<Key, Value> out, void* memory,
                                std::size_t memory_bytes) {
    return refused([&] {
      sort_pairs<Key, Value>(
          {.input = in, .output = out, .count = kCount, .scratch = {memory, memory_bytes}});
    });
  };
  EXPECT_TRUE(sort_refused({nullptr, values.get()}, good, scratch.get(), bytes));
  EXPECT_TRUE(sort_refused({keys.get(), nullptr}, good, scratch.get(), bytes));
  EXPECT_TRUE(sort_refused(good, {nullptr, values.get()}, scratch.get(), bytes));
  EXPECT_TRUE(sort_refused(good, {keys.get(), nullptr}, scratch.get(), bytes));
  EXPECT_TRUE(sort_refused(good, {keys.get() + 5, values.get()}, scratch.get(), bytes));
  EXPECT_TRUE(sort_refused(good, {keys.get(), values.get() + 5}, scratch.get(), bytes));
  auto* const keys_as_values = reinterpret_cast<Value*>(keys.get());
  auto* const values_as_keys = reinterpret_cast<Key*>(values.get());
  EXPECT_TRUE(sort_refused(good, {keys.get(), keys_as_values}, scratch.get(), bytes));
  EXPECT_TRUE(sort_refused(good, {values_as_keys, values.get()}, scratch.get(), bytes));
  EXPECT_TRUE(sort_refused(good, good, nullptr, bytes));
  EXPECT_TRUE(sort_refused(good, good, scratch.get(), bytes - 1));
  EXPECT_TRUE(sort_refused(good, good, scratch.get() + 8, bytes));
  EXPECT_TRUE(sort_refused(good, good, keys.get(), bytes));
  sort_pairs<Key, Value>({.input = Pairs<Key, Value>{}, .count = 0});
  inject_cuda_fault({CudaCall::kLaunch, 2, cudaErrorLaunchFailure});
  const auto sort = [&] {
    sort_pairs<Key, Value>(
        {.input = good, .output = good, .count = kCount, .scratch = {scratch.get(), bytes}});
  };
  EXPECT_THROW(sort(), Error);
  clear_cuda_fault();
}

TYPED_TEST(DevicePairs, AreNotMergedWithBadArguments) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  const std::vector<std::uint64_t> counts{9000, 11000};
  const DevicePairArrays<TypeParam> input(20000, 0);
  const DevicePairArrays<TypeParam> output(20000, 0);
  const auto bytes = merge_pair_slices_scratch_bytes<Key, Value>(20000, 2);
  const Scratch scratch(bytes, kScratchShift);
  const Pairs<Key, Value> in = input.get();
  const Pairs<Key, Value> out = output.get();
  const auto merge_refused = [&](ConstPairs<Key, Value> from, const std::uint64_t* table,
                                 Pairs<Key, Value> to, void* memory, std::size_t memory_bytes) {
    return refused([&] {
      merge_pair_slices<Key, Value>({.input = from,
                                     .slice_counts = table,
                                     .slice_count = 2,
                                     .output = to,
                                     .scratch = {memory, memory_bytes}});
    });
  };
  const auto* const table = counts.data();
  EXPECT_TRUE(merge_refused({nullptr, in.values}, table, out, scratch.get(), bytes));
  EXPECT_TRUE(merge_refused({in.keys, nullptr}, table, out, scratch.get(), bytes));
  EXPECT_TRUE(merge_refused(in, nullptr, out, scratch.get(), bytes));
  EXPECT_TRUE(merge_refused(in, table, {nullptr, out.values}, scratch.get(), bytes));
  EXPECT_TRUE(merge_refused(in, table, {out.keys, nullptr}, scratch.get(), bytes));
  EXPECT_TRUE(merge_refused(in, table, {in.keys, out.values}, scratch.get(), bytes));
  EXPECT_TRUE(merge_refused(in, table, {out.keys, in.values}, scratch.get(), bytes));
  EXPECT_TRUE(merge_refused(in, table, out, scratch.get(), bytes - 1));
  EXPECT_TRUE(merge_refused(in, table, out, nullptr, bytes));
  const std::vector<std::uint64_t> huge{~std::uint64_t{0}, 2};
  EXPECT_TRUE(merge_refused(in, huge.data(), out, scratch.get(), bytes));
}

}  // namespace
}  // namespace gsort::gpu
