// sort_keys_by_distribution and sort_many_pairs on the card, against std::stable_sort of a copy
// taken before the call. Sorts of certain tiles are in distributed_tiles_test.cpp.
#include "gpu/distribute/device_distribute.hpp"

#include <string>
#include <tuple>
#include <vector>

#include "distribute_cases.hpp"
#include "element/record_text.hpp"
#include "gpu/distribute/distribute_shape.hpp"
#include "support/tuples.hpp"

namespace gsort::gpu {
namespace {

template <class T>
class DeviceDistribute : public GpuTest {
 protected:
  static constexpr bool kIsOfPairs = kHasValues<typename T::Value>;
  static constexpr std::size_t kMany = kIsOfPairs ? 300'001 : 3'000'001;
};
TYPED_TEST_SUITE(DeviceDistribute, DistributedElements);

TYPED_TEST(DeviceDistribute, SortsEverySizeAtABorder) {
  for (const std::size_t size : border_sizes<TypeParam>()) {
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct}) {
      sort_and_compare(elements_of<TypeParam>(shape, size, size), {.choice = choice_of(2, 2)},
                       "at a border");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceDistribute, SortsEverySmallSize) {
  for (std::size_t size = 128; size < 260; ++size) {
    sort_and_compare(elements_of<TypeParam>(Shape::kSawtooth, size, size),
                     {.choice = choice_of(1, 1)}, "small");
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceDistribute, SortsEveryShape) {
  for (const NamedShape& named : kShapes) {
    for (const std::size_t size : {std::size_t{9001}, std::size_t{29999}, this->kMany}) {
      if (are_too_many(size)) continue;
      sort_and_compare(elements_of<TypeParam>(named.shape, size, 5), {.choice = choice_of(3, 3)},
                       std::string(named.name));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceDistribute, SortsWithAnyNumberOfBins) {
  for (const auto& [first, second, size] : {std::tuple{1U, 1U, std::size_t{5000}},
                                            {1U, 9U, 29999},
                                            {9U, 1U, 29999},
                                            {5U, 4U, 29000},
                                            {9U, 2U, 300000},
                                            {1U, 1U, 300000},
                                            {9U, 9U, 9000000}}) {
    if (are_too_many(size)) continue;
    for (const Shape shape : {Shape::kUniform, Shape::kZipf, Shape::kMaximum, Shape::kSorted}) {
      sort_and_compare(elements_of<TypeParam>(shape, size, 3), {.choice = choice_of(first, second)},
                       std::to_string(first) + " and " + std::to_string(second) + " bits");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceDistribute, SortsInPlaceAndAtAnyAlignment) {
  for (const std::size_t size : {std::size_t{5000}, std::size_t{29998}, this->kMany}) {
    if (are_too_many(size)) continue;
    for (const Shape shape : {Shape::kUniform, Shape::kSawtooth}) {
      for (const std::size_t misalign : {0U, 1U, 2U, 3U}) {
        for (const bool in_place : {false, true}) {
          sort_and_compare(elements_of<TypeParam>(shape, size, misalign),
                           {.choice = choice_of(2, 3), .misalign = misalign, .in_place = in_place},
                           "misaligned by " + std::to_string(misalign));
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

// Keys of which most are equal have bins that are moved and mapped, but not sorted.
template <class T>
HostPairs<T> mostly_equal(std::size_t size, typename T::Key often) {
  auto elements = elements_of<T>(Shape::kUniform, size, 11);
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 8 != 0) elements.keys[i] = often;
  }
  return elements;
}

template <class T>
void sort_mapped(const KeyMap<typename T::Key>& map, const std::string& what) {
  using Key = typename T::Key;
  for (const auto& elements :
       {elements_of<T>(Shape::kUniform, 29000, 9), mostly_equal<T>(29000, Key{0x80000000U})}) {
    sort_and_compare(elements, {choice_of(2, 2), map, map, 0, true}, what);
    sort_and_compare(elements, {choice_of(2, 2), map, KeyMap<Key>{}, 1, false}, what);
  }
}

TYPED_TEST(DeviceDistribute, AppliesTheMapsOfEveryFormat) {
  using Key = typename TypeParam::Key;
  for (const KeyType type : kAllKeyTypes) {
    if (bytes_of(type) != sizeof(Key)) continue;
    for (const bool big_endian : {false, true}) {
      for (const bool descending : {false, true}) {
        sort_mapped<TypeParam>(KeyMap<Key>::of({type, big_endian, descending}),
                               std::string(name_of(type)));
        if (this->HasFatalFailure()) return;
      }
    }
  }
  for (const RecordFormat& records : test::tuples_of_width(sizeof(Key))) {
    sort_mapped<TypeParam>(KeyMap<Key>::of(ElementFormat{{}, records}.as_keys().key),
                           describe_keys(records));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceDistribute, SortsKeysThatRepeatBesideTheirNeighbours) {
  using Key = typename TypeParam::Key;
  constexpr auto kGreatest = static_cast<Key>(~Key{0});
  for (const Key often : {Key{0}, Key{1}, static_cast<Key>(kGreatest / 2),
                          static_cast<Key>(kGreatest - 1), kGreatest}) {
    for (const std::size_t size : {std::size_t{9000}, std::size_t{29997}, this->kMany}) {
      if (are_too_many(size)) continue;
      auto elements = mostly_equal<TypeParam>(size, often);
      for (std::size_t i = 1; i < size; i += 5) {
        elements.keys[i] = static_cast<Key>(often + (i % 3) - 1U);  // wraps at both ends
      }
      sort_and_compare(elements, {.choice = choice_of(3, 2)}, std::to_string(often));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceDistribute, SortsWhatTheSampleMisleadsAbout) {
  using Key = typename TypeParam::Key;
  constexpr auto kGreatest = static_cast<Key>(~Key{0});
  constexpr unsigned kSampleBits = 2 + 3 + 3;  // of bins of both distributions, and of each bin
  const auto map = KeyMap<Key>::of({mapped_type<Key>(), false, false});
  for (const std::size_t size : {std::size_t{29996}, this->kMany + 2}) {
    if (are_too_many(size)) continue;
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct}) {
      for (const unsigned lie : {0U, 1U, 2U, 3U}) {
        auto elements = elements_of<TypeParam>(shape, size, 4);
        for (std::uint64_t i = 0; i < std::uint64_t{1} << kSampleBits; ++i) {
          const Key of_lies[] = {0, kGreatest, static_cast<Key>(i),
                                 static_cast<Key>(i % 2 == 0 ? 0U : kGreatest)};
          elements.keys[place_of_sample(i, size, kSampleBits, 1)] = of_lies[lie];
        }
        const std::string what = "lie " + std::to_string(lie);
        sort_and_compare(elements, {.choice = choice_of(2, 3)}, what);
        sort_and_compare(elements, {.choice = choice_of(2, 3), .store_map = map},
                         "mapped, " + what);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(DeviceDistribute, SortsNothingOfKeysThatAreEqualAndLongBinsAlone) {
  const auto counts_of = [](Shape shape, std::size_t size, unsigned bits) {
    return counts_of_sort(elements_of<TypeParam>(shape, size, 5), choice_of(bits, bits));
  };
  const DistributionCounts equal = counts_of(Shape::kEqual, 29000, 3);
  EXPECT_EQ(equal.packed_tiles, 0U);
  EXPECT_EQ(equal.lists.long_ticket, 0U);
  const DistributionCounts uniform = counts_of(Shape::kUniform, 29000, 3);
  EXPECT_GE(uniform.packed_tiles, 4U);  // 3.5 tiles of keys in 8 buckets
  EXPECT_TRUE(this->kIsOfPairs || uniform.packed_tiles <= 8U) << uniform.packed_tiles;
  EXPECT_EQ(uniform.lists.tile_arrays, 0U);  // none is crowded
  EXPECT_EQ(uniform.lists.long_ticket, 0U);
  const auto long_bins = LongTicket::arrays(counts_of(Shape::kUniform, 99000, 1).lists.long_ticket);
  EXPECT_GE(long_bins, 2U);
  EXPECT_TRUE(this->kIsOfPairs || long_bins == 2U) << "a bucket's bins share one";
}

TYPED_TEST(DeviceDistribute, SortsAlikeWhateverTheSeed) {
  const auto elements = elements_of<TypeParam>(Shape::kZipf, 29000, 8);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    sort_and_compare(elements, {.choice = choice_of(4, 3, seed)}, std::to_string(seed));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceDistribute, SortsWhatIsLarge) {
  constexpr std::size_t kLeast = std::size_t{1} << 22;
  for (const std::size_t size :
       {kLeast - 1, kLeast, 2 * kLeast + 4321, 4 * kLeast + 4321, (std::size_t{1} << 26) + 12345}) {
    for (const Shape shape : {Shape::kUniform, Shape::kSorted, Shape::kZipf, Shape::kEqual}) {
      if (this->kIsOfPairs && (shape != Shape::kZipf || size > 3 * kLeast)) continue;
      if (are_too_many(size)) continue;
      sort_and_compare(elements_of<TypeParam>(shape, size, 6), {.choice = {.least_keys = kLeast}},
                       "large");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceDistribute, SortsByDefaultWhateverTheCount) {
  for (const std::size_t size : {std::size_t{29000}, (std::size_t{1} << 26) + 1}) {
    if (are_too_many(size) || (this->kIsOfPairs && size > this->kMany)) continue;
    sort_and_compare(elements_of<TypeParam>(Shape::kUniform, size, 6), {}, "by default");
  }
}

TYPED_TEST(DeviceDistribute, NeedsLittleMoreThanASecondArray) {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 23;  // fewer are distributed once
  const std::size_t element_bytes =
      sizeof(typename TypeParam::Key) +
      (this->kIsOfPairs ? sizeof(ValueOf<TypeParam>) : std::size_t{0});
  for (std::uint64_t count = kLeast; count < kMaxSortedKeys; count += count / 9) {
    const std::size_t bytes = distribution_bytes<TypeParam>(count, {.least_keys = kLeast});
    const std::size_t array_bytes = count * element_bytes;
    EXPECT_LE(bytes - array_bytes, array_bytes * 6 / 100) << count;
  }
  cases_of_test.run = 1;
}

TYPED_TEST(DeviceDistribute, NeedsNoLessForMoreElements) {
  std::size_t least = 0;
  for (std::uint64_t power = 1; power < kMaxSortedKeys; power *= 2) {
    for (const std::uint64_t count : {power - 1, power, power + 1, power + power / 3}) {
      const std::size_t bytes = distribution_bytes<TypeParam>(count);
      EXPECT_GE(bytes, least) << count;
      least = bytes;
    }
  }
  cases_of_test.run = 1;
}

TYPED_TEST(DeviceDistribute, RefusesBadArgumentsBeforeAnyLaunch) {
  using Elements = Pairs<typename TypeParam::Key, typename TypeParam::Value>;
  const std::size_t count = 20000;
  const DistributionChoice choice = choice_of(2, 2);
  const DevicePairArrays<TypeParam> elements(2 * count, 0);
  const std::size_t bytes = distribution_bytes<TypeParam>(count, choice);
  const Scratch scratch(bytes, kScratchShift);
  const auto is_refused = [&](Elements input, Elements output, void* memory,
                              std::size_t memory_bytes) {
    return refused([&] {
      distribute<TypeParam>(
          {.input = input, .output = output, .count = count, .scratch = {memory, memory_bytes}},
          choice);
    });
  };
  const Elements all = elements.get();
  Elements no_keys = all;
  no_keys.keys = nullptr;
  EXPECT_TRUE(is_refused(no_keys, all, scratch.get(), bytes));
  EXPECT_TRUE(is_refused(all, no_keys, scratch.get(), bytes));
  Elements overlapping = all;
  overlapping.keys += 5;
  EXPECT_TRUE(is_refused(all, overlapping, scratch.get(), bytes));
  if constexpr (kHasValues<typename TypeParam::Value>) {
    EXPECT_TRUE(is_refused(all, {all.keys, nullptr}, scratch.get(), bytes));
    EXPECT_TRUE(is_refused(all, {all.keys, all.values + 5}, scratch.get(), bytes));
  }
  EXPECT_TRUE(is_refused(all, all, nullptr, bytes));
  EXPECT_TRUE(is_refused(all, all, scratch.get(), bytes - 1));
  EXPECT_TRUE(is_refused(all, all, scratch.get() + 8, bytes));
  distribute<TypeParam>({.count = 0}, choice);
}

}  // namespace
}  // namespace gsort::gpu
