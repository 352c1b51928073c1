// Merges of slices and of two arrays on the card, of keys and of pairs, against std::stable_sort of
// a copy taken before the call: a stable merge of slices one behind the other is a stable sort of
// all.
#include "gpu/merge/device_merge.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "device_memory.hpp"
#include "distributions.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/tuning.hpp"
#include "gpu/shares/share_elements.hpp"
#include "grouped_keys.hpp"
#include "pairs_on_both.hpp"

namespace gsort::gpu {
namespace {

template <class Key, class Value>
std::size_t array_merge_bytes(std::uint64_t total) {
  if constexpr (kHasValues<Value>) {
    return merge_pair_arrays_scratch_bytes<Key, Value>(total);
  } else {
    return merge_arrays_scratch_bytes<Key>(total);
  }
}
template <class Key, class Value>
void merge_two(const ElementArrayMerge<Key, Value>& merge) {
  if constexpr (kHasValues<Value>) {
    merge_pair_arrays(merge);
  } else {
    merge_arrays(merge);
  }
}

// Sorts the keys of each slice.
template <class Key>
void sort_slices(std::vector<Key>& keys, const std::vector<std::uint64_t>& counts) {
  auto begin = keys.begin();
  for (const std::uint64_t count : counts) {
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(count));
    begin += static_cast<std::ptrdiff_t>(count);
  }
}

template <class T>
struct Slices {
  HostPairs<T> pairs;
  std::vector<std::uint64_t> counts;
};

// Keys of a shape, cut at random places; some slices are empty, some hold one key.
template <class T>
Slices<T> make_slices(Shape shape, std::uint32_t slice_count, std::uint64_t mean,
                      std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Slices<T> slices;
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < slice_count; ++i) {
    const std::uint64_t kind = random() % 8;
    const std::uint64_t count = kind == 0 ? 0 : (kind == 1 ? 1 : random() % (2 * mean + 1));
    slices.counts.push_back(count);
    total += count;
  }
  auto keys = make_keys<typename T::Key>(shape, total, seed);
  sort_slices(keys, slices.counts);
  slices.pairs = with_positions<T>(std::move(keys));
  return slices;
}

// Two arrays in one allocation: which one comes first, how many elements lie between them, and how
// many they and the output are away from an aligned address.
struct Places {
  bool b_is_first;
  std::size_t gap;
  std::size_t misalign;
};

template <class T>
class DeviceMerge : public GpuTest {
 protected:
  using K = typename T::Key;
  using V = typename T::Value;
  static constexpr bool kIsOfPairs = kHasValues<V>;

  static void merge_and_compare(const Slices<T>& slices, const KeyMap<K>& map, std::size_t misalign,
                                const std::string& what) {
    if (is_left_out(slices.pairs.count())) return;
    const HostPairs<T> expected = stably_sorted(slices.pairs, {}, map);
    const auto slice_count = static_cast<std::uint32_t>(slices.counts.size());
    const std::size_t count = slices.pairs.count();
    const DevicePairArrays<T> input(slices.pairs, misalign);
    const DevicePairArrays<T> output(count, misalign / 2);
    const std::size_t bytes = merge_bytes<K, V>(count, slice_count);
    const Scratch scratch(bytes, kScratchShift);
    merge_elements<K, V>({.input = input.get(),
                          .slice_counts = slices.counts.data(),
                          .slice_count = slice_count,
                          .output = output.get(),
                          .store_map = map,
                          .scratch = {scratch.get(), bytes}});
    const HostPairs<T> found = output.pairs();
    const std::string all = what + ", " + std::to_string(slice_count) + " slices, ";
    ASSERT_TRUE(found.keys == expected.keys) << "keys, " << all << count;
    ASSERT_TRUE(found.values == expected.values) << "values, " << all << count;
    ASSERT_TRUE(output.guards_hold() && scratch.guards_hold()) << what;
    ASSERT_TRUE(input.pairs() == slices.pairs) << what << ": the input changed";
  }

