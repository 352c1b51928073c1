// sort_batch and sort_segmented_batch on the card, against std::sort of each array of a copy taken
// before the call.
#include "gpu/segmented/device_batch.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "distributions.hpp"
#include "gpu/cuda/tuning.hpp"
#include "gpu/merge/merge_pass.hpp"
#include "gpu/segmented/segmented_windows.hpp"

namespace gsort::gpu {
namespace {

using Lengths = std::vector<std::uint64_t>;

template <class Key>
struct Call {
  KeyMap<Key> load_map{};
  KeyMap<Key> store_map{};
  std::size_t misalign = 0;
  bool in_place = false;
};

template <class Key>
std::vector<Key> sorted_arrays(std::vector<Key> keys, const Lengths& lengths,
                               const Call<Key>& call) {
  for (Key& key : keys) key = call.load_map.to_ordered(key);
  auto begin = keys.begin();
  for (const std::uint64_t length : lengths) {
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(length));
    begin += static_cast<std::ptrdiff_t>(length);
  }
  for (Key& key : keys) key = call.store_map.to_raw(key);
  return keys;
}

// Sorts by `sort(input, output, scratch, scratch_bytes)` and compares.
template <class Key, class Sort>
void run_and_compare(const std::vector<Key>& keys, const Lengths& lengths, const Call<Key>& call,
                     std::size_t scratch_bytes, const std::string& what, const Sort& sort) {
  if (is_left_out(keys.size())) return;
  const std::vector<Key> expected = sorted_arrays(keys, lengths, call);
  const DeviceArray<Key> input(keys, call.misalign);
  const DeviceArray<Key> apart(call.in_place ? 0 : keys.size(), call.misalign);
  const DeviceArray<Key>& output = call.in_place ? input : apart;
  const DeviceArray<unsigned char> scratch(scratch_bytes, 256 - DeviceArray<char>::kGuard);
  sort(input.get(), output.get(), scratch.get());
  ASSERT_TRUE(output.values() == expected) << what;
  ASSERT_TRUE(output.guards_hold() && scratch.guards_hold()) << what << ": wrote outside";
  ASSERT_TRUE(call.in_place || input.values() == keys) << what << ": the input changed";
}

template <class Key>
void sort_even(const std::vector<Key>& keys, std::uint64_t array_keys, const Call<Key>& call = {},
               const std::string& what = "") {
  const std::uint64_t arrays = keys.size() / array_keys;
  const std::size_t bytes = sort_batch_scratch_bytes<Key>(arrays, array_keys);
  run_and_compare<Key>(keys, Lengths(arrays, array_keys), call, bytes,
                       what + " " + std::to_string(arrays) + " x " + std::to_string(array_keys),
                       [&](const Key* input, Key* output, void* scratch) {
                         sort_batch<Key>({.input = input,
                                          .output = output,
                                          .array_count = arrays,
                                          .array_keys = array_keys,
                                          .load_map = call.load_map,
                                          .store_map = call.store_map,
                                          .scratch = {scratch, bytes}});
                       });
}

template <class Key>
void sort_segmented(const Lengths& lengths, Shape shape, const Call<Key>& call = {},
                    const std::string& what = "") {
  std::vector<std::uint64_t> offsets(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  const std::uint64_t count = offsets.back();
  const DeviceArray<std::uint64_t> device_offsets(offsets);
  for (const std::uint64_t longest :
       {kUnknownLongest, *std::max_element(lengths.begin(), lengths.end())}) {
    const std::size_t bytes =
        sort_segmented_batch_scratch_bytes<Key>(lengths.size(), count, longest);
    run_and_compare<Key>(make_keys<Key>(shape, count, count), lengths, call, bytes,
                         what + " " + std::to_string(lengths.size()) + " arrays of " +
                             std::to_string(count) + " keys, none longer than " +
                             std::to_string(longest),
                         [&](const Key* input, Key* output, void* scratch) {
                           sort_segmented_batch<Key>({.input = input,
                                                      .output = output,
                                                      .offsets = device_offsets.get(),
                                                      .array_count = lengths.size(),
                                                      .count = count,
                                                      .longest = longest,
                                                      .load_map = call.load_map,
                                                      .store_map = call.store_map,
                                                      .scratch = {scratch, bytes}});
                         });
  }
  ASSERT_TRUE(device_offsets.values() == offsets && device_offsets.guards_hold());
}

template <class Key>
class DeviceBatch : public GpuTest {
 protected:
  static constexpr std::uint64_t kTile = tuning_for<Key>(90).block_sort_keys();
};

using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceBatch, KeyTypes);

// Lengths at the borders of a row's lists, a row, a warp's rows, a tile, and tiles times fan-ins.
template <class Key>
Lengths border_lengths() {
  const KernelTuning tuning = tuning_for<Key>(90);
  const std::uint64_t tile = tuning.block_sort_keys();
  Lengths lengths{1,  2,  3,  4,  5,  7,   8,   9,   15,  16,  17,   31,   32,
                  33, 63, 64, 65, 96, 100, 255, 256, 257, 700, 1000, 1024, 2730};
  const auto around = [&](std::uint64_t length) {
    for (const std::uint64_t near : {length - 1, length, length + 1}) lengths.push_back(near);
  };
  around(tuning.keys_per_thread);
  around(32 * tuning.keys_per_thread);
  around(tile / 2);
  for (const std::uint64_t times : {1U, 2U, 3U, 8U}) around(times * tile);
  lengths.push_back(9 * tile + 5);
  lengths.push_back(100003);
  return lengths;
}

TYPED_TEST(DeviceBatch, SortsArraysOfEveryLengthAtABorder) {
  for (const std::uint64_t array_keys : border_lengths<TypeParam>()) {
    for (const std::uint64_t arrays :
         {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, 2 + 150000 / array_keys}) {
      if (are_too_many(arrays * array_keys)) continue;
      sort_even(make_keys<TypeParam>(Shape::kUniform, arrays * array_keys, array_keys), array_keys);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceBatch, SortsArraysOfEverySmallLength) {
  for (std::uint64_t array_keys = 1; array_keys <= 300; ++array_keys) {
    const std::uint64_t arrays = 20000 / array_keys + array_keys % 3;
    sort_even(make_keys<TypeParam>(Shape::kUniform, arrays * array_keys, array_keys), array_keys);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceBatch, SortsEveryShape) {
  for (const NamedShape& named : kShapes) {
    for (const std::uint64_t array_keys :
         {std::uint64_t{3}, std::uint64_t{16}, std::uint64_t{64}, std::uint64_t{100},
          std::uint64_t{1025}, this->kTile, 5 * this->kTile + 3, std::uint64_t{600000}}) {
      for (const std::uint64_t count : {5000U, 600000U}) {
        const std::uint64_t arrays = 1 + count / array_keys;
        if (are_too_many(arrays * array_keys)) continue;
        sort_even(make_keys<TypeParam>(named.shape, arrays * array_keys, 5), array_keys, {},
                  std::string(named.name));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(DeviceBatch, SortsInPlaceAndAtAnyAlignment) {
  for (const std::uint64_t array_keys :
       {std::uint64_t{2}, std::uint64_t{5}, std::uint64_t{64}, std::uint64_t{65},
        std::uint64_t{3000}, 2 * this->kTile, 9 * this->kTile + 7}) {
    for (const std::uint64_t count : {5000U, 200000U}) {
      const std::uint64_t size = (1 + count / array_keys) * array_keys;
      if (are_too_many(size)) continue;
      const auto keys = make_keys<TypeParam>(Shape::kUniform, size, 3);
      for (const std::size_t misalign : {0U, 1U, 2U, 3U}) {
        for (const bool in_place : {false, true}) {
          sort_even<TypeParam>(keys, array_keys, {{}, {}, misalign, in_place}, "misaligned");
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(DeviceBatch, AppliesTheMapsOfEveryFormat) {
  for (const KeyType type : kAllKeyTypes) {
    if (bytes_of(type) != sizeof(TypeParam)) continue;
    for (const bool big_endian : {false, true}) {
      for (const bool descending : {false, true}) {
        const auto map = KeyMap<TypeParam>::of({type, big_endian, descending});
        for (const std::uint64_t array_keys :
             {std::uint64_t{1}, std::uint64_t{4}, std::uint64_t{9}, std::uint64_t{100},
              std::uint64_t{2048}, this->kTile * 3 + 1}) {
          const auto keys = make_keys<TypeParam>(Shape::kUniform, 3 * array_keys, 9);
          sort_even<TypeParam>(keys, array_keys, {map, map, 0, true}, std::string(name_of(type)));
          sort_even<TypeParam>(keys, array_keys, {map, {}, 1, false}, std::string(name_of(type)));
          if (this->HasFatalFailure()) return;
        }
        const Lengths lengths{0, 1, 77, 5000, this->kTile + 1, 20 * this->kTile, 3};
        sort_segmented<TypeParam>(lengths, Shape::kUniform, {map, map, 0, true});
        sort_segmented<TypeParam>(lengths, Shape::kUniform, {map, {}, 1, false});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Lengths by kinds: of each kind, what a mix of arrays may look like.
constexpr int kLengthKinds = 9;
template <class Key>
Lengths random_lengths(std::mt19937_64& random, int kind, std::uint64_t tile) {
  constexpr unsigned kShortKeys = LowWindows<Key>::kShortKeys;
  Lengths lengths;
  const auto add = [&](std::size_t arrays, std::uint64_t most) {
    for (std::size_t i = 0; i < arrays; ++i) lengths.push_back(random() % (most + 1));
  };
  switch (kind) {
    case 0:  // tiny
      add(40000, 6);
      break;
    case 1:  // mostly empty
      add(30000, 0);
      add(500, 40);
      break;
    case 2:
      add(3000, 100);
      break;
    case 3:  // around the border between shared and own tiles
      for (int i = 0; i < 100; ++i) lengths.push_back(kSharedTileKeys - 5 + random() % 11);
      add(200, 4000);
      break;
    case 4:  // around the border between one tile and passes
      for (int i = 0; i < 20; ++i) lengths.push_back(tile - 2 + random() % 5);
      add(20, 3 * tile);
      break;
    case 5:  // all classes, tiny ones in the majority, so that rows are narrow
      add(100000, 3);
      add(3, 30 * tile);
      add(30, tile);
      add(20, 2500);
      break;
    case 6:  // few long enough to be no short arrays, around both borders of these
      add(8000, 200);
      for (int i = 0; i < 100; ++i) lengths.push_back(kShortKeys - 5 + random() % 11);
      for (int i = 0; i < 100; ++i) lengths.push_back(kSharedTileKeys - 5 + random() % 11);
      for (int i = 0; i < 400; ++i) lengths.push_back(kShortKeys + random() % 1600);
      break;
    case 7:  // the same among tiny ones
      add(200000, 9);
      for (int i = 0; i < 500; ++i) lengths.push_back(kShortKeys - 5 + random() % 1600);
      break;
    default:  // all classes
      add(4, 70 * tile);
      add(10, 9 * tile);
      add(300, 3000);
      add(2000, 10);
      break;
  }
  std::shuffle(lengths.begin(), lengths.end(), random);
  return lengths;
}

TYPED_TEST(DeviceBatch, SortsArraysOfAnyLengths) {
  std::mt19937_64 random(31);
  for (int round = 0; round < 4 * kLengthKinds; ++round) {
    const int kind = round % kLengthKinds;
    sort_segmented<TypeParam>(random_lengths<TypeParam>(random, kind, this->kTile), Shape::kUniform,
                              {}, "kind " + std::to_string(kind));
    if (this->HasFatalFailure()) return;
  }
}

// Mean lengths on both sides of those at which more or fewer keys make an array tiny.
TYPED_TEST(DeviceBatch, SortsTinyArraysAndWhatLiesBetweenThem) {
  using Key = TypeParam;
  std::mt19937_64 random(33);
  const auto map = KeyMap<Key>::of({sizeof(Key) == 4 ? KeyType::kI32 : KeyType::kF64, true, true});
  for (const std::uint64_t most : {1U, 2U, 4U, 5U, 6U, 8U, 10U, 11U, 16U, 17U, 31U, 33U}) {
    Lengths lengths(9'973);
    for (std::uint64_t& length : lengths) length = random() % (most + 1);
    sort_segmented<Key>(lengths, Shape::kUniform);
    sort_segmented<Key>(lengths, Shape::kFewDistinct, {map, map, most % 4, true});
    for (int i = 0; i < 9; ++i) lengths[random() % lengths.size()] = 17 + random() % 500;
    lengths.back() = 3'000;
    sort_segmented<Key>(lengths, Shape::kUniform, {map, map, most % 4, true});
    sort_segmented<Key>(lengths, Shape::kUniform, {map, {}, 0, false});
    sort_segmented<Key>(Lengths(12'345, most), Shape::kUniform);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceBatch, SortsSegmentedArraysOfEveryShapeInPlaceAndMisaligned) {
  std::mt19937_64 random(32);
  for (const NamedShape& named : kShapes) {
    for (const int kind : {2, 5, 6, 8}) {
      const Lengths lengths = random_lengths<TypeParam>(random, kind, this->kTile);
      sort_segmented<TypeParam>(lengths, named.shape, {{}, {}, random() % 4, random() % 2 == 0},
                                std::string(named.name));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceBatch, SortsSegmentedBatchesThatAreOneArrayOrAllOfOneLength) {
  for (const std::uint64_t length : border_lengths<TypeParam>()) {
    sort_segmented<TypeParam>({length}, Shape::kUniform);
    sort_segmented<TypeParam>({0, 0, length, 0}, Shape::kUniform);
    sort_segmented<TypeParam>(Lengths(1 + 100000 / length, length), Shape::kUniform);
    if (this->HasFatalFailure()) return;
  }
  sort_segmented<TypeParam>({3 << 20}, Shape::kUniform);
  sort_segmented<TypeParam>({1, 3 << 20, 1, 1}, Shape::kFewDistinct);
}

// More tiles of each kind than blocks that take them: then blocks take a second one, and more.
TYPED_TEST(DeviceBatch, SortsMoreSegmentedArraysThanBlocksTakeAtOnce) {
  const std::uint64_t tile = this->kTile;
  std::mt19937_64 random(34);
  Lengths lengths(2500, tile / 2 + 1);                        // tiles of their own
  for (int i = 0; i < 300; ++i) lengths.push_back(9 * tile);  // 2,700 tiles, and as many to merge
  std::shuffle(lengths.begin(), lengths.end(), random);
  sort_segmented<TypeParam>(lengths, Shape::kUniform);
  // Middle ones, among very short ones.
  lengths.assign(60'000, 3);
  for (int i = 0; i < 12'000; ++i)
    lengths.push_back(LowWindows<TypeParam>::kShortKeys + 1 + random() % 1536);
  std::shuffle(lengths.begin(), lengths.end(), random);
  sort_segmented<TypeParam>(lengths, Shape::kUniform);
  // Nothing but middle ones, and empty ones.
  lengths.assign(12'000, 520);
  lengths.resize(25'000);
  sort_segmented<TypeParam>(lengths, Shape::kUniform);
  // Tiny ones, and windows that have another array.
  lengths.assign(1 << 20, 2);
  for (std::uint64_t& length : lengths) length = random() % 5;
  for (std::size_t i = 0; i < lengths.size(); i += 100) lengths[i] = 17 + random() % 30;
  sort_segmented<TypeParam>(lengths, Shape::kUniform);
}

template <class F>
bool is_refused(const F& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::kUsage;
  }
  return false;
}

TYPED_TEST(DeviceBatch, RefusesBadArgumentsBeforeAnyLaunch) {
  using Key = TypeParam;
  const std::uint64_t arrays = 3;
  const std::uint64_t length = 20000;
  const DeviceArray<Key> keys(2 * arrays * length);
  const std::size_t bytes = sort_batch_scratch_bytes<Key>(arrays, length);
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  const auto refused = [&](const Key* input, Key* output, std::uint64_t array_count, void* memory,
                           std::size_t memory_bytes) {
    return is_refused([&] {
      sort_batch<Key>({.input = input,
                       .output = output,
                       .array_count = array_count,
                       .array_keys = length,
                       .scratch = {memory, memory_bytes}});
    });
  };
  EXPECT_TRUE(refused(nullptr, keys.get(), arrays, scratch.get(), bytes));
  EXPECT_TRUE(refused(keys.get(), nullptr, arrays, scratch.get(), bytes));
  EXPECT_TRUE(refused(keys.get(), keys.get(), arrays, nullptr, bytes));
  EXPECT_TRUE(refused(keys.get(), keys.get(), arrays, scratch.get(), bytes - 1));
  EXPECT_TRUE(refused(keys.get(), keys.get() + 5, arrays, scratch.get(), bytes));
  EXPECT_TRUE(refused(keys.get(), keys.get(), arrays, scratch.get() + 8, bytes));
  EXPECT_TRUE(refused(keys.get(), keys.get(), ~std::uint64_t{0}, scratch.get(), bytes));
  EXPECT_TRUE(is_refused([] { (void)sort_batch_scratch_bytes<Key>(kMaxSortedKeys, 2); }));
  sort_batch<Key>({.array_count = 0, .array_keys = 100});
  sort_batch<Key>({.array_count = 100, .array_keys = 0});
  EXPECT_EQ(sort_batch_scratch_bytes<Key>(1000, 100), 0U);
  inject_cuda_fault({CudaCall::kLaunch, 2, cudaErrorLaunchFailure});
  EXPECT_THROW(sort_batch<Key>({.input = keys.get(),
                                .output = keys.get(),
                                .array_count = arrays,
                                .array_keys = length,
                                .scratch = {scratch.get(), bytes}}),
               Error);
  clear_cuda_fault();
}

TYPED_TEST(DeviceBatch, RefusesBadArgumentsOfSegmentedBatches) {
  using Key = TypeParam;
  const std::uint64_t count = 60000;
  const DeviceArray<Key> keys(2 * count);
  const DeviceArray<std::uint64_t> offsets(std::vector<std::uint64_t>{0, 10, count});
  const std::size_t bytes = sort_segmented_batch_scratch_bytes<Key>(2, count);
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  const auto refused = [&](const Key* input, Key* output, const std::uint64_t* table,
                           std::uint64_t arrays, void* memory, std::size_t memory_bytes) {
    return is_refused([&] {
      sort_segmented_batch<Key>({.input = input,
                                 .output = output,
                                 .offsets = table,
                                 .array_count = arrays,
                                 .count = count,
                                 .scratch = {memory, memory_bytes}});
    });
  };
  Key* const in = keys.get();
  const auto* const inside = reinterpret_cast<const std::uint64_t*>(in);
  EXPECT_TRUE(refused(nullptr, in, offsets.get(), 2, scratch.get(), bytes));
  EXPECT_TRUE(refused(in, nullptr, offsets.get(), 2, scratch.get(), bytes));
  EXPECT_TRUE(refused(in, in, nullptr, 2, scratch.get(), bytes));
  EXPECT_TRUE(refused(in, in, inside, 2, scratch.get(), bytes));
  EXPECT_TRUE(refused(in, in, offsets.get(), 0, scratch.get(), bytes));
  EXPECT_TRUE(refused(in, in, offsets.get(), kMaxSortedKeys + 1, scratch.get(), bytes));
  EXPECT_TRUE(refused(in, in + 1, offsets.get(), 2, scratch.get(), bytes));
  EXPECT_TRUE(refused(in, in, offsets.get(), 2, nullptr, bytes));
  EXPECT_TRUE(refused(in, in, offsets.get(), 2, scratch.get(), bytes - 1));
  EXPECT_TRUE(refused(in, in, offsets.get(), 2, scratch.get() + 8, bytes));
  sort_segmented_batch<Key>({});
  sort_segmented_batch<Key>(
      {.input = in, .output = in, .offsets = offsets.get(), .array_count = 2, .count = 0});
}

// The result is then undefined, but no other memory may be written.
// In few arrays, and among many that are shorter: there are more lists then.
TYPED_TEST(DeviceBatch, StaysInItsMemoryWhenArraysAreLongerThanSaid) {
  using Key = TypeParam;
  std::vector<Lengths> batches{{10, 29990, 3000, 27000}};
  for (const auto& [arrays, length] : {std::pair{600U, 150U}, std::pair{20000U, 5U}}) {
    Lengths lengths(arrays, length);
    for (const std::uint64_t longer : {513U, 600U, 2048U, 2049U, 9000U}) lengths.push_back(longer);
    batches.push_back(std::move(lengths));
  }
  for (const Lengths& lengths : batches) {
    std::vector<std::uint64_t> ends{0};
    for (const std::uint64_t length : lengths) ends.push_back(ends.back() + length);
    const DeviceArray<std::uint64_t> offsets(ends);
    for (const std::uint64_t longest : {1U, 512U, 600U, 2048U, 2500U, 10000U}) {
      const DeviceArray<Key> keys(make_keys<Key>(Shape::kUniform, ends.back(), 3));
      const std::size_t bytes =
          sort_segmented_batch_scratch_bytes<Key>(lengths.size(), ends.back(), longest);
      const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
      sort_segmented_batch<Key>({.input = keys.get(),
                                 .output = keys.get(),
                                 .offsets = offsets.get(),
                                 .array_count = lengths.size(),
                                 .count = ends.back(),
                                 .longest = longest,
                                 .scratch = {scratch.get(), bytes}});
      check_cuda(cudaDeviceSynchronize(), CudaCall::kStream, "sorting a segmented batch");
      EXPECT_TRUE(keys.guards_hold() && scratch.guards_hold()) << longest;
    }
  }
}

}  // namespace
}  // namespace gsort::gpu
