// sort_pairs_by_distribution on the card, against std::stable_sort of a copy taken before the call.
// A value is made from its pair's position, so each tells where it came from.
#include "gpu/distribute/device_pair_distribute.hpp"

#include <bit>
#include <string>
#include <tuple>
#include <vector>

#include "distributions.hpp"
#include "gpu/cuda/tuning.hpp"
#include "gpu/distribute/distribute_shape.hpp"
#include "gpu/distribute/launch.hpp"
#include "pairs_on_both.hpp"

namespace gsort::gpu {
namespace {

template <class T>
class DevicePairDistribute : public GpuTest {};
TYPED_TEST_SUITE(DevicePairDistribute, AllPairs);

// Distributes as few pairs as there are.
DistributionChoice choice_of(unsigned first_bits, unsigned second_bits, std::uint64_t seed = 1) {
  return {seed, 0, first_bits, second_bits};
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
void sort_and_compare(const HostPairs<T>& pairs, const Case<typename T::Key>& how,
                      const std::string& what) {
  using Key = typename T::Key;
  using Value = typename T::Value;
  if (is_left_out(pairs.count())) return;
  const HostPairs<T> expected = stably_sorted(pairs, how.load_map, how.store_map);
  const DevicePairArrays<T> input(pairs, how.misalign);
  const DevicePairArrays<T> apart(how.in_place ? 0 : pairs.count(), how.misalign);
  const DevicePairArrays<T>& output = how.in_place ? input : apart;
  const auto bytes =
      sort_pairs_by_distribution_scratch_bytes<Key, Value>(pairs.count(), how.choice);
  const Scratch scratch(bytes, kScratchShift);
  sort_pairs_by_distribution<Key, Value>({.input = input.get(),
                                          .output = output.get(),
                                          .count = pairs.count(),
                                          .load_map = how.load_map,
                                          .store_map = how.store_map,
                                          .scratch = {scratch.get(), bytes}},
                                         how.choice);
  const HostPairs<T> found = output.pairs();
  ASSERT_TRUE(found.keys == expected.keys) << "keys, " << what << ", " << pairs.count();
  ASSERT_TRUE(found.values == expected.values) << "values, " << what << ", " << pairs.count();
  ASSERT_TRUE(output.guards_hold() && input.guards_hold() && scratch.guards_hold()) << what;
  ASSERT_TRUE(how.in_place || input.pairs() == pairs) << what << ": the input changed";
}

// Pairs of a shape, their values telling where they were.
template <class T>
HostPairs<T> pairs_of(Shape shape, std::size_t count, std::uint64_t seed) {
  return with_positions<T>(make_keys<typename T::Key>(shape, count, seed));
}

template <class T>
constexpr unsigned kTilePairs = kPairDistribution<typename T::Key, typename T::Value>.tile_keys();

// Around a warp's pairs, a tile of the distribution, a tile of the block sort, and several of each.
template <class T>
std::vector<std::size_t> border_sizes() {
  using Key = typename T::Key;
  std::vector<std::size_t> sizes{128, 129, 255, 257, 511, 513, 1000, 2047, 2049, 1234567};
  const std::size_t sort_tile = tuning_for<PairOf<Key, typename T::Value>>(90).block_sort_keys();
  for (const std::size_t tile :
       {std::size_t{kTilePairs<T>}, sort_tile, std::size_t{packed_tile_keys<Key>(sort_tile)}}) {
    for (const std::size_t times : {1U, 2U, 3U, 8U, 9U, 33U}) {
      for (const std::size_t near : {tile * times - 1, tile * times, tile * times + 1}) {
        sizes.push_back(near);
      }
    }
  }
  return sizes;
}

TYPED_TEST(DevicePairDistribute, SortsEverySizeAtABorder) {
  for (const std::size_t size : border_sizes<TypeParam>()) {
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct}) {
      sort_and_compare(pairs_of<TypeParam>(shape, size, size), {.choice = choice_of(2, 2)},
                       "at a border");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DevicePairDistribute, SortsEverySmallSize) {
  for (std::size_t size = 128; size < 260; ++size) {
    sort_and_compare(pairs_of<TypeParam>(Shape::kSawtooth, size, size), {.choice = choice_of(1, 1)},
                     "small");
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DevicePairDistribute, SortsEveryShapeStably) {
  for (const NamedShape& named : kShapes) {
    for (const std::size_t size : {std::size_t{9001}, std::size_t{29999}, std::size_t{400001}}) {
      if (are_too_many(size)) continue;
      sort_and_compare(pairs_of<TypeParam>(named.shape, size, 5), {.choice = choice_of(3, 3)},
                       std::string(named.name));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DevicePairDistribute, SortsWithAnyNumberOfBins) {
  for (const auto& [first, second, size] : {std::tuple{1U, 1U, 5000},
                                            {1U, 9U, 29999},
                                            {9U, 1U, 29999},
                                            {5U, 4U, 29000},
                                            {9U, 2U, 300000},
                                            {1U, 1U, 300000},
                                            {9U, 9U, 9000000}}) {
    if (are_too_many(static_cast<std::size_t>(size))) continue;
    for (const Shape shape : {Shape::kUniform, Shape::kZipf}) {
      sort_and_compare(pairs_of<TypeParam>(shape, static_cast<std::size_t>(size), 3),
                       {.choice = choice_of(first, second)},
                       std::to_string(first) + " and " + std::to_string(second) + " bits");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DevicePairDistribute, SortsInPlaceAndAtAnyAlignment) {
  for (const std::size_t size : {std::size_t{5000}, std::size_t{29998}, std::size_t{300001}}) {
    if (are_too_many(size)) continue;
    for (const std::size_t misalign : {0U, 1U, 2U, 3U}) {
      for (const bool in_place : {false, true}) {
        sort_and_compare(pairs_of<TypeParam>(Shape::kSawtooth, size, misalign),
                         {.choice = choice_of(2, 3), .misalign = misalign, .in_place = in_place},
                         "misaligned by " + std::to_string(misalign));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Most keys are equal: their bin is moved and mapped, but not sorted.
template <class T>
HostPairs<T> mostly_equal(std::size_t size, typename T::Key often) {
  auto pairs = pairs_of<T>(Shape::kUniform, size, 11);
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 8 != 0) pairs.keys[i] = often;
  }
  return pairs;
}

TYPED_TEST(DevicePairDistribute, AppliesTheMapsOfEveryFormat) {
  using Key = typename TypeParam::Key;
  for (const KeyType type : kAllKeyTypes) {
    if (bytes_of(type) != sizeof(Key)) continue;
    for (const bool big_endian : {false, true}) {
      for (const bool descending : {false, true}) {
        const auto map = KeyMap<Key>::of({type, big_endian, descending});
        for (const auto& pairs : {pairs_of<TypeParam>(Shape::kUniform, 29000, 9),
                                  mostly_equal<TypeParam>(29000, Key{0x80000000U})}) {
          sort_and_compare(pairs, {choice_of(2, 2), map, map, 0, true}, std::string(name_of(type)));
          sort_and_compare(pairs, {choice_of(2, 2), map, KeyMap<Key>{}, 1, false},
                           std::string(name_of(type)));
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(DevicePairDistribute, KeepsTheOrderOfKeysThatRepeatBesideTheirNeighbours) {
  using Key = typename TypeParam::Key;
  constexpr auto kGreatest = static_cast<Key>(~Key{0});
  for (const Key often : {Key{0}, Key{1}, static_cast<Key>(kGreatest / 2),
                          static_cast<Key>(kGreatest - 1), kGreatest}) {
    for (const std::size_t size : {std::size_t{9000}, std::size_t{29997}, std::size_t{300000}}) {
      if (are_too_many(size)) continue;
      auto pairs = mostly_equal<TypeParam>(size, often);
      for (std::size_t i = 1; i < size; i += 5) {
        pairs.keys[i] = static_cast<Key>(often + (i % 3) - 1U);  // wraps at both ends
      }
      sort_and_compare(pairs, {.choice = choice_of(3, 2)}, std::to_string(often));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DevicePairDistribute, SortsWhatTheSampleMisleadsAbout) {
  using Key = typename TypeParam::Key;
  constexpr auto kGreatest = static_cast<Key>(~Key{0});
  constexpr unsigned kSampleBits = 2 + 3 + 3;  // of bins of both distributions, and of each bin
  for (const std::size_t size : {std::size_t{29996}, std::size_t{300003}}) {
    if (are_too_many(size)) continue;
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct}) {
      for (const unsigned lie : {0U, 1U, 2U, 3U}) {
        auto pairs = pairs_of<TypeParam>(shape, size, 4);
        for (std::uint64_t i = 0; i < std::uint64_t{1} << kSampleBits; ++i) {
          const Key of_lies[] = {0, kGreatest, static_cast<Key>(i),
                                 static_cast<Key>(i % 2 == 0 ? 0U : kGreatest)};
          pairs.keys[place_of_sample(i, size, kSampleBits, 1)] = of_lies[lie];
        }
        const auto map = KeyMap<Key>::of({mapped_type<Key>(), false, false});
        const std::string what = "lie " + std::to_string(lie);
        sort_and_compare(pairs, {.choice = choice_of(2, 3)}, what);
        sort_and_compare(pairs, {.choice = choice_of(2, 3), .store_map = map}, "mapped, " + what);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// The counters of the device, which lie where the scratch memory begins.
template <class T>
DistributionCounts counts_of_sort(const HostPairs<T>& pairs, const DistributionChoice& choice) {
  using Key = typename T::Key;
  using Value = typename T::Value;
  const DevicePairArrays<T> array(pairs, 0);
  const auto bytes = sort_pairs_by_distribution_scratch_bytes<Key, Value>(pairs.count(), choice);
  const Scratch scratch(bytes, kScratchShift);
  sort_pairs_by_distribution<Key, Value>({.input = array.get(),
                                          .output = array.get(),
                                          .count = pairs.count(),
                                          .scratch = {scratch.get(), bytes}},
                                         choice);
  wait_for_device();
  DistributionCounts counts;
  check_cuda(cudaMemcpy(&counts, scratch.get(), sizeof(counts), cudaMemcpyDeviceToHost),
             CudaCall::kCopy, "copying from the GPU");
  cases_of_test.run = 1;
  return counts;
}

TYPED_TEST(DevicePairDistribute, MergesLongBinsAlone) {
  const auto equal = counts_of_sort(pairs_of<TypeParam>(Shape::kEqual, 29000, 5), choice_of(3, 3));
  EXPECT_EQ(equal.packed_tiles, 0U);
  EXPECT_EQ(equal.lists.long_ticket, 0U);
  const auto uniform =
      counts_of_sort(pairs_of<TypeParam>(Shape::kUniform, 29000, 5), choice_of(3, 3));
  EXPECT_GE(uniform.packed_tiles, 4U);
  EXPECT_EQ(uniform.lists.tile_arrays, 0U);  // none is crowded
  EXPECT_EQ(uniform.lists.long_ticket, 0U);
  const auto few_bins =
      counts_of_sort(pairs_of<TypeParam>(Shape::kUniform, 99000, 5), choice_of(1, 1));
  EXPECT_GE(LongTicket::arrays(few_bins.lists.long_ticket), 2U);
}

// Keys that lie around few values crowd a cell each: tiles are merged, and only these.
TYPED_TEST(DevicePairDistribute, MergesTilesWhoseKeysCrowdAFewCells) {
  using Key = typename TypeParam::Key;
  auto pairs = pairs_of<TypeParam>(Shape::kUniform, 99000, 5);
  for (Key& key : pairs.keys) key = static_cast<Key>((key % 200 << 24) + key / 200 % 5000);
  const auto all = counts_of_sort(pairs, choice_of(3, 3));
  EXPECT_GE(all.packed_tiles, 12U);
  EXPECT_EQ(all.lists.tile_arrays, all.packed_tiles);
  sort_and_compare(pairs, {.choice = choice_of(3, 3)}, "crowded");
  pairs = pairs_of<TypeParam>(Shape::kUniform, 99000, 6);
  for (std::size_t i = 0; i < pairs.keys.size(); i += 2)
    pairs.keys[i] = pairs.keys[i] % 2000 + 12345;
  const auto mixed = counts_of_sort(pairs, choice_of(3, 3));
  EXPECT_GE(mixed.lists.tile_arrays, 1U);
  EXPECT_LT(mixed.lists.tile_arrays, mixed.packed_tiles);
  sort_and_compare(pairs, {.choice = choice_of(3, 3)}, "half of them crowded");
}

// A tile whose range fits the words that its pairs become, or does not; keys that repeat share a
// cell with their neighbours.
TYPED_TEST(DevicePairDistribute, SortsTilesOfAnyRangeStably) {
  using Key = typename TypeParam::Key;
  constexpr CellSortTuning kTuning = kCellPairSort<Key, typename TypeParam::Value>;
  constexpr unsigned kRangeBits = 8 * sizeof(Key) - (std::bit_width(kTuning.tile_keys()) - 1);
  const std::size_t tile = packed_tile_keys<Key>(kTuning.tile_keys());
  for (const std::size_t count : {tile, tile - 5, std::size_t{3000}}) {
    for (const unsigned bits : {11U, 12U, 14U, kRangeBits, kRangeBits + 1}) {
      auto pairs = pairs_of<TypeParam>(Shape::kUniform, count, bits);
      const auto least = static_cast<Key>(pairs.keys[0] >> 2);
      const auto range = static_cast<Key>((Key{1} << bits) - 1);
      for (Key& key : pairs.keys) key = least + (key & range);
      pairs.keys.back() = least + range;
      pairs.keys.front() = least;
      for (const std::size_t misalign : {0U, 1U, 3U}) {
        sort_and_compare(pairs, {.choice = choice_of(1, 1), .misalign = misalign, .in_place = true},
                         std::to_string(bits) + " bits");
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(DevicePairDistribute, LeavesTilesOfOneKeyAsTheyAre) {
  using Key = typename TypeParam::Key;
  using Pair = PairOf<Key, typename TypeParam::Value>;
  const std::size_t repeats = tuning_for<Pair>(90).block_sort_keys() / 2 + 10;
  auto pairs = pairs_of<TypeParam>(Shape::kUniform, 7 * repeats, 5);
  for (std::size_t i = 0; i < pairs.keys.size(); ++i)
    pairs.keys[i] = static_cast<Key>(i % 7 * 1000);
  const auto counts = counts_of_sort(pairs, choice_of(3, 3));
  EXPECT_GE(counts.packed_tiles, 4U);  // other keys are alone in a bucket
  EXPECT_EQ(counts.lists.tile_arrays, 0U);
  const auto map = KeyMap<Key>::of({mapped_type<Key>(), false, false});
  sort_and_compare(pairs, {.choice = choice_of(3, 3)}, "a key a tile");
  sort_and_compare(pairs, {.choice = choice_of(3, 3), .store_map = map}, "a key a tile, mapped");
}

TYPED_TEST(DevicePairDistribute, SortsAlikeWhateverTheSeed) {
  const auto pairs = pairs_of<TypeParam>(Shape::kZipf, 29000, 8);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    sort_and_compare(pairs, {.choice = choice_of(4, 3, seed)}, std::to_string(seed));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DevicePairDistribute, SortsWhatIsLarge) {
  constexpr std::size_t kLeast = std::size_t{1} << 22;
  for (const std::size_t size : {kLeast - 1, kLeast, 2 * kLeast + 4321}) {
    if (are_too_many(size)) continue;
    sort_and_compare(pairs_of<TypeParam>(Shape::kZipf, size, 6), {.choice = {.least_keys = kLeast}},
                     "large");
    if (this->HasFatalFailure()) return;
  }
}

template <class T>
class DevicePairDistributeOnce : public GpuTest {};
using PairsOfOnce =
    ::testing::Types<Types<std::uint32_t, std::uint32_t>, Types<std::uint32_t, std::uint64_t>>;
TYPED_TEST_SUITE(DevicePairDistributeOnce, PairsOfOnce);

DistributionChoice once(unsigned first_bits = 0, std::uint64_t seed = 1) {
  return {.seed = seed, .least_keys = 0, .first_bits = first_bits, .once = true};
}

TYPED_TEST(DevicePairDistributeOnce, SortsEverySizeAtABorder) {
  auto sizes = border_sizes<TypeParam>();
  for (const std::size_t near : {8191U, 8192U, 8193U, 16383U, 16384U, 16385U})
    sizes.push_back(near);
  for (const std::size_t size : sizes) {
    if (size < 500) continue;
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct}) {
      sort_and_compare(pairs_of<TypeParam>(shape, size, size), {.choice = once(2)}, "at a border");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DevicePairDistributeOnce, SortsEveryShapeStably) {
  const auto map = KeyMap<std::uint32_t>::of({KeyType::kF32, false, true});
  for (const NamedShape& named : kShapes) {
    for (const std::size_t size : {std::size_t{9001}, std::size_t{29999}, std::size_t{1} << 20,
                                   (std::size_t{1} << 22) + 4321}) {
      if (are_too_many(size)) continue;
      const auto pairs = pairs_of<TypeParam>(named.shape, size, 5);
      const std::string name(named.name);
      sort_and_compare(pairs, {.choice = once()}, name);
      sort_and_compare(pairs, {.choice = once(1), .store_map = map, .in_place = true},
                       name + ", long buckets");
      sort_and_compare(pairs, {once(3), map, map, 3, false}, name + ", mapped");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DevicePairDistributeOnce, MergesLongBucketsStably) {
  constexpr unsigned kSampleBits = 2 + kSampleBitsOfOnceBin;
  for (const std::size_t size : {std::size_t{29996}, std::size_t{300003}}) {
    if (are_too_many(size)) continue;
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct, Shape::kEqual}) {
      for (const bool high : {false, true}) {
        auto pairs = pairs_of<TypeParam>(shape, size, 4);
        for (std::uint64_t i = 0; i < std::uint64_t{1} << kSampleBits; ++i) {
          pairs.keys[place_of_sample(i, size, kSampleBits, 1)] =
              static_cast<std::uint32_t>(high ? ~i : i);
        }
        EXPECT_GE(counts_of_sort(pairs, once(2)).long_tiles, 2U);
        for (const bool in_place : {false, true}) {
          sort_and_compare(pairs, {.choice = once(2), .in_place = in_place}, "misled");
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

// Keys that repeat a few hundred times each: the places below them decide within a bucket.
TYPED_TEST(DevicePairDistributeOnce, SortsRepeatedKeysByTheirPlaces) {
  for (const std::uint32_t values : {2U, 90U, 9000U}) {
    for (const std::uint32_t apart : {1U, 1000003U}) {
      auto pairs = pairs_of<TypeParam>(Shape::kUniform, 29999, values);
      for (auto& key : pairs.keys) key = key % values * apart;
      sort_and_compare(pairs, {.choice = once(2)}, std::to_string(values));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DevicePairDistribute, SortsByDefaultWhateverTheCount) {
  sort_and_compare(pairs_of<TypeParam>(Shape::kUniform, 29000, 6), {}, "by default");
}

TYPED_TEST(DevicePairDistribute, NeedsLittleMoreThanASecondArray) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 23;  // fewer are distributed once
  for (std::uint64_t count = kLeast; count < kMaxSortedKeys; count += count / 9) {
    const std::size_t bytes =
        sort_pairs_by_distribution_scratch_bytes<Key, Value>(count, {.least_keys = kLeast});
    const std::size_t pairs = count * (sizeof(Key) + sizeof(Value));
    EXPECT_LE(bytes - pairs, pairs * 6 / 100) << count;
  }
  cases_of_test.run = 1;
}

TYPED_TEST(DevicePairDistribute, NeedsNoLessForMorePairs) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  std::size_t least = 0;
  for (std::uint64_t power = 1; power < kMaxSortedKeys; power *= 2) {
    for (const std::uint64_t count : {power - 1, power, power + 1, power + power / 3}) {
      const auto bytes = sort_pairs_by_distribution_scratch_bytes<Key, Value>(count);
      EXPECT_GE(bytes, least) << count;
      least = bytes;
    }
  }
  cases_of_test.run = 1;
}

TYPED_TEST(DevicePairDistribute, RefusesBadArgumentsBeforeAnyLaunch) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  const std::size_t count = 20000;
  const DistributionChoice choice = choice_of(2, 2);
  const DevicePairArrays<TypeParam> pairs(2 * count, 0);
  const auto bytes = sort_pairs_by_distribution_scratch_bytes<Key, Value>(count, choice);
  const Scratch scratch(bytes, kScratchShift);
  const auto is_refused = [&](ConstPairs<Key, Value> input, Pairs<Key, Value> output, void* memory,
                              std::size_t memory_bytes) {
    return refused([&] {
      sort_pairs_by_distribution<Key, Value>(
          {.input = input, .output = output, .count = count, .scratch = {memory, memory_bytes}},
          choice);
    });
  };
  const Pairs<Key, Value> all = pairs.get();
  EXPECT_TRUE(is_refused({nullptr, all.values}, all, scratch.get(), bytes));
  EXPECT_TRUE(is_refused(all, {all.keys, nullptr}, scratch.get(), bytes));
  EXPECT_TRUE(is_refused(all, all, nullptr, bytes));
  EXPECT_TRUE(is_refused(all, all, scratch.get(), bytes - 1));
  EXPECT_TRUE(is_refused(all, {all.keys + 5, all.values}, scratch.get(), bytes));
  EXPECT_TRUE(is_refused(all, {all.keys, all.values + 5}, scratch.get(), bytes));
  EXPECT_TRUE(is_refused(all, all, scratch.get() + 8, bytes));
  sort_pairs_by_distribution<Key, Value>({.count = 0}, choice);
}

}  // namespace
}  // namespace gsort::gpu