  // Merges arrays with these keys, once sorted. They lie where `places` says.
  static void merge_two_and_compare(std::vector<K> keys, std::uint64_t a_count,
                                    const Places& places, const KeyMap<K>& map = {}) {
    if (is_left_out(keys.size())) return;
    const bool b_is_first = places.b_is_first;
    const std::uint64_t b_count = keys.size() - a_count;
    sort_slices(keys, {a_count, b_count});
    const HostPairs<T> pairs = with_positions<T>(std::move(keys));
    HostPairs<T> placed = pairs;
    const std::uint64_t first = b_is_first ? b_count : a_count;
    const auto place = [&](auto& all) {
      if (all.empty()) return;
      const auto a_end = all.begin() + static_cast<std::ptrdiff_t>(a_count);
      if (b_is_first) std::rotate(all.begin(), a_end, all.end());
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(first), places.gap, {});
    };
    place(placed.keys);
    place(placed.values);
    const DevicePairArrays<T> input(placed, places.misalign);
    const Pairs<K, V> a = behind(input.get(), b_is_first ? first + places.gap : 0);
    const Pairs<K, V> b = behind(input.get(), b_is_first ? 0 : first + places.gap);
    const DevicePairArrays<T> output(pairs.count(), places.misalign);
    const std::size_t bytes = array_merge_bytes<K, V>(pairs.count());
    const Scratch scratch(bytes, kScratchShift);
    // An empty array has an address in some cases, and none in the others.
    merge_two<K, V>({.a = b_is_first && a_count == 0 ? Pairs<K, V>{} : a,
                     .a_count = a_count,
                     .b = b_is_first && b_count == 0 ? Pairs<K, V>{} : b,
                     .b_count = b_count,
                     .output = output.get(),
                     .store_map = map,
                     .scratch = {scratch.get(), bytes}});
    ASSERT_TRUE(output.pairs() == stably_sorted(pairs, {}, map)) << a_count << " + " << b_count;
    ASSERT_TRUE(output.guards_hold() && scratch.guards_hold());
    ASSERT_TRUE(input.pairs() == placed) << "an input changed";
  }
};
TYPED_TEST_SUITE(DeviceMerge, AllElements);

