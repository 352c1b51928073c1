// The library's calls with keys of every type: all short sequences of keys that are special to a
// type, all keys of 8 and 16 bits, calls captured in CUDA graphs, and what is refused.
#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "gpu/widths/any_width.hpp"
#include "library/device_bits.hpp"
#include "library/device_segments.hpp"
#include "support/error_of.hpp"

namespace gsort {
namespace {

using gpu::CapturedGraph;
using gpu::DeviceArray;
using library::Bits;
using Numbers = std::vector<std::uint64_t>;

using AllKeys = ::testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, Float16,
                                 BFloat16, Time64, UInt128, Int128, Uuid, std::uint32_t,
                                 std::int32_t, float, std::uint64_t, std::int64_t, double>;

constexpr std::size_t kScratchShift = 256 - DeviceArray<std::byte>::kGuard;

// The least and the greatest number, -1 or a NaN, NaT or -0, infinities, 0 and 1.
template <class Key>
std::vector<Key> special_keys() {
  using Number = Bits<Key>;
  constexpr unsigned kSignShift = 8 * sizeof(Key) - 1;
  const auto sign = static_cast<Number>(Number{1} << kSignShift);
  const unsigned fraction_bits = std::same_as<Key, BFloat16>  ? 7
                                 : std::same_as<Key, Float16> ? 10
                                 : std::same_as<Key, float>   ? 23
                                 : std::same_as<Key, double>  ? 52
                                                              : 3;
  const auto infinity = static_cast<Number>((sign - 1U) >> fraction_bits << fraction_bits);
  std::vector<Key> keys;
  for (const Number bits :
       {Number{0}, static_cast<Number>(~Number{0}), sign, static_cast<Number>(sign - 1U), Number{1},
        infinity, static_cast<Number>(infinity | sign)}) {
    keys.push_back(std::bit_cast<Key>(bits));
  }
  if constexpr (sizeof(Key) == 16) {  // that differ in one half alone
    keys.push_back(std::bit_cast<Key>(static_cast<Number>(Number{1} << 64)));
  }
  return keys;
}

// Where each array begins, and where the last one ends.
using Offsets = Numbers;

// The numbers of keys, each array's in its stable order; equal floats by their bits, or, in pairs
// and indices, `by_class`.
template <class Key>
Numbers order_of(const std::vector<Key>& keys, const Offsets& offsets, Order order,
                 bool by_class = false) {
  const auto map = by_class ? library::class_map_of<Key>(order) : library::map_of<Key>(order);
  Numbers numbers(keys.size());
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto array = std::span(numbers).subspan(offsets[i], offsets[i + 1] - offsets[i]);
    std::ranges::stable_sort(array, {}, [&](std::uint64_t number) {
      return map.to_ordered(std::bit_cast<Bits<Key>>(keys[number]));
    });
  }
  return numbers;
}

template <class Key>
std::vector<Bits<Key>> bits_in(const std::vector<Key>& keys, const Numbers& numbers) {
  std::vector<Bits<Key>> bits;
  for (const std::uint64_t number : numbers) bits.push_back(std::bit_cast<Bits<Key>>(keys[number]));
  return bits;
}

template <class Key>
std::vector<Bits<Key>> bits_in(const std::vector<Key>& keys) {
  Numbers all(keys.size());
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return bits_in(keys, all);
}

// Arrays of one call. Values are the numbers of their keys.
template <class Key>
struct Places {
  const Key* keys;
  const std::uint32_t* values;
  Key* keys_out;
  std::uint32_t* values_out;
  DeviceScratch scratch;
  cudaStream_t stream;
};

// A call, and what it makes: keys, their numbers, or both, in each of the arrays of `after`.
// Numbers count from each array's first key if it is `local`.
template <class Key>
struct Call {
  const char* name;
  std::size_t scratch_bytes;
  Offsets before;  // arrays that are sorted already
  Offsets after;
  bool gives_keys;
  bool gives_numbers;
  bool local;
  std::function<void(const Places<Key>&)> queue;
};

template <class Key>
std::vector<Call<Key>> calls_of_whole(std::uint64_t n, Order order) {
  const Offsets none;
  const Offsets all{0, n};
  return {{"sort_device_keys", device_sort_scratch_bytes<Key>(n), none, all, true, false, false,
           [=](const Places<Key>& at) {
             sort_device_keys(at.keys, at.keys_out, n, order, at.scratch, at.stream);
           }},
          {"sort_device_pairs", device_pairs_scratch_bytes<Key, std::uint32_t>(n), none, all, true,
           true, false,
           [=](const Places<Key>& at) {
             sort_device_pairs(at.keys, at.keys_out, at.values, at.values_out, n, order, at.scratch,
                               at.stream);
           }},
          {"argsort_device_keys", device_argsort_scratch_bytes<Key, std::uint32_t>(n), none, all,
           false, true, false, [=](const Places<Key>& at) {
             argsort_device_keys(at.keys, at.values_out, n, order, at.scratch, at.stream);
           }}};
}

template <class Key>
std::vector<Call<Key>> calls_of_merges(std::uint64_t n, Order order) {
  const std::uint64_t half = n / 3;
  const Offsets two{0, half, n};
  const Offsets all{0, n};
  std::vector<Call<Key>> calls = {
      {"merge_device_keys", device_merge_scratch_bytes<Key>(n), two, all, true, false, false,
       [=](const Places<Key>& at) {
         merge_device_keys(at.keys, half, at.keys + half, n - half, at.keys_out, order, at.scratch,
                           at.stream);
       }},
      {"merge_device_pairs", device_pair_merge_scratch_bytes<Key, std::uint32_t>(n), two, all, true,
       true, false, [=](const Places<Key>& at) {
         merge_device_pairs(at.keys, at.values, half, at.keys + half, at.values + half, n - half,
                            at.keys_out, at.values_out, order, at.scratch, at.stream);
       }}};
  Offsets ten;  // more than eight slices take two passes
  for (std::uint64_t i = 0; i <= 10; ++i) ten.push_back(n * i / 10);
  for (const Offsets& slices : {Offsets{0, half, half, half + n / 9, n - 1, n}, ten}) {
    const auto count = static_cast<std::uint32_t>(slices.size() - 1);
    // The counts are gone when the call has returned.
    const auto counts = [slices] {
      Offsets lengths(slices.size());
      std::adjacent_difference(slices.begin(), slices.end(), lengths.begin());
      lengths.erase(lengths.begin());
      return lengths;
    };
    calls.push_back({"merge_device_slices", device_slices_scratch_bytes<Key>(n, count), slices, all,
                     true, false, false, [=](const Places<Key>& at) {
                       merge_device_slices(at.keys, counts().data(), count, at.keys_out, order,
                                           at.scratch, at.stream);
                     }});
    calls.push_back(
        {"merge_device_pair_slices", device_pair_slices_scratch_bytes<Key, std::uint32_t>(n, count),
         slices, all, true, true, false, [=](const Places<Key>& at) {
           merge_device_pair_slices(at.keys, at.values, counts().data(), count, at.keys_out,
                                    at.values_out, order, at.scratch, at.stream);
         }});
  }
  return calls;
}

// Calls on arrays that lie so, as `segments` tells the library.
template <class Key>
std::vector<Call<Key>> calls_of_segments(const Offsets& offsets, const DeviceSegments& segments,
                                         Order order) {
  const Offsets none;
  const std::size_t pair_bytes = device_segment_pairs_scratch_bytes<Key>(segments);
  return {{"sort_device_segments", device_segments_scratch_bytes<Key>(segments), none, offsets,
           true, false, false,
           [=](const Places<Key>& at) {
             sort_device_segments(at.keys, at.keys_out, segments, order, at.scratch, at.stream);
           }},
          {"sort_device_segment_pairs", pair_bytes, none, offsets, true, true, false,
           [=](const Places<Key>& at) {
             sort_device_segment_pairs(at.keys, at.keys_out, at.values, at.values_out, segments,
                                       order, at.scratch, at.stream);
           }},
          {"argsort_device_segments", pair_bytes, none, offsets, false, true, true,
           [=](const Places<Key>& at) {
             argsort_device_segments(at.keys, at.values_out, segments, order, at.scratch,
                                     at.stream);
           }}};
}

Numbers local_numbers(Numbers numbers, const Offsets& offsets) {
  for (std::size_t array = 0; array + 1 < offsets.size(); ++array) {
    for (std::uint64_t i = offsets[array]; i < offsets[array + 1]; ++i)
      numbers[i] -= offsets[array];
  }
  return numbers;
}

// Makes the call as a graph, and replays it with keys of each sequence.
template <class Key>
void replay(const Call<Key>& call, const std::vector<std::vector<Key>>& sequences, Order order) {
  const std::size_t count = call.after.back();
  std::vector<std::uint32_t> positions(count);
  std::iota(positions.begin(), positions.end(), 0U);
  const DeviceArray<Key> keys(count);
  const DeviceArray<std::uint32_t> values(positions);
  const DeviceArray<Key> keys_out(count);
  const DeviceArray<std::uint32_t> values_out(count);
  const DeviceArray<std::byte> scratch(call.scratch_bytes, kScratchShift);
  const CapturedGraph graph([&](cudaStream_t stream) {
    call.queue({keys.get(), values.get(), keys_out.get(), values_out.get(),
                DeviceScratch{scratch.get(), call.scratch_bytes}, stream});
  });
  for (std::vector<Key> given : sequences) {
    const Numbers sorted = order_of(given, call.before, order, call.gives_numbers);
    std::vector<Key> input;
    for (const std::uint64_t number : sorted) input.push_back(given[number]);
    const Numbers numbers = order_of(input, call.after, order, call.gives_numbers);
    graph.replay(keys.get(), input);
    if (call.gives_keys) {
      ASSERT_TRUE(bits_in(keys_out.values()) == bits_in(input, numbers)) << call.name;
    }
    const Numbers shown = call.local ? local_numbers(numbers, call.after) : numbers;
    if (call.gives_numbers) {
      ASSERT_TRUE(std::ranges::equal(values_out.values(), shown)) << call.name;
    }
    ASSERT_TRUE(bits_in(keys.values()) == bits_in(input)) << call.name;
    ASSERT_TRUE(keys_out.guards_hold() && values_out.guards_hold() && scratch.guards_hold())
        << call.name;
  }
}

// Special keys and others, each often.
template <class Key>
std::vector<Key> mixed_keys(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Key> pool = special_keys<Key>();
  while (pool.size() < 600) {
    auto bits = static_cast<Bits<Key>>(random());
    if constexpr (sizeof(Key) == 16) bits = bits << 64 | random();
    pool.push_back(std::bit_cast<Key>(bits));
  }
  std::vector<Key> keys(count);
  for (Key& key : keys) key = pool[random() % pool.size()];
  return keys;
}

template <class Key>
class DeviceWidths : public gpu::GpuTest {
 protected:
  static void replay_all(const std::vector<Call<Key>>& calls, Order order) {
    for (const Call<Key>& call : calls) {
      const std::size_t count = call.after.back();
      replay(call, {mixed_keys<Key>(count, 1), mixed_keys<Key>(count, 2)}, order);
    }
  }
};
TYPED_TEST_SUITE(DeviceWidths, AllKeys);

// Large sorts and merges have kernels of their own; keys of one type are enough for these.
TYPED_TEST(DeviceWidths, ReplaysSortsAndMerges) {
  for (const Order order : gpu::orders_of<TypeParam>()) {
    for (const std::uint64_t count : {20'011U, 700U, 9U, 1U, 100'003U, 2'500'003U}) {
      const bool is_large = count > 20'011;
      if (is_large && !(std::same_as<TypeParam, double> && order == Order::kDescending)) continue;
      if (gpu::is_left_out(count)) continue;
      this->replay_all(calls_of_whole<TypeParam>(count, order), order);
      this->replay_all(calls_of_merges<TypeParam>(count, order), order);
    }
  }
}

TYPED_TEST(DeviceWidths, ReplaysSegments) {
  for (const std::uint64_t factor : {1U, 14U}) {
    Offsets offsets{0, 0, 3, 9'003, 9'004, 9'004, 9'504, 9'506};
    for (std::uint64_t& offset : offsets) offset *= factor;
    const DeviceArray<std::uint64_t> on_device(offsets);
    const DeviceSegments segments{
        .array_count = offsets.size() - 1, .offsets = on_device.get(), .count = offsets.back()};
    for (const Order order : gpu::orders_of<TypeParam>()) {
      if (gpu::is_left_out(offsets.back())) continue;
      this->replay_all(calls_of_segments<TypeParam>(offsets, segments, order), order);
    }
  }
}

using DeviceBatches = gpu::GpuTest;

TEST_F(DeviceBatches, AreReplayedForShortAndLongArrays) {
  constexpr auto kOrder = Order::kDescending;
  for (const std::uint64_t array_keys : {30U, 1'000U, 9'000U, 70'000U}) {
    if (gpu::are_too_many(3 * array_keys)) continue;
    replay<double>(
        {"sort_device_batch",
         device_batch_scratch_bytes<double>(3, array_keys),
         {},
         {0, array_keys, 2 * array_keys, 3 * array_keys},
         true,
         false,
         false,
         [=](const Places<double>& at) {
           sort_device_batch(at.keys, at.keys_out, 3, array_keys, kOrder, at.scratch, at.stream);
         }},
        {mixed_keys<double>(3 * array_keys, 1), mixed_keys<double>(3 * array_keys, 2)}, kOrder);
  }
}

// Every sequence of four special keys is an array.
TYPED_TEST(DeviceWidths, SortsEveryShortSequenceOfSpecialKeys) {
  constexpr std::uint64_t kLength = 4;
  const std::vector<TypeParam> special = special_keys<TypeParam>();
  std::vector<TypeParam> keys;
  Offsets offsets{0};
  const std::size_t base = special.size();
  for (std::size_t code = 0; code < base * base * base * base; ++code) {
    std::size_t left = code;
    for (unsigned i = 0; i < kLength; ++i, left /= base) keys.push_back(special[left % base]);
    offsets.push_back(keys.size());
  }
  const DeviceSegments segments{.array_count = offsets.size() - 1, .array_keys = kLength};
  for (const Order order : gpu::orders_of<TypeParam>()) {
    for (const auto& call : calls_of_segments<TypeParam>(offsets, segments, order)) {
      if (gpu::is_left_out()) continue;
      replay(call, {keys}, order);
    }
  }
}

template <class Key>
class DeviceNarrowKeys : public gpu::GpuTest {};
using NarrowKeys =
    ::testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, Float16, BFloat16>;
TYPED_TEST_SUITE(DeviceNarrowKeys, NarrowKeys);

TYPED_TEST(DeviceNarrowKeys, AreSortedEachOfThem) {
  std::vector<TypeParam> keys;
  constexpr std::size_t kPatterns = sizeof(TypeParam) == 1 ? 256 : 65'536;
  for (std::size_t i = 0; i < kPatterns; ++i) {
    keys.push_back(std::bit_cast<TypeParam>(static_cast<Bits<TypeParam>>(i * 40'503U)));
  }
  for (const Order order : gpu::orders_of<TypeParam>()) {
    for (const auto& call : calls_of_whole<TypeParam>(keys.size(), order)) {
      if (gpu::is_left_out()) continue;
      replay(call, {keys}, order);
    }
  }
}

// The order itself, without the maps.
TEST(DeviceKeyOrder, PutsNaTAndNaNsWhereTheyBelong) {
  constexpr auto kNaT = static_cast<Time64>(std::numeric_limits<std::int64_t>::min());
  const auto rank = []<class Key>(Key key) {
    return library::map_of<Key>(Order::kAscending).to_ordered(std::bit_cast<Bits<Key>>(key));
  };
  EXPECT_LT(rank(Time64{-5}), rank(Time64{0}));
  EXPECT_LT(rank(Time64{std::numeric_limits<std::int64_t>::max()}), rank(kNaT));
  EXPECT_LT(rank(Float16{0xfc00}), rank(Float16{0x8000}));    // -inf, -0
  EXPECT_LT(rank(Float16{0x8000}), rank(Float16{0}));         // -0, 0
  EXPECT_LT(rank(Float16{0x7c00}), rank(Float16{0x7e00}));    // inf, NaN
  EXPECT_LT(rank(Float16{0x7c00}), rank(Float16{0xfe00}));    // inf, -NaN
  EXPECT_LT(rank(BFloat16{0xbf80}), rank(BFloat16{0x3f80}));  // -1, 1
  EXPECT_LT(rank(BFloat16{0x7f80}), rank(BFloat16{0x7fc0}));
  EXPECT_TRUE(rank(Int128{-1}) < rank(Int128{0}));
  EXPECT_TRUE(rank(Uuid{{0, 9}}) < rank(Uuid{{1, 0}}));
  EXPECT_TRUE(rank(Uuid{{0, 9, 1}}) < rank(Uuid{{0, 9, 2, 0}}));
}

static_assert(!DeviceKey<bool> && !DeviceKey<long double>);
static_assert(!DeviceKeyOf32Or64Bits<Float16> && !DeviceKeyOf32Or64Bits<std::uint8_t>);
static_assert(DeviceKeyOf32Or64Bits<Time64>);

void expect_usage_error(const std::string& reason, const std::function<void()>& call) {
  const Error error = test::error_of(call);
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
}

using RefusedWidths = gpu::GpuTest;

TEST_F(RefusedWidths, AreThoseOfWrongMemoryAndSizes) {
  constexpr std::uint64_t kCount = 100;
  const DeviceArray<Float16> keys(kCount);
  const DeviceArray<Float16> out(kCount);
  const DeviceArray<std::uint32_t> values(kCount);
  const std::size_t bytes = device_pairs_scratch_bytes<Float16, std::uint32_t>(kCount);
  const DeviceArray<std::byte> memory(bytes, kScratchShift);
  const DeviceScratch scratch{memory.get(), bytes};
  const auto sort = [&](const Float16* from, Float16* to, const DeviceScratch& with) {
    sort_device_pairs(from, to, values.get(), values.get(), kCount, Order::kAscending, with,
                      nullptr);
  };
  expect_usage_error("the input's keys must not be null",
                     [&] { sort(nullptr, out.get(), scratch); });
  expect_usage_error("overlap", [&] { sort(keys.get(), keys.get() + 1, scratch); });
  expect_usage_error("scratch memory", [&] {
    sort(keys.get(), out.get(), {memory.get(), bytes - 1});
  });
  expect_usage_error("overlap",
                     [&] { sort(keys.get(), reinterpret_cast<Float16*>(memory.get()), scratch); });
  const std::size_t merge_bytes = device_merge_scratch_bytes<Float16>(kCount);
  const DeviceArray<std::byte> merge_memory(merge_bytes, kScratchShift);
  expect_usage_error("overlap", [&] {
    merge_device_keys(keys.get(), 50, keys.get() + 50, 50, keys.get(), Order::kAscending,
                      {merge_memory.get(), merge_bytes}, nullptr);
  });
  expect_usage_error("in one call", [] {
    (void)device_sort_scratch_bytes<std::uint8_t>((std::uint64_t{1} << 35) + 1);
  });
  const DeviceArray<UInt128> wide(kCount);
  gpu::SegmentedSort<UInt128> without_offsets{.input = wide.get(), .output = wide.get()};
  without_offsets.array_count = 2;
  without_offsets.count = kCount;
  expect_usage_error("the offsets must not be null",
                     [&] { gpu::any_width::sort_segmented_batch<UInt128>(without_offsets); });
  const DeviceSegments none{.array_count = 0, .offsets = nullptr, .count = 5};
  EXPECT_EQ(device_segments_scratch_bytes<std::uint8_t>(none), 0U);
  EXPECT_EQ(keys.values().size(), kCount);
  EXPECT_TRUE(keys.guards_hold() && out.guards_hold());
}

// Keys of 8 and 16 bits that are enough to be counted. Counters of 16 bits wrap around, alone and
// beside one that does not.
template <class Key>
std::vector<Key> counted_keys(unsigned kind, std::size_t count) {
  std::mt19937_64 random(kind + count);
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    const std::uint64_t kinds[] = {bits,
                                   42,
                                   43,
                                   bits % 8 == 0 ? bits >> 8 : 6 + bits % 2,
                                   i * (std::uint64_t{1} << 8 * sizeof(Key)) / count,
                                   (bits >> 32) >> bits % 32};
    keys[i] = static_cast<Key>(kinds[kind]);
  }
  return keys;
}

template <class Key>
void expect_counted_sorts(KeyType type) {
  for (const std::size_t count :
       {std::size_t{65536}, std::size_t{65537}, std::size_t{200'003}, std::size_t{9} << 20}) {
    if (count > 250'000 && gpu::are_too_many(count)) continue;
    for (unsigned kind = 0; kind < 6; ++kind) {
      const std::vector<Key> keys = counted_keys<Key>(kind, count);
      for (const std::size_t misalign : {0U, 1U, 5U}) {
        if (gpu::is_left_out()) continue;
        const auto load = KeyMap<Key>::of({type, misalign == 1, misalign == 5});
        const auto store = misalign == 1 ? KeyMap<Key>{} : load;
        std::vector<Key> expected = keys;
        for (Key& key : expected) key = load.to_ordered(key);
        std::sort(expected.begin(), expected.end());
        for (Key& key : expected) key = store.to_raw(key);
        const DeviceArray<Key> array(keys, misalign);
        const DeviceArray<Key> apart(misalign == 5 ? 0 : count, misalign + 1);
        const DeviceArray<Key>& output = misalign == 5 ? array : apart;
        const std::size_t bytes =
            gpu::any_width::sort_keys_by_distribution_scratch_bytes<Key>(count);
        const DeviceArray<unsigned char> scratch(bytes, kScratchShift);
        gpu::any_width::sort_keys_by_distribution<Key>(
            gpu::KeySort<Key>{.input = array.get(),
                              .output = output.get(),
                              .count = count,
                              .load_map = load,
                              .store_map = store,
                              .scratch = {scratch.get(), bytes}});
        ASSERT_TRUE(output.values() == expected) << count << " keys of kind " << kind;
        ASSERT_TRUE(output.guards_hold() && scratch.guards_hold());
      }
    }
  }
}

class CountedKeys : public gpu::GpuTest {};

TEST_F(CountedKeys, OfEightBitsAreCounted) {
  expect_counted_sorts<std::uint8_t>(KeyType::kI8);
}

TEST_F(CountedKeys, OfSixteenBitsAreCounted) {
  expect_counted_sorts<std::uint16_t>(KeyType::kF16);
}

}  // namespace
}  // namespace gsort
