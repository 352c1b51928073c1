// sort_keys_by_distribution on the card, against std::sort of a copy taken before the call.
#include "gpu/distribute/device_distribute.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "distribute_cases.hpp"
#include "element/record_text.hpp"
#include "gpu/distribute/distribute_shape.hpp"
#include "support/tuples.hpp"

namespace gsort::gpu {
namespace {

template <class Key>
class DeviceDistribute : public GpuTest {};

using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceDistribute, KeyTypes);

TYPED_TEST(DeviceDistribute, SortsEverySizeAtABorder) {
  for (const std::size_t size : border_sizes<TypeParam>()) {
    sort_and_compare<TypeParam>(make_keys<TypeParam>(Shape::kUniform, size, size),
                                {.choice = choice_of(2, 2)}, "uniform");
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceDistribute, SortsEveryShape) {
  for (const NamedShape& named : kShapes) {
    for (const std::size_t size :
         {std::size_t{9001}, std::size_t{29999}, std::size_t{1} << 20, std::size_t{5} << 20}) {
      if (are_too_many(size)) continue;
      sort_and_compare<TypeParam>(make_keys<TypeParam>(named.shape, size, 5),
                                  {.choice = choice_of(3, 3)}, std::string(named.name));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceDistribute, SortsWithAnyNumberOfBins) {
  for (const auto& [first, second, size] : {std::tuple{1U, 1U, 5000},
                                            {1U, 9U, 29999},
                                            {9U, 1U, 29999},
                                            {5U, 4U, 29000},
                                            {9U, 2U, 300000},
                                            {1U, 1U, 300000},
                                            {9U, 9U, 9000000}}) {
    if (are_too_many(static_cast<std::size_t>(size))) continue;
    for (const Shape shape : {Shape::kUniform, Shape::kZipf, Shape::kMaximum, Shape::kSorted}) {
      sort_and_compare<TypeParam>(
          make_keys<TypeParam>(shape, static_cast<std::size_t>(size), 3),
          {.choice = choice_of(first, second)},
          std::to_string(first) + " and " + std::to_string(second) + " bits");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceDistribute, SortsInPlaceAndAtAnyAlignment) {
  for (const std::size_t size : {std::size_t{5000}, std::size_t{29998}, std::size_t{3000001}}) {
    if (are_too_many(size)) continue;
    for (const std::size_t misalign : {0U, 1U, 2U, 3U}) {
      for (const bool in_place : {false, true}) {
        sort_and_compare<TypeParam>(
            make_keys<TypeParam>(Shape::kUniform, size, misalign),
            {.choice = choice_of(2, 3), .misalign = misalign, .in_place = in_place},
            "misaligned by " + std::to_string(misalign));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Keys of which most are equal have bins that are moved and mapped, but not sorted.
template <class Key>
std::vector<Key> mostly_equal(std::size_t size, Key often) {
  std::vector<Key> keys = make_keys<Key>(Shape::kUniform, size, 11);
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 8 != 0) keys[i] = often;
  }
  return keys;
}

TYPED_TEST(DeviceDistribute, AppliesTheMapsOfEveryFormat) {
  for (const KeyType type : kAllKeyTypes) {
    if (bytes_of(type) != sizeof(TypeParam)) continue;
    for (const bool big_endian : {false, true}) {
      for (const bool descending : {false, true}) {
        const auto map = KeyMap<TypeParam>::of({type, big_endian, descending});
        for (const auto& keys : {make_keys<TypeParam>(Shape::kUniform, 29000, 9),
                                 mostly_equal<TypeParam>(29000, TypeParam{0x80000000U})}) {
          sort_and_compare<TypeParam>(keys, {choice_of(2, 2), map, map, 0, true},
                                      std::string(name_of(type)));
          sort_and_compare<TypeParam>(keys, {choice_of(2, 2), map, KeyMap<TypeParam>{}, 1, false},
                                      std::string(name_of(type)));
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(DeviceDistribute, AppliesTheMapsOfRecordsThatAreOneKey) {
  for (const RecordFormat& records : test::tuples_of_width(sizeof(TypeParam))) {
    const auto map = KeyMap<TypeParam>::of(ElementFormat{{}, records}.as_keys().key);
    const auto keys = make_keys<TypeParam>(Shape::kUniform, 29000, 9);
    sort_and_compare<TypeParam>(keys, {choice_of(2, 2), map, map, 0, true}, describe_keys(records));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceDistribute, SortsKeysThatRepeatBesideTheirNeighbours) {
  constexpr auto kGreatest = static_cast<TypeParam>(~TypeParam{0});
  for (const TypeParam often : {TypeParam{0}, TypeParam{1}, static_cast<TypeParam>(kGreatest / 2),
                                static_cast<TypeParam>(kGreatest - 1), kGreatest}) {
    for (const std::size_t size : {std::size_t{9000}, std::size_t{29997}, std::size_t{2000000}}) {
      if (are_too_many(size)) continue;
      std::vector<TypeParam> keys = mostly_equal<TypeParam>(size, often);
      for (std::size_t i = 1; i < size; i += 5) {
        keys[i] = static_cast<TypeParam>(often + (i % 3) - 1U);  // wraps at both ends
      }
      sort_and_compare<TypeParam>(keys, {.choice = choice_of(3, 2)}, std::to_string(often));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceDistribute, SortsWhatTheSampleMisleadsAbout) {
  constexpr auto kGreatest = static_cast<TypeParam>(~TypeParam{0});
  constexpr unsigned kSampleBits = 2 + 3 + 3;  // of bins of both distributions, and of each bin
  for (const std::size_t size : {std::size_t{29996}, std::size_t{1} << 20, std::size_t{3000003}}) {
    if (are_too_many(size)) continue;
    for (const unsigned lie : {0U, 1U, 2U, 3U}) {
      std::vector<TypeParam> keys = make_keys<TypeParam>(Shape::kUniform, size, 4);
      for (std::uint64_t i = 0; i < std::uint64_t{1} << kSampleBits; ++i) {
        const TypeParam of_lies[] = {0, kGreatest, static_cast<TypeParam>(i),
                                     static_cast<TypeParam>(i % 2 == 0 ? 0U : kGreatest)};
        keys[place_of_sample(i, size, kSampleBits, 1)] = of_lies[lie];
      }
      const auto map = KeyMap<TypeParam>::of({mapped_type<TypeParam>(), false, false});
      sort_and_compare<TypeParam>(keys, {.choice = choice_of(2, 3)}, "lie " + std::to_string(lie));
      sort_and_compare<TypeParam>(keys, {.choice = choice_of(2, 3), .store_map = map},
                                  "mapped, lie " + std::to_string(lie));
      if (this->HasFatalFailure()) return;
    }
  }
}

// The beginning of the scratch memory after a sort in place.
template <class Word, class Key>
std::vector<Word> scratch_of_sort(const std::vector<Key>& keys, const DistributionChoice& choice,
                                  std::size_t words) {
  const DeviceArray<Key> array(keys);
  const std::size_t bytes = sort_keys_by_distribution_scratch_bytes<Key>(keys.size(), choice);
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  sort_keys_by_distribution<Key>({.input = array.get(),
                                  .output = array.get(),
                                  .count = keys.size(),
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
template <class Key>
DistributionCounts counts_of_sort(const std::vector<Key>& keys, const DistributionChoice& choice) {
  return scratch_of_sort<DistributionCounts>(keys, choice, 1).front();
}

TYPED_TEST(DeviceDistribute, SortsNothingOfKeysThatAreEqualAndLongBinsAlone) {
  const DistributionCounts equal =
      counts_of_sort(make_keys<TypeParam>(Shape::kEqual, 29000, 5), choice_of(3, 3));
  EXPECT_EQ(equal.packed_tiles, 0U);
  EXPECT_EQ(equal.lists.long_ticket, 0U);
  const DistributionCounts uniform =
      counts_of_sort(make_keys<TypeParam>(Shape::kUniform, 29000, 5), choice_of(3, 3));
  EXPECT_GE(uniform.packed_tiles, 4U);  // 3.5 tiles of keys in 8 buckets
  EXPECT_LE(uniform.packed_tiles, 8U);
  EXPECT_EQ(uniform.lists.tile_arrays, 0U);  // none is crowded
  EXPECT_EQ(uniform.lists.long_ticket, 0U);
  const DistributionCounts few_bins =
      counts_of_sort(make_keys<TypeParam>(Shape::kUniform, 99000, 5), choice_of(1, 1));
  EXPECT_EQ(LongTicket::arrays(few_bins.lists.long_ticket), 2U);  // a bucket's bins share one
}

// Key 7000000 is most of the sample before the splitter of two buckets. With the keys up to the
// end, it would fill more than a tile.
TYPED_TEST(DeviceDistribute, KeepsARepeatedKeyInTheShorterBucket) {
  constexpr unsigned kSampleBits = 1 + kSampleBitsOfOnceBin;
  std::mt19937_64 random(9);
  std::vector<TypeParam> keys(29000);
  const auto key_of = [&](std::uint64_t i, std::uint64_t count) {
    if (i * 100 < count * 38) return TypeParam{7000000};
    return static_cast<TypeParam>(random() % 1000000 + (i * 100 < count * 53 ? 1 : 8000000));
  };
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = key_of(i, keys.size());
  std::shuffle(keys.begin(), keys.end(), random);
  for (std::uint64_t i = 0; i < std::uint64_t{1} << kSampleBits; ++i) {
    keys[place_of_sample(i, keys.size(), kSampleBits, 1)] = key_of(i, 1U << kSampleBits);
  }
  EXPECT_EQ(counts_of_sort(keys, once(1)).long_tiles, 0U);
  sort_and_compare<TypeParam>(keys, {.choice = once(1)}, "a repeated key");
}

// Keys that lie around few values crowd a cell each: a sample divides the tiles, or, if a cell of
// the sample may have no keys, they are merged, and only these.
template <class Key>
std::vector<Key> crowded_keys(std::size_t count, unsigned values) {
  std::mt19937_64 random(11);
  std::vector<Key> keys(count);
  for (Key& key : keys) key = static_cast<Key>((random() % values << 24) + random() % 5000);
  return keys;
}

TYPED_TEST(DeviceDistribute, MergesTilesWhoseKeysCrowdAFewCells) {
  const auto keys = crowded_keys<TypeParam>(99000, 200);
  const DistributionCounts counts = counts_of_sort(keys, merging(choice_of(3, 2)));
  EXPECT_GE(counts.packed_tiles, 12U);
  // The cells of a short tile may need no merge, nor those of a tile with a lucky sample.
  EXPECT_GE(counts.lists.tile_arrays + 2, counts.packed_tiles);
  EXPECT_LT(counts_of_sort(keys, choice_of(3, 2)).lists.tile_arrays, counts.packed_tiles / 2);
  for (const auto& choice : {choice_of(3, 2), once()}) {
    sort_and_compare<TypeParam>(keys, {.choice = choice}, "crowded");
    sort_and_compare<TypeParam>(keys, {.choice = merging(choice)}, "crowded and merged");
  }
  auto some = make_keys<TypeParam>(Shape::kUniform, 99000, 5);
  const auto around_eight = crowded_keys<TypeParam>(some.size(), 8);
  for (std::size_t i = 0; i < some.size(); i += 2) some[i] = around_eight[i];
  const DistributionCounts mixed = counts_of_sort(some, merging(choice_of(3, 3)));
  EXPECT_GE(mixed.lists.tile_arrays, 1U);
  EXPECT_LT(mixed.lists.tile_arrays, mixed.packed_tiles);
  for (const auto& choice : {choice_of(3, 3), once()}) {
    sort_and_compare<TypeParam>(some, {.choice = choice}, "half of them crowded");
    sort_and_compare<TypeParam>(some, {.choice = merging(choice)}, "half of them merged");
  }
}

template <class Key>
void expect_merged_tiles(const std::vector<Key>& keys, const DistributionChoice& choice,
                         std::uint64_t merged, const std::string& what) {
  const DistributionCounts counts = counts_of_sort(keys, choice);
  EXPECT_GE(counts.packed_tiles, 1U) << what;
  EXPECT_EQ(counts.lists.tile_arrays, merged) << what;
  const auto map = KeyMap<Key>::of({mapped_type<Key>(), false, false});
  for (const std::size_t misalign : {0U, 1U, 3U}) {
    sort_and_compare<Key>(keys, {.choice = choice, .misalign = misalign, .in_place = true}, what);
    sort_and_compare<Key>(keys, {.choice = choice, .store_map = map, .misalign = misalign},
                          what + ", mapped");
  }
}

// As gsort-bench makes them: ramps, of which the first one's tiles have a key each, and octaves of
// ranks that are equally likely.
TYPED_TEST(DeviceDistribute, SortsTilesOfSawtoothAndZipfByCells) {
  constexpr auto kGreatest = static_cast<TypeParam>(~TypeParam{0});
  std::vector<TypeParam> keys(29000);
  for (const unsigned ramp : {7U, 29U, 200U}) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      keys[i] = static_cast<TypeParam>(i % ramp * (kGreatest / ramp));
    }
    expect_merged_tiles(keys, choice_of(3, 3), 0, "ramps of " + std::to_string(ramp));
  }
  std::mt19937_64 random(3);
  for (TypeParam& key : keys) {
    const std::uint64_t octave = std::uint64_t{1} << random() % 15;
    key = static_cast<TypeParam>(std::mt19937_64(octave + random() % octave)());
  }
  expect_merged_tiles(keys, choice_of(2, 2), 0, "zipf");
}

// Random keys, and keys in the cell of `often`: `repeated` that repeat, and `others` that do not.
template <class Key>
std::vector<Key> keys_in_one_cell(Key often, Key step, unsigned repeated, unsigned others) {
  std::vector<Key> keys = make_keys<Key>(Shape::kUniform, 14000, 21);
  keys.front() = 0;
  keys.back() = static_cast<Key>(~Key{0});
  for (unsigned i = 0; i < 3000; ++i) {
    keys[4 * i + 1] = static_cast<Key>(often + step * (i % repeated));
  }
  for (unsigned i = 0; i < others; ++i) {
    keys[4 * i + 2] = static_cast<Key>(often + step * (100 + i));
  }
  return keys;
}

TYPED_TEST(DeviceDistribute, SamplesKeysThatRepeatInACell) {
  constexpr auto kGreatest = static_cast<TypeParam>(~TypeParam{0});
  constexpr auto kDown = kGreatest;  // -1
  for (const auto& [often, step] : {std::pair<TypeParam, TypeParam>{0, 1},
                                    {kGreatest, kDown},
                                    {kGreatest / 3, 1},
                                    {kGreatest / 3 * 2, kDown}}) {
    for (const auto& [repeated, others] : {std::pair{1U, 0U}, {1U, 60U}, {2U, 0U}}) {
      expect_merged_tiles(keys_in_one_cell(often, step, repeated, others), choice_of(1, 1), 0,
                          std::to_string(often) + " and " + std::to_string(others) + " others");
      if (this->HasFatalFailure()) return;
    }
  }
}

// One tile, all of whose keys lie in groups of `length` that share a cell each, if the cells are
// not more than four times as many as the groups.
template <class Key>
std::vector<Key> keys_in_groups(std::size_t count, unsigned length) {
  std::vector<Key> keys(count);
  const std::size_t groups = count / length + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto group = static_cast<Key>(i % groups);
    keys[i] = group * static_cast<Key>(~Key{0} / groups) + static_cast<Key>(count - i);
  }
  return keys;
}

TYPED_TEST(DeviceDistribute, SortsCellsOfAnyLength) {
  const std::size_t tile = packed_tile_keys<TypeParam>(tuning_for<TypeParam>(90).block_sort_keys());
  for (const std::size_t count : {tile, tile - 5, std::size_t{3000}}) {
    for (unsigned length = 2; length < 36; ++length) {
      sort_and_compare<TypeParam>(keys_in_groups<TypeParam>(count, length),
                                  {.choice = choice_of(1, 1)}, std::to_string(length));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceDistribute, SortsAlikeWhateverTheSeed) {
  const auto keys = make_keys<TypeParam>(Shape::kZipf, 29000, 8);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    sort_and_compare<TypeParam>(keys, {.choice = choice_of(4, 3, seed)}, std::to_string(seed));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceDistribute, SortsWhatIsLarge) {
  for (const std::size_t size : {(std::size_t{1} << 22) - 1, std::size_t{1} << 22,
                                 (std::size_t{1} << 24) + 4321, (std::size_t{1} << 26) + 12345}) {
    if (are_too_many(size)) continue;
    for (const Shape shape : {Shape::kUniform, Shape::kSorted, Shape::kZipf, Shape::kEqual}) {
      sort_and_compare<TypeParam>(make_keys<TypeParam>(shape, size, 6),
                                  {.choice = {.least_keys = std::uint64_t{1} << 22}}, "large");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceDistribute, SortsByDefaultWhateverTheCount) {
  for (const std::size_t size : {std::size_t{29000}, (std::size_t{1} << 26) + 1}) {
    if (are_too_many(size)) continue;
    sort_and_compare<TypeParam>(make_keys<TypeParam>(Shape::kUniform, size, 6), {}, "by default");
  }
}

TYPED_TEST(DeviceDistribute, NeedsLittleMoreThanASecondArray) {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 23;
  for (std::uint64_t count = kLeast; count < kMaxSortedKeys; count += count / 9) {
    const std::size_t bytes =
        sort_keys_by_distribution_scratch_bytes<TypeParam>(count, {.least_keys = kLeast});
    EXPECT_LE(bytes - count * sizeof(TypeParam), count * sizeof(TypeParam) * 6 / 100) << count;
    cases_of_test.run = 1;
  }
}

TYPED_TEST(DeviceDistribute, SortsInPiecesWhatIsTooMuchAtOnce) {
  const auto map = KeyMap<TypeParam>::of({mapped_type<TypeParam>(), false, true});
  for (const std::size_t most : {std::size_t{9'900}, std::size_t{100'000}}) {
    const auto keys = make_keys<TypeParam>(Shape::kUniform, 3 * most - 1, 7);
    if (are_too_many(keys.size())) continue;
    DistributionChoice choice = choice_of(1, 2);
    choice.most_keys = most;
    const auto first = scratch_of_sort<TypeParam>(keys, choice, most * 3 / 4);
    EXPECT_TRUE(std::ranges::is_sorted(first) && first.front() < first.back())
        << "the first piece lies there, before it is merged";
    sort_and_compare<TypeParam>(keys, {.choice = choice}, "pieces, apart");
    sort_and_compare<TypeParam>(keys, {choice, map, map, 1, true}, "pieces, in place and mapped");
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceDistribute, NeedsNoLessForMoreKeys) {
  std::size_t least = 0;
  for (std::uint64_t power = 1; power < kMaxSortedKeys; power *= 2) {
    for (const std::uint64_t count : {power - 1, power, power + 1, power + power / 3}) {
      const std::size_t bytes = sort_keys_by_distribution_scratch_bytes<TypeParam>(count);
      EXPECT_GE(bytes, least) << count;
      least = bytes;
    }
  }
  cases_of_test.run = 1;
}

TYPED_TEST(DeviceDistribute, RefusesBadArgumentsBeforeAnyLaunch) {
  const std::size_t count = 20000;
  const DistributionChoice choice = choice_of(2, 2);
  const DeviceArray<TypeParam> keys(2 * count);
  const std::size_t bytes = sort_keys_by_distribution_scratch_bytes<TypeParam>(count, choice);
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  const auto refused = [&](const TypeParam* input, TypeParam* output, void* memory,
                           std::size_t memory_bytes) {
    try {
      sort_keys_by_distribution<TypeParam>(
          {.input = input, .output = output, .count = count, .scratch = {memory, memory_bytes}},
          choice);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kUsage;
    }
    return false;
  };
  EXPECT_TRUE(refused(nullptr, keys.get(), scratch.get(), bytes));
  EXPECT_TRUE(refused(keys.get(), nullptr, scratch.get(), bytes));
  EXPECT_TRUE(refused(keys.get(), keys.get(), nullptr, bytes));
  EXPECT_TRUE(refused(keys.get(), keys.get(), scratch.get(), bytes - 1));
  EXPECT_TRUE(refused(keys.get(), keys.get() + 5, scratch.get(), bytes));
  EXPECT_TRUE(refused(keys.get(), keys.get(), scratch.get() + 8, bytes));
  sort_keys_by_distribution<TypeParam>({.count = 0}, choice);
}

}  // namespace
}  // namespace gsort::gpu
