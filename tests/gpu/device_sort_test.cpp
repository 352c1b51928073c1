// sort_keys and sort_pairs on the card, against std::stable_sort of a copy taken before the call.
#include "gpu/sort/device_sort.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device_memory.hpp"
#include "distributions.hpp"
#include "element/record_text.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/tuning.hpp"
#include "gpu/shares/share_elements.hpp"
#include "grouped_keys.hpp"
#include "pairs_on_both.hpp"
#include "support/tuples.hpp"

namespace gsort::gpu {
namespace {

template <class T>
class DeviceSort : public GpuTest {
 protected:
  using K = typename T::Key;
  using V = typename T::Value;
  static constexpr bool kIsOfPairs = kHasValues<V>;
  static constexpr KernelTuning kTuning = tuning_for<ElementOf<K, V>>(90);

  // Sizes at the borders of a thread's words, a block sort's tile and a merge's tile, times
  // fan-ins.
  static std::vector<std::size_t> border_sizes() {
    std::vector<std::size_t> sizes{0, 1, 2, 3, 31, 32, 33, 63, 65, 1000, 1234567};
    const auto around = [&](std::size_t size) {
      for (const std::size_t near : {size - 1, size, size + 1}) sizes.push_back(near);
    };
    around(kTuning.keys_per_thread);
    for (const std::size_t times : {1U, 2U, 3U, 4U, 5U, 8U, 9U, 16U, 64U, 65U}) {
      around(times * kTuning.block_sort_keys());
    }
    for (const unsigned fan_in : {2U, 4U, 8U}) around(kTuning.merge_tile_keys(fan_in) * 9);
    if (kIsOfPairs) return sizes;
    const SmallTuning small = small_tuning_for<K>(90);
    for (const std::size_t times : {1U, 2U, 3U, 4U, 5U, 7U, 16U}) {
      around(times * small.kernels.block_sort_keys());
    }
    // Beyond the small ones: a tile's and a pass's border.
    for (const std::size_t tiles : {256U, 257U, 512U, 513U}) {
      around(tiles * kTuning.block_sort_keys());
    }
    around(small.most_sorted_keys);
    return sizes;
  }

  static HostPairs<T> elements(Shape shape, std::size_t size, std::uint64_t seed) {
    return with_positions<T>(make_keys<K>(shape, size, seed));
  }

