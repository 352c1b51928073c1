// sort_keys on the card, against std::sort of a copy taken before the call.
#include "gpu/sort/device_sort.hpp"

#include <algorithm>
#include <random>
#include <string>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "distributions.hpp"
#include "element/record_text.hpp"
#include "gpu/cuda/tuning.hpp"
#include "support/error_of.hpp"
#include "support/tuples.hpp"

namespace gsort::gpu {
namespace {

template <class Key>
class DeviceSort : public GpuTest {};

using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t, UInt128>;
TYPED_TEST_SUITE(DeviceSort, KeyTypes);

// Sizes at the borders of a thread's keys, a block sort's tile and a merge's tile, times fan-ins.
template <class Key>
std::vector<std::size_t> border_sizes() {
  const KernelTuning tuning = tuning_for<Key>(90);
  std::vector<std::size_t> sizes{0, 1, 2, 3, 31, 32, 33, 63, 65, 1000};
  const auto around = [&](std::size_t size) {
    for (const std::size_t near : {size - 1, size, size + 1}) sizes.push_back(near);
  };
  around(tuning.keys_per_thread);
  for (const std::size_t times : {1U, 2U, 3U, 4U, 5U, 8U, 9U, 16U, 64U, 65U}) {
    around(times * tuning.block_sort_keys());
  }
  for (const unsigned fan_in : {2U, 4U, 8U}) {
    around(tuning.merge_tile_keys(fan_in) * 9);
  }
  const SmallTuning small = small_tuning_for<Key>(90);
  for (const std::size_t times : {1U, 2U, 3U, 4U, 5U, 7U, 16U}) {
    around(times * small.kernels.block_sort_keys());
  }
  // Beyond the small ones: a tile's and a pass's border.
  for (const std::size_t tiles : {256U, 257U, 512U, 513U}) around(tiles * tuning.block_sort_keys());
  around(small.most_sorted_keys);
  sizes.push_back(1234567);
  return sizes;
}

template <class Key>
void sort_and_compare(std::vector<Key> keys, KeyMap<Key> load_map, KeyMap<Key> store_map,
                      std::size_t misalign, bool in_place, const std::string& what) {
  if (is_left_out(keys.size())) return;
  std::vector<Key> expected = keys;
  for (Key& key : expected) key = load_map.to_ordered(key);
  std::sort(expected.begin(), expected.end());
  for (Key& key : expected) key = store_map.to_raw(key);

  const DeviceArray<Key> input(keys, misalign);
  const DeviceArray<Key> apart(in_place ? 0 : keys.size(), misalign);
  const DeviceArray<Key>& output = in_place ? input : apart;
  const std::size_t scratch_bytes = sort_keys_scratch_bytes<Key>(keys.size());
  const DeviceArray<unsigned char> scratch(scratch_bytes, 256 - DeviceArray<char>::kGuard);
  sort_keys<Key>({.input = input.get(),
                  .output = output.get(),
                  .count = keys.size(),
                  .load_map = load_map,
                  .store_map = store_map,
                  .scratch = {scratch.get(), scratch_bytes}});
  ASSERT_TRUE(output.values() == expected) << what << ", " << keys.size() << " keys";
  ASSERT_TRUE(output.guards_hold() && scratch.guards_hold()) << what;
  ASSERT_TRUE(in_place || input.values() == keys) << what << ": the input changed";
}

TYPED_TEST(DeviceSort, SortsEverySizeAtABorder) {
  for (const std::size_t size : border_sizes<TypeParam>()) {
    sort_and_compare(make_keys<TypeParam>(Shape::kUniform, size, size), {}, {}, 0, false,
                     "uniform");
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceSort, SortsEveryShape) {
  const KernelTuning tuning = tuning_for<TypeParam>(90);
  for (const NamedShape& named : kShapes) {
    for (const std::size_t size : {std::size_t{777}, std::size_t{tuning.block_sort_keys()},
                                   std::size_t{tuning.block_sort_keys()} * 5 + 3,
                                   std::size_t{3} << 20, std::size_t{5} << 20}) {
      if (are_too_many(size)) continue;
      sort_and_compare(make_keys<TypeParam>(named.shape, size, 5), {}, {}, 0, false,
                       std::string(named.name));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceSort, SortsInPlaceAndAtAnyAlignment) {
  for (const std::size_t size :
       {std::size_t{5000}, std::size_t{100001}, std::size_t{1} << 20, std::size_t{5000001}}) {
    if (are_too_many(size)) continue;
    for (const std::size_t misalign : {0U, 1U, 2U, 3U}) {
      for (const bool in_place : {false, true}) {
        sort_and_compare(make_keys<TypeParam>(Shape::kUniform, size, misalign), {}, {}, misalign,
                         in_place, "misaligned by " + std::to_string(misalign));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(DeviceSort, AppliesTheMapsOfEveryFormat) {
  for (const KeyType type : kAllKeyTypes) {
    if (bytes_of(type) != sizeof(TypeParam)) continue;
    for (const bool big_endian : {false, true}) {
      for (const bool descending : {false, true}) {
        const auto map = KeyMap<TypeParam>::of({type, big_endian, descending});
        for (const std::size_t size :
             {std::size_t{3001}, std::size_t{200000}, std::size_t{2200001}}) {
          if (are_too_many(size)) continue;
          const auto keys = make_keys<TypeParam>(Shape::kUniform, size, 9);
          sort_and_compare(keys, map, map, 0, true, std::string(name_of(type)));
          sort_and_compare(keys, map, KeyMap<TypeParam>{}, 1, false, std::string(name_of(type)));
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(DeviceSort, AppliesTheMapsOfRecordsThatAreOneKey) {
  for (const RecordFormat& records : test::tuples_of_width(sizeof(TypeParam))) {
    const auto map =
        KeyMap<TypeParam>::of(ElementFormat{{}, records}.as_keys(sizeof(TypeParam)).key);
    for (const std::size_t size : {std::size_t{3001}, std::size_t{200000}}) {
      if (are_too_many(size)) continue;
      const auto keys = make_keys<TypeParam>(Shape::kUniform, size, 9);
      sort_and_compare(keys, map, map, 0, true, describe_keys(records));
      sort_and_compare(keys, map, KeyMap<TypeParam>{}, 1, false, describe_keys(records));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceSort, RefusesBadArgumentsBeforeAnyLaunch) {
  const std::size_t count = 20000;
  const DeviceArray<TypeParam> keys(2 * count);
  const std::size_t bytes = sort_keys_scratch_bytes<TypeParam>(count);
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  const auto refused = [&](const TypeParam* input, TypeParam* output, void* memory,
                           std::size_t memory_bytes) {
    const Error error = test::error_of([&] {
      sort_keys<TypeParam>(
          {.input = input, .output = output, .count = count, .scratch = {memory, memory_bytes}});
    });
    return error.kind() == ErrorKind::kUsage;
  };
  EXPECT_TRUE(refused(nullptr, keys.get(), scratch.get(), bytes));
  EXPECT_TRUE(refused(keys.get(), nullptr, scratch.get(), bytes));
  EXPECT_TRUE(refused(keys.get(), keys.get(), nullptr, bytes));
  EXPECT_TRUE(refused(keys.get(), keys.get(), scratch.get(), bytes - 1));
  EXPECT_TRUE(refused(keys.get(), keys.get() + 5, scratch.get(), bytes));
  EXPECT_TRUE(refused(keys.get(), keys.get(), scratch.get() + 8, bytes));
  sort_keys<TypeParam>({.count = 0});
  inject_cuda_fault({CudaCall::kLaunch, 2, cudaErrorLaunchFailure});
  EXPECT_THROW(sort_keys<TypeParam>({.input = keys.get(),
                                     .output = keys.get(),
                                     .count = count,
                                     .scratch = {scratch.get(), bytes}}),
               Error);
  clear_cuda_fault();
}

}  // namespace
}  // namespace gsort::gpu