TYPED_TEST(DeviceMerge, MergesAnyNumberOfSlices) {
  for (const std::uint32_t slice_count :
       {0U, 1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 15U, 16U, 17U, 63U, 64U, 65U, 300U, 600U}) {
    for (const std::uint64_t mean : {3U, 100U, 5000U}) {
      if (are_too_many(slice_count * mean / 2)) continue;
      if (this->kIsOfPairs && slice_count * mean > 400'000) continue;
      for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct}) {
        this->merge_and_compare(make_slices<TypeParam>(shape, slice_count, mean, mean), {}, 0,
                                "slices");
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Four passes, and five.
TYPED_TEST(DeviceMerge, MergesAsManySlicesAsManyHostsHave) {
  for (const std::uint32_t slice_count : {1'024U, 10'000U}) {
    const auto slices = [&](Shape shape, std::uint64_t mean) {
      return make_slices<TypeParam>(shape, slice_count, mean, 9);
    };
    this->merge_and_compare(slices(Shape::kUniform, 2), {}, 0, "short");
    if (!this->kIsOfPairs && !are_too_many(slice_count * std::size_t{2'000} / 2)) {
      this->merge_and_compare(slices(Shape::kUniform, 2'000), {}, 0, "long");
    }
    this->merge_and_compare(slices(Shape::kFewDistinct, 2), {}, 0, "few distinct keys");
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceMerge, MergesEveryShape) {
  for (const NamedShape& named : kShapes) {
    for (const std::uint32_t slice_count : {2U, 4U, 7U, 20U}) {
      for (const std::uint64_t mean : {700U, 60000U}) {
        if (are_too_many(slice_count * mean / 2)) continue;
        this->merge_and_compare(make_slices<TypeParam>(named.shape, slice_count, mean, 3), {}, 0,
                                std::string(named.name));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(DeviceMerge, MergesAtAnyAlignmentAndMaps) {
  using Key = typename TypeParam::Key;
  const auto map = KeyMap<Key>::of({mapped_type<Key>(), true, true});
  for (const std::size_t misalign : {1U, 2U, 3U, 5U, 15U, 31U}) {
    for (const std::uint32_t slice_count : {1U, 2U, 6U, 70U}) {
      if (are_too_many(slice_count * std::size_t{9'000} / 2)) continue;
      this->merge_and_compare(make_slices<TypeParam>(Shape::kUniform, slice_count, 9000, 4), map,
                              misalign, "misaligned by " + std::to_string(misalign));
      if (this->HasFatalFailure()) return;
    }
  }
}

// Words of pairs hold a part of such keys; ties are put right afterwards.
TYPED_TEST(DeviceMerge, MergesKeysThatDifferInTheirLastBitsAlone) {
  using Key = typename TypeParam::Key;
  if (!this->kIsOfPairs) return;
  for_each_grouping<Key>([&](const Grouping& grouping, std::vector<Key> keys) {
    if (this->HasFatalFailure()) return;
    Slices<TypeParam> slices;
    for (std::uint64_t left = keys.size(); left > 0; left -= slices.counts.back()) {
      slices.counts.push_back(std::min<std::uint64_t>(left, 20000));
    }
    sort_slices(keys, slices.counts);
    slices.pairs = with_positions<TypeParam>(std::move(keys));
    this->merge_and_compare(slices, {}, 0, grouping.words());
  });
}

TYPED_TEST(DeviceMerge, MergesTwoArraysThatLieAnywhere) {
  using Key = typename TypeParam::Key;
  const SmallTuning small = small_tuning_for<Key>(90);
  const std::uint64_t most = small.most_merged_keys;
  const std::uint64_t tile = small.kernels.merge_tile_keys(2);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes{{0, 1},
                                                                   {1, 0},
                                                                   {1, 1},
                                                                   {7, 3000},
                                                                   {2000, 48},
                                                                   {2048, 2048},
                                                                   {tile, tile},
                                                                   {tile, 1},
                                                                   {tile - 1, 0},
                                                                   {0, 5000},
                                                                   {0, 100000},
                                                                   {500000, 3},
                                                                   {40000, 123457},
                                                                   {most, most},
                                                                   {70000, 70001},
                                                                   {most / 2, most - most / 2},
                                                                   {most, 1},
                                                                   {1, most},
                                                                   {most / 3, most},
                                                                   {most / 2, most / 3},
                                                                   {2 * tile + 1, 5 * tile - 3}};
  for (const auto& [a_count, b_count] : sizes) {
    if (are_too_many(a_count + b_count)) continue;
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct, Shape::kMaximum}) {
      if (shape != Shape::kUniform && !this->kIsOfPairs) continue;
      for (const Places& places : {Places{false, 0, 0}, {true, 0, 0}, {true, 65, 2}}) {
        this->merge_two_and_compare(make_keys<Key>(shape, a_count + b_count, a_count), a_count,
                                    places);
        if (this->HasFatalFailure()) return;
      }
    }
    for (const bool descending : {false, true}) {
      this->merge_two_and_compare(make_keys<Key>(Shape::kUniform, a_count + b_count, a_count),
                                  a_count, {true, 0, 3},
                                  KeyMap<Key>::of({mapped_type<Key>(), true, descending}));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceMerge, MergesTwoArraysOfEveryShape) {
  using Key = typename TypeParam::Key;
  const std::uint64_t most =
      this->kIsOfPairs ? 1U << 20 : small_tuning_for<Key>(90).most_merged_keys;
  for (const NamedShape& named : kShapes) {
    for (const std::uint64_t count : {std::uint64_t{3000}, std::uint64_t{30000}, most}) {
      if (are_too_many(count + count / 3)) continue;
      this->merge_two_and_compare(make_keys<Key>(named.shape, count + count / 3, count), count,
                                  {true, 0, 1});
      ASSERT_FALSE(this->HasFatalFailure()) << named.name;
    }
  }
}

// A key that one array has and the other has not, or that is missing between others.
TYPED_TEST(DeviceMerge, MergesTwoArraysWhereKeysAreInOneAlone) {
  using Key = typename TypeParam::Key;
  std::mt19937_64 random(5);
  for (const std::uint64_t count : {500U, 1U << 20}) {
    if (are_too_many(2 * count)) continue;
    for (int round = 0; round < 4; ++round) {
      std::vector<Key> keys(2 * count);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const unsigned stride = i >= count && round % 2 == 0 ? 2 : 3;
        keys[i] = static_cast<Key>(random() % 40 * stride + (i < count ? 1 : 0));
      }
      this->merge_two_and_compare(std::move(keys), count, {round > 1, 65, 2});
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceMerge, MergesTwoArraysThatOverlap) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  constexpr std::uint64_t kCount = 9000;
  constexpr std::uint64_t kShift = 1234;
  std::vector<Key> keys = make_keys<Key>(Shape::kUniform, kCount + kShift, 8);
  std::sort(keys.begin(), keys.end());
  const auto pairs = with_positions<TypeParam>(keys);
  HostPairs<TypeParam> all;  // [0, kCount) and [kShift, kShift + kCount), end to end
  const auto join = [](auto& to, const auto& from) {
    if (from.empty()) return;
    to.assign(from.begin(), from.begin() + kCount);
    to.insert(to.end(), from.begin() + kShift, from.end());
  };
  join(all.keys, pairs.keys);
  join(all.values, pairs.values);
  const DevicePairArrays<TypeParam> input(pairs, 0);
  const DevicePairArrays<TypeParam> output(all.count(), 0);
  const std::size_t bytes = array_merge_bytes<Key, Value>(all.count());
  const Scratch scratch(bytes, kScratchShift);
  merge_two<Key, Value>({.a = input.get(),
                         .a_count = kCount,
                         .b = behind(input.get(), kShift),
                         .b_count = kCount,
                         .output = output.get(),
                         .scratch = {scratch.get(), bytes}});
  EXPECT_TRUE(output.pairs() == stably_sorted(all, {}, {}));
}

TYPED_TEST(DeviceMerge, RunsOnSeveralStreamsAtOnce) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  constexpr int kStreams = 4;
  const auto slices = make_slices<TypeParam>(Shape::kUniform, 30, kCountOfStreams / 15, 8);
  const auto expected = stably_sorted(slices.pairs, {}, {});
  const auto slice_count = static_cast<std::uint32_t>(slices.counts.size());
  const std::size_t bytes = merge_bytes<Key, Value>(expected.count(), slice_count);
  const DevicePairArrays<TypeParam> input(slices.pairs, 0);
  std::vector<std::unique_ptr<DevicePairArrays<TypeParam>>> outputs;
  std::vector<std::unique_ptr<Scratch>> scratches;
  cudaStream_t streams[kStreams];
  for (auto& stream : streams) {
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), CudaCall::kStream,
               "stream");
    outputs.push_back(std::make_unique<DevicePairArrays<TypeParam>>(expected.count(), 0));
    scratches.push_back(std::make_unique<Scratch>(bytes, kScratchShift));
  }
  for (int round = 0; round < kRoundsOfStreams; ++round) {
    for (std::size_t i = 0; i < kStreams; ++i) {
      std::vector<std::uint64_t> counts = slices.counts;  // gone before the device reads anything
      merge_elements<Key, Value>({.input = input.get(),
                                  .slice_counts = counts.data(),
                                  .slice_count = slice_count,
                                  .output = outputs[i]->get(),
                                  .scratch = {scratches[i]->get(), bytes},
                                  .stream = streams[i]});
      std::fill(counts.begin(), counts.end(), 1);
    }
  }
  for (const auto& output : outputs) EXPECT_TRUE(output->pairs() == expected);
  for (const auto stream : streams) cudaStreamDestroy(stream);
}

TYPED_TEST(DeviceMerge, RefusesBadArgumentsBeforeAnyLaunch) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  const std::vector<std::uint64_t> counts{9000, 11000};
  const DevicePairArrays<TypeParam> input(20000, 0);
  const DevicePairArrays<TypeParam> output(20000, 0);
  const std::size_t slices_bytes = merge_bytes<Key, Value>(20000, 2);
  const std::size_t arrays_bytes = array_merge_bytes<Key, Value>(20000);
  const Scratch scratch(std::max(slices_bytes, arrays_bytes), kScratchShift);
  const Pairs<Key, Value> in = input.get();
  const Pairs<Key, Value> out = output.get();
  const auto slices_refused = [&](ConstPairs<Key, Value> from, const std::uint64_t* table,
                                  Pairs<Key, Value> to, void* memory, std::size_t memory_bytes) {
    return refused([&] {
      merge_elements<Key, Value>({.input = from,
                                  .slice_counts = table,
                                  .slice_count = 2,
                                  .output = to,
                                  .scratch = {memory, memory_bytes}});
    });
  };
  ConstPairs<Key, Value> second = in;
  const auto arrays_refused = [&](ConstPairs<Key, Value> from, const std::uint64_t* table,
                                  Pairs<Key, Value> to, void* memory, std::size_t memory_bytes) {
    return refused([&] {
      merge_two<Key, Value>({.a = from,
                             .a_count = table[0],
                             .b = second,
                             .b_count = table[1],
                             .output = to,
                             .scratch = {memory, memory_bytes}});
    });
  };
  const auto expect_refusals = [&](const auto& is_refused, std::size_t bytes) {
    const auto* const table = counts.data();
    EXPECT_FALSE(is_refused(in, table, out, scratch.get(), bytes));
    EXPECT_TRUE(is_refused({nullptr, in.values}, table, out, scratch.get(), bytes));
    EXPECT_TRUE(is_refused(in, table, {nullptr, out.values}, scratch.get(), bytes));
    EXPECT_TRUE(is_refused(in, table, {in.keys, out.values}, scratch.get(), bytes));
    EXPECT_TRUE(is_refused(in, table, {in.keys + 7, out.values}, scratch.get(), bytes));
    EXPECT_TRUE(is_refused(in, table, out, scratch.get(), bytes - 1));
    EXPECT_TRUE(is_refused(in, table, out, nullptr, bytes));
    EXPECT_TRUE(is_refused(in, table, out, scratch.get() + 8, bytes));
    const std::vector<std::uint64_t> huge{~std::uint64_t{0}, 2};
    EXPECT_TRUE(is_refused(in, huge.data(), out, scratch.get(), bytes));
    if (!this->kIsOfPairs) return;
    EXPECT_TRUE(is_refused({in.keys, nullptr}, table, out, scratch.get(), bytes));
    EXPECT_TRUE(is_refused(in, table, {out.keys, nullptr}, scratch.get(), bytes));
    EXPECT_TRUE(is_refused(in, table, {out.keys, in.values}, scratch.get(), bytes));
  };
  expect_refusals(slices_refused, slices_bytes);
  expect_refusals(arrays_refused, arrays_bytes);
  EXPECT_TRUE(slices_refused(in, nullptr, out, scratch.get(), slices_bytes));
  second = {nullptr, in.values};
  EXPECT_TRUE(arrays_refused(in, counts.data(), out, scratch.get(), arrays_bytes));
  second = {in.keys, nullptr};
  EXPECT_EQ(arrays_refused(in, counts.data(), out, scratch.get(), arrays_bytes), this->kIsOfPairs);
  merge_two<Key, Value>({.a_count = 0, .b_count = 0});
}

template <class Key>
class DeviceMergeInPieces : public GpuTest {};
using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t, UInt128>;
TYPED_TEST_SUITE(DeviceMergeInPieces, KeyTypes);

// A copy that is queued right after a piece has all keys of the piece.
TYPED_TEST(DeviceMergeInPieces, TellsOfEachPieceWhenItIsQueued) {
  for (const std::uint32_t slice_count : {1U, 2U, 3U, 8U, 9U}) {
    for (const std::uint64_t piece_keys : {1U, 9'000U, 1'000'000U}) {
      const auto slices =
          make_slices<Types<TypeParam, NoValue>>(Shape::kUniform, slice_count, 3'000, 3);
      std::vector<TypeParam> keys = slices.pairs.keys;
      const std::uint64_t count = keys.size();
      const DeviceArray<TypeParam> input(keys);
      const DeviceArray<TypeParam> output(count);
      const DeviceArray<TypeParam> copies(count);
      const std::size_t bytes = merge_slices_scratch_bytes<TypeParam>(count, slice_count);
      const Scratch scratch(bytes, kScratchShift);
      std::uint64_t told = 0;
      unsigned pieces = 0;
      merge_slices_in_pieces<TypeParam>(
          {.input = input.get(),
           .slice_counts = slices.counts.data(),
           .slice_count = slice_count,
           .output = output.get(),
           .scratch = {scratch.get(), bytes}},
          piece_keys, [&](std::uint64_t begin, std::uint64_t end) {
            EXPECT_EQ(begin, told);
            EXPECT_GT(end, begin);
            told = end;
            ++pieces;
            check_cuda(cudaMemcpyAsync(copies.get() + begin, output.get() + begin,
                                       (end - begin) * sizeof(TypeParam), cudaMemcpyDeviceToDevice,
                                       nullptr),
                       CudaCall::kCopy, "copying a piece");
          });
      EXPECT_EQ(told, count);
      const bool is_cut = slice_count > 2 && slice_count <= 8 && piece_keys < count;
      EXPECT_EQ(pieces > 1, is_cut) << slice_count << " slices, pieces of " << piece_keys;
      std::sort(keys.begin(), keys.end());
      EXPECT_TRUE(copies.values() == keys);
    }
  }
}

}  // namespace
}  // namespace gsort::gpu