  static void sort_and_compare(const HostPairs<T>& pairs, const KeyMap<K>& load_map,
                               const KeyMap<K>& store_map, std::size_t misalign, bool in_place,
                               const std::string& what) {
    if (is_left_out(pairs.count())) return;
    const HostPairs<T> expected = stably_sorted(pairs, load_map, store_map);
    const DevicePairArrays<T> input(pairs, misalign);
    const DevicePairArrays<T> apart(in_place ? 0 : pairs.count(), misalign);
    const DevicePairArrays<T>& output = in_place ? input : apart;
    const std::size_t bytes = chunk_sort_bytes<K, V>(pairs.count());
    const Scratch scratch(bytes, kScratchShift);
    sort_chunk<K, V>({.input = input.get(),
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

  // In place with both maps, and into another array in ordered form.
  static void sort_mapped(const KeyMap<K>& map, std::size_t size, const std::string& what) {
    if (are_too_many(size)) return;
    const HostPairs<T> all = elements(Shape::kUniform, size, 9);
    sort_and_compare(all, map, map, 0, true, what);
    sort_and_compare(all, map, {}, 1, false, what);
  }
};
TYPED_TEST_SUITE(DeviceSort, AllElements);

TYPED_TEST(DeviceSort, SortsEverySizeAtABorder) {
  for (const std::size_t size : this->border_sizes()) {
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct}) {
      if (shape == Shape::kFewDistinct && !this->kIsOfPairs) continue;
      this->sort_and_compare(this->elements(shape, size, size), {}, {}, 0, false, "at a border");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceSort, SortsEveryShape) {
  const std::size_t tile = this->kTuning.block_sort_keys();
  for (const NamedShape& named : kShapes) {
    for (const std::size_t size :
         {std::size_t{777}, tile, tile * 5 + 3, std::size_t{3} << 20, std::size_t{5} << 20}) {
      if (are_too_many(size) || (this->kIsOfPairs && size == std::size_t{5} << 20)) continue;
      this->sort_and_compare(this->elements(named.shape, size, 5), {}, {}, 0, false,
                             std::string(named.name));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceSort, SortsInPlaceAndAtAnyAlignment) {
  for (const std::size_t size :
       {std::size_t{5000}, std::size_t{100001}, std::size_t{1} << 20, std::size_t{5000001}}) {
    if (are_too_many(size) || (this->kIsOfPairs && size > std::size_t{1} << 20)) continue;
    for (const std::size_t misalign : {0U, 1U, 2U, 3U}) {
      for (const bool in_place : {false, true}) {
        const Shape shape = this->kIsOfPairs ? Shape::kSawtooth : Shape::kUniform;
        this->sort_and_compare(this->elements(shape, size, misalign), {}, {}, misalign, in_place,
                               "misaligned by " + std::to_string(misalign));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(DeviceSort, AppliesTheMapsOfEveryFormat) {
  using Key = typename TypeParam::Key;
  for (const KeyType type : kAllKeyTypes) {
    if (bytes_of(type) != sizeof(Key)) continue;
    for (const bool big_endian : {false, true}) {
      for (const bool descending : {false, true}) {
        const auto map = KeyMap<Key>::of({type, big_endian, descending});
        for (const std::size_t size : {3001U, 200000U, 2200001U}) {
          if (this->kIsOfPairs && size > 200000) continue;
          this->sort_mapped(map, size, std::string(name_of(type)));
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(DeviceSort, AppliesTheMapsOfRecordsThatAreOneKey) {
  using Key = typename TypeParam::Key;
  for (const RecordFormat& records : test::tuples_of_width(sizeof(Key))) {
    const auto map = KeyMap<Key>::of(ElementFormat{{}, records}.as_keys(sizeof(Key)).key);
    for (const std::size_t size : {3001U, 200000U}) {
      this->sort_mapped(map, size, describe_keys(records));
      if (this->HasFatalFailure()) return;
    }
  }
}

// Words of pairs hold a part of such keys; ties are put right afterwards.
TYPED_TEST(DeviceSort, SortsKeysThatDifferInTheirLastBitsAlone) {
  using Key = typename TypeParam::Key;
  if (!this->kIsOfPairs) return;
  for_each_grouping<Key>([&](const Grouping& grouping, std::vector<Key> keys) {
    if (this->HasFatalFailure()) return;
    this->sort_and_compare(with_positions<TypeParam>(std::move(keys)), {}, {}, 0,
                           grouping.percent == 5, grouping.words());
  });
}

TYPED_TEST(DeviceSort, SortsOnSeveralStreamsAtOnce) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  constexpr std::size_t kCount = kCountOfStreams;
  constexpr std::size_t kStreams = 4;
  const auto pairs = this->elements(Shape::kZipf, kCount, 6);
  const auto expected = stably_sorted(pairs, {}, {});
  const DevicePairArrays<TypeParam> input(pairs, 0);
  const std::size_t bytes = chunk_sort_bytes<Key, Value>(kCount);
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
      sort_chunk<Key, Value>({.input = input.get(),
                              .output = outputs[i]->get(),
                              .count = kCount,
                              .scratch = {scratches[i]->get(), bytes},
                              .stream = streams[i]});
    }
  }
  for (const auto& output : outputs) EXPECT_TRUE(output->pairs() == expected);
  for (const auto stream : streams) cudaStreamDestroy(stream);
}

TYPED_TEST(DeviceSort, RefusesBadArgumentsBeforeAnyLaunch) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  constexpr std::size_t kCount = 20000;
  const DevicePairArrays<TypeParam> arrays(2 * kCount, 0);
  const std::size_t bytes = chunk_sort_bytes<Key, Value>(kCount);
  const Scratch scratch(bytes, kScratchShift);
  const Pairs<Key, Value> good = arrays.get();
  const auto sort_refused = [&](ConstPairs<Key, Value> in, Pairs<Key, Value> out, void* memory,
                                std::size_t memory_bytes) {
    return refused([&] {
      sort_chunk<Key, Value>(
          {.input = in, .output = out, .count = kCount, .scratch = {memory, memory_bytes}});
    });
  };
  EXPECT_TRUE(sort_refused({nullptr, good.values}, good, scratch.get(), bytes));
  EXPECT_TRUE(sort_refused(good, {nullptr, good.values}, scratch.get(), bytes));
  EXPECT_TRUE(sort_refused(good, {good.keys + 5, good.values}, scratch.get(), bytes));
  EXPECT_TRUE(sort_refused(good, good, nullptr, bytes));
  EXPECT_TRUE(sort_refused(good, good, scratch.get(), bytes - 1));
  EXPECT_TRUE(sort_refused(good, good, scratch.get() + 8, bytes));
  EXPECT_TRUE(sort_refused(good, good, good.keys, bytes));
  if constexpr (kHasValues<Value>) {
    EXPECT_TRUE(sort_refused({good.keys, nullptr}, good, scratch.get(), bytes));
    EXPECT_TRUE(sort_refused(good, {good.keys, nullptr}, scratch.get(), bytes));
    EXPECT_TRUE(sort_refused(good, {good.keys, good.values + 5}, scratch.get(), bytes));
    auto* const keys_as_values = reinterpret_cast<Value*>(good.keys);
    auto* const values_as_keys = reinterpret_cast<Key*>(good.values);
    EXPECT_TRUE(sort_refused(good, {good.keys, keys_as_values}, scratch.get(), bytes));
    EXPECT_TRUE(sort_refused(good, {values_as_keys, good.values}, scratch.get(), bytes));
  }
  sort_chunk<Key, Value>({.count = 0});
  inject_cuda_fault({CudaCall::kLaunch, 2, cudaErrorLaunchFailure});
  const auto sort = [&] {
    sort_chunk<Key, Value>(
        {.input = good, .output = good, .count = kCount, .scratch = {scratch.get(), bytes}});
  };
  EXPECT_THROW(sort(), Error);
  clear_cuda_fault();
}

}  // namespace
}  // namespace gsort::gpu
