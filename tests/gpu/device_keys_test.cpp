// The library's face of the kernels: every type and order, against std::sort of a copy. What the
// kernels themselves do at the borders of their tiles is tested beside them.
#include "library/device_keys.hpp"

#include <vector>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "library/key_types.hpp"
#include "support/typed_keys.hpp"

namespace gsort {
namespace {

using gpu::DeviceArray;
using test::Bytes;

template <class Key>
class DeviceKeys : public gpu::GpuTest {};
TYPED_TEST_SUITE(DeviceKeys, test::WideKeyTypes);

constexpr std::size_t kCount = 300'007;
// From the guard in front of a DeviceArray to the alignment that scratch must have.
constexpr std::size_t kScratchShift = 256 - DeviceArray<std::byte>::kGuard;

TYPED_TEST(DeviceKeys, SortAsStdSortDoes) {
  for (const Order order : {Order::kAscending, Order::kDescending}) {
    const KeyFormat format = library::format_of<TypeParam>(order);
    const Bytes raw = test::generated(format, Distribution::kUniform, kCount);
    DeviceArray<TypeParam> keys(test::keys_of<TypeParam>(raw));
    DeviceArray<std::byte> scratch(device_sort_scratch_bytes<TypeParam>(kCount), kScratchShift);
    sort_device_keys(keys.get(), keys.get(), kCount, order,
                     {scratch.get(), device_sort_scratch_bytes<TypeParam>(kCount)}, nullptr);
    EXPECT_EQ(test::bytes_of_keys<TypeParam>(keys.values()), test::sorted_copy(raw, format));
    EXPECT_TRUE(scratch.guards_hold());
  }
}

TYPED_TEST(DeviceKeys, SortEachArrayOfABatch) {
  constexpr std::size_t kArrays = 300;
  constexpr std::size_t kArrayKeys = 1'000;
  const KeyFormat format = library::format_of<TypeParam>(Order::kDescending);
  const Bytes raw = test::generated(format, Distribution::kUniform, kArrays * kArrayKeys);
  DeviceArray<TypeParam> keys(test::keys_of<TypeParam>(raw));
  DeviceArray<TypeParam> sorted(kArrays * kArrayKeys);
  EXPECT_EQ(device_batch_scratch_bytes<TypeParam>(kArrays, kArrayKeys), 0U);
  sort_device_batch(keys.get(), sorted.get(), kArrays, kArrayKeys, Order::kDescending, {}, nullptr);
  Bytes wanted;
  for (std::size_t array = 0; array < kArrays; ++array) {
    const std::size_t bytes = kArrayKeys * sizeof(TypeParam);
    const Bytes one = test::sorted_copy(std::span(raw).subspan(array * bytes, bytes), format);
    wanted.insert(wanted.end(), one.begin(), one.end());
  }
  EXPECT_EQ(test::bytes_of_keys<TypeParam>(sorted.values()), wanted);
}

template <class Key>
class DeviceKeysMerged : public gpu::GpuTest {};
using UnsignedKeyTypes = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceKeysMerged, UnsignedKeyTypes);

TYPED_TEST(DeviceKeysMerged, EqualsStdSortOfBoth) {
  const KeyFormat format = library::format_of<TypeParam>(Order::kAscending);
  const Bytes a =
      test::sorted_copy(test::generated(format, Distribution::kUniform, kCount, 1), format);
  const Bytes b = test::sorted_copy(test::generated(format, Distribution::kZipf, 5'003, 2), format);
  Bytes both = a;
  both.insert(both.end(), b.begin(), b.end());
  const DeviceArray<TypeParam> left(test::keys_of<TypeParam>(a));
  const DeviceArray<TypeParam> right(test::keys_of<TypeParam>(b));
  const DeviceArray<TypeParam> merged(kCount + 5'003);
  const std::size_t bytes = device_merge_scratch_bytes<TypeParam>(kCount + 5'003);
  const DeviceArray<std::byte> scratch(bytes, kScratchShift);
  merge_device_keys(left.get(), kCount, right.get(), 5'003, merged.get(), {scratch.get(), bytes},
                    nullptr);
  EXPECT_EQ(test::bytes_of_keys<TypeParam>(merged.values()), test::sorted_copy(both, format));
}

using DeviceKeyErrors = gpu::GpuTest;

TEST_F(DeviceKeyErrors, RefuseTooLittleScratchWithNothingDone) {
  std::vector<float> unsorted(kCount);
  for (std::size_t i = 0; i < unsorted.size(); ++i) unsorted[i] = static_cast<float>(i % 1000);
  const DeviceArray<float> keys(unsorted);
  try {
    sort_device_keys(keys.get(), keys.get(), kCount, Order::kAscending, {}, nullptr);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  }
  EXPECT_EQ(keys.values(), unsorted);
}

}  // namespace
}  // namespace gsort
