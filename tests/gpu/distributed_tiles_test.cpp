// Sorts by distribution on the card whose tiles hold certain keys: crowded, repeated, or in few
// cells; and sorts in pieces. The device's counters say how the tiles were sorted.
#include <algorithm>
#include <bit>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "distribute_cases.hpp"
#include "gpu/distribute/distribute_shape.hpp"

namespace gsort::gpu {
namespace {

template <class T>
class DistributedTiles : public GpuTest {};
TYPED_TEST_SUITE(DistributedTiles, DistributedKeys);

// Key 7000000 is most of the sample before the splitter of two buckets. With the keys up to the
// end, it would fill more than a tile.
TYPED_TEST(DistributedTiles, KeepARepeatedKeyInTheShorterBucket) {
  using Key = typename TypeParam::Key;
  constexpr unsigned kSampleBits = 1 + kSampleBitsOfOnceBin;
  std::mt19937_64 random(9);
  std::vector<Key> keys(29000);
  const auto key_of = [&](std::uint64_t i, std::uint64_t count) {
    if (i * 100 < count * 38) return Key{7000000};
    return static_cast<Key>(random() % 1000000 + (i * 100 < count * 53 ? 1 : 8000000));
  };
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = key_of(i, keys.size());
  std::shuffle(keys.begin(), keys.end(), random);
  for (std::uint64_t i = 0; i < std::uint64_t{1} << kSampleBits; ++i) {
    keys[place_of_sample(i, keys.size(), kSampleBits, 1)] = key_of(i, 1U << kSampleBits);
  }
  const HostPairs<TypeParam> elements{std::move(keys), {}};
  EXPECT_EQ(counts_of_sort(elements, once(1)).long_tiles, 0U);
  sort_and_compare(elements, {.choice = once(1)}, "a repeated key");
}

// Keys that lie around few values crowd a cell each: a sample divides the tiles, or, if a cell of
// the sample may have no keys, they are merged, and only these.
template <class T>
HostPairs<T> crowded_keys(std::size_t count, unsigned values) {
  std::mt19937_64 random(11);
  HostPairs<T> elements{std::vector<typename T::Key>(count), {}};
  for (auto& key : elements.keys) {
    key = static_cast<typename T::Key>((random() % values << 24) + random() % 5000);
  }
  return elements;
}

TYPED_TEST(DistributedTiles, AreMergedIfTheirKeysCrowdAFewCells) {
  const auto keys = crowded_keys<TypeParam>(99000, 200);
  const DistributionCounts counts = counts_of_sort(keys, merging(choice_of(3, 2)));
  EXPECT_GE(counts.packed_tiles, 12U);
  // The cells of a short tile may need no merge, nor those of a tile with a lucky sample.
  EXPECT_GE(counts.lists.tile_arrays + 2, counts.packed_tiles);
  EXPECT_LT(counts_of_sort(keys, choice_of(3, 2)).lists.tile_arrays, counts.packed_tiles / 2);
  for (const auto& choice : {choice_of(3, 2), once()}) {
    sort_and_compare(keys, {.choice = choice}, "crowded");
    sort_and_compare(keys, {.choice = merging(choice)}, "crowded and merged");
  }
  auto some = elements_of<TypeParam>(Shape::kUniform, 99000, 5);
  const auto around_eight = crowded_keys<TypeParam>(some.count(), 8);
  for (std::size_t i = 0; i < some.count(); i += 2) some.keys[i] = around_eight.keys[i];
  const DistributionCounts mixed = counts_of_sort(some, merging(choice_of(3, 3)));
  EXPECT_GE(mixed.lists.tile_arrays, 1U);
  EXPECT_LT(mixed.lists.tile_arrays, mixed.packed_tiles);
  for (const auto& choice : {choice_of(3, 3), once()}) {
    sort_and_compare(some, {.choice = choice}, "half of them crowded");
    sort_and_compare(some, {.choice = merging(choice)}, "half of them merged");
  }
}

// By cells alone: no tile is merged.
template <class T>
void expect_no_merged_tile(const HostPairs<T>& elements, const DistributionChoice& choice,
                           const std::string& what) {
  const DistributionCounts counts = counts_of_sort(elements, choice);
  EXPECT_GE(counts.packed_tiles, 1U) << what;
  EXPECT_EQ(counts.lists.tile_arrays, 0U) << what;
  const auto map = KeyMap<typename T::Key>::of({mapped_type<typename T::Key>(), false, false});
  for (const std::size_t misalign : {0U, 1U, 3U}) {
    sort_and_compare(elements, {.choice = choice, .misalign = misalign, .in_place = true}, what);
    sort_and_compare(elements, {.choice = choice, .store_map = map, .misalign = misalign},
                     what + ", mapped");
  }
}

// As gsort-bench makes them: ramps, of which the first one's tiles have a key each, and octaves of
// ranks that are equally likely.
TYPED_TEST(DistributedTiles, OfSawtoothAndZipfAreSortedByCells) {
  using Key = typename TypeParam::Key;
  constexpr auto kGreatest = static_cast<Key>(~Key{0});
  HostPairs<TypeParam> elements{std::vector<Key>(29000), {}};
  for (const unsigned ramp : {7U, 29U, 200U}) {
    for (std::size_t i = 0; i < elements.count(); ++i) {
      elements.keys[i] = static_cast<Key>(i % ramp * (kGreatest / ramp));
    }
    expect_no_merged_tile(elements, choice_of(3, 3), "ramps of " + std::to_string(ramp));
  }
  std::mt19937_64 random(3);
  for (Key& key : elements.keys) {
    const std::uint64_t octave = std::uint64_t{1} << random() % 15;
    key = static_cast<Key>(std::mt19937_64(octave + random() % octave)());
  }
  expect_no_merged_tile(elements, choice_of(2, 2), "zipf");
}

// Random keys, and keys in the cell of `often`: `repeated` that repeat, and `others` that do not.
template <class T>
HostPairs<T> keys_in_one_cell(typename T::Key often, typename T::Key step, unsigned repeated,
                              unsigned others) {
  using Key = typename T::Key;
  auto elements = elements_of<T>(Shape::kUniform, 14000, 21);
  elements.keys.front() = 0;
  elements.keys.back() = static_cast<Key>(~Key{0});
  for (unsigned i = 0; i < 3000; ++i) {
    elements.keys[4 * i + 1] = static_cast<Key>(often + step * (i % repeated));
  }
  for (unsigned i = 0; i < others; ++i) {
    elements.keys[4 * i + 2] = static_cast<Key>(often + step * (100 + i));
  }
  return elements;
}

TYPED_TEST(DistributedTiles, SampleKeysThatRepeatInACell) {
  using Key = typename TypeParam::Key;
  constexpr auto kGreatest = static_cast<Key>(~Key{0});
  constexpr auto kDown = kGreatest;  // -1
  for (const auto& [often, step] : {std::pair<Key, Key>{0, 1},
                                    {kGreatest, kDown},
                                    {kGreatest / 3, 1},
                                    {kGreatest / 3 * 2, kDown}}) {
    for (const auto& [repeated, others] : {std::pair{1U, 0U}, {1U, 60U}, {2U, 0U}}) {
      expect_no_merged_tile(keys_in_one_cell<TypeParam>(often, step, repeated, others),
                            choice_of(1, 1),
                            std::to_string(often) + " and " + std::to_string(others) + " others");
      if (this->HasFatalFailure()) return;
    }
  }
}

// One tile, all of whose keys lie in groups of `length` that share a cell each, if the cells are
// not more than four times as many as the groups.
template <class T>
HostPairs<T> keys_in_groups(std::size_t count, unsigned length) {
  using Key = typename T::Key;
  HostPairs<T> elements{std::vector<Key>(count), {}};
  const std::size_t groups = count / length + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto group = static_cast<Key>(i % groups);
    elements.keys[i] = group * static_cast<Key>(~Key{0} / groups) + static_cast<Key>(count - i);
  }
  return elements;
}

TYPED_TEST(DistributedTiles, HaveCellsOfAnyLength) {
  using Key = typename TypeParam::Key;
  const std::size_t tile = packed_tile_keys<Key>(tuning_for<Key>(90).block_sort_keys());
  for (const std::size_t count : {tile, tile - 5, std::size_t{3000}}) {
    for (unsigned length = 2; length < 36; ++length) {
      sort_and_compare(keys_in_groups<TypeParam>(count, length), {.choice = choice_of(1, 1)},
                       std::to_string(length));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DistributedTiles, AreOfPiecesIfKeysAreTooMany) {
  using Key = typename TypeParam::Key;
  const auto map = KeyMap<Key>::of({mapped_type<Key>(), false, true});
  for (const std::size_t most : {std::size_t{9'900}, std::size_t{100'000}}) {
    const auto elements = elements_of<TypeParam>(Shape::kUniform, 3 * most - 1, 7);
    if (are_too_many(elements.count())) continue;
    DistributionChoice choice = choice_of(1, 2);
    choice.most_keys = most;
    const auto first = scratch_of_sort<Key>(elements, choice, most * 3 / 4);
    EXPECT_TRUE(std::ranges::is_sorted(first) && first.front() < first.back())
        << "the first piece lies there, before it is merged";
    sort_and_compare(elements, {.choice = choice}, "pieces, apart");
    sort_and_compare(elements, {choice, map, map, 1, true}, "pieces, in place and mapped");
    if (this->HasFatalFailure()) return;
  }
}

template <class T>
class DistributedPairTiles : public GpuTest {};
TYPED_TEST_SUITE(DistributedPairTiles, DistributedPairs);

// Keys that lie around few values crowd a cell each: tiles are merged, and only these.
TYPED_TEST(DistributedPairTiles, AreMergedIfTheirKeysCrowdAFewCells) {
  using Key = typename TypeParam::Key;
  auto pairs = elements_of<TypeParam>(Shape::kUniform, 99000, 5);
  for (Key& key : pairs.keys) key = static_cast<Key>((key % 200 << 24) + key / 200 % 5000);
  const auto all = counts_of_sort(pairs, choice_of(3, 3));
  EXPECT_GE(all.packed_tiles, 12U);
  EXPECT_EQ(all.lists.tile_arrays, all.packed_tiles);
  sort_and_compare(pairs, {.choice = choice_of(3, 3)}, "crowded");
  pairs = elements_of<TypeParam>(Shape::kUniform, 99000, 6);
  for (std::size_t i = 0; i < pairs.keys.size(); i += 2)
    pairs.keys[i] = pairs.keys[i] % 2000 + 12345;
  const auto mixed = counts_of_sort(pairs, choice_of(3, 3));
  EXPECT_GE(mixed.lists.tile_arrays, 1U);
  EXPECT_LT(mixed.lists.tile_arrays, mixed.packed_tiles);
  sort_and_compare(pairs, {.choice = choice_of(3, 3)}, "half of them crowded");
}

// A tile whose range fits the words that its pairs become, or does not; keys that repeat share a
// cell with their neighbours.
TYPED_TEST(DistributedPairTiles, OfAnyRangeAreSortedStably) {
  using Key = typename TypeParam::Key;
  constexpr CellSortTuning kTuning = kCellPairSort<Key, typename TypeParam::Value>;
  constexpr unsigned kRangeBits = 8 * sizeof(Key) - (std::bit_width(kTuning.tile_keys()) - 1);
  const std::size_t tile = packed_tile_keys<Key>(kTuning.tile_keys());
  for (const std::size_t count : {tile, tile - 5, std::size_t{3000}}) {
    for (const unsigned bits : {11U, 12U, 14U, kRangeBits, kRangeBits + 1}) {
      auto pairs = elements_of<TypeParam>(Shape::kUniform, count, bits);
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

TYPED_TEST(DistributedPairTiles, OfOneKeyStayAsTheyAre) {
  using Key = typename TypeParam::Key;
  using Pair = PairOf<Key, typename TypeParam::Value>;
  const std::size_t repeats = tuning_for<Pair>(90).block_sort_keys() / 2 + 10;
  auto pairs = elements_of<TypeParam>(Shape::kUniform, 7 * repeats, 5);
  for (std::size_t i = 0; i < pairs.keys.size(); ++i)
    pairs.keys[i] = static_cast<Key>(i % 7 * 1000);
  const auto counts = counts_of_sort(pairs, choice_of(3, 3));
  EXPECT_GE(counts.packed_tiles, 4U);  // other keys are alone in a bucket
  EXPECT_EQ(counts.lists.tile_arrays, 0U);
  const auto map = KeyMap<Key>::of({mapped_type<Key>(), false, false});
  sort_and_compare(pairs, {.choice = choice_of(3, 3)}, "a key a tile");
  sort_and_compare(pairs, {.choice = choice_of(3, 3), .store_map = map}, "a key a tile, mapped");
}

}  // namespace
}  // namespace gsort::gpu
