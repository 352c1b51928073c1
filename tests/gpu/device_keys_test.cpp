// The library's interface to the kernels: every type and order, against std::sort of a copy. Other
// tests try the kernels themselves at the borders of their tiles.
#include "library/device_keys.hpp"

#include <string>
#include <vector>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "library/key_types.hpp"
#include "support/error_of.hpp"
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

// The counts of one chunk, of several, and of the most.
TYPED_TEST(DeviceKeys, SortHostMemoryInPlace) {
  for (const std::size_t count :
       {std::size_t{1}, kCount, std::size_t{5'000'011}, std::size_t{20'000'003}}) {
    SCOPED_TRACE(count);
    for (const Order order : {Order::kAscending, Order::kDescending}) {
      const KeyFormat format = library::format_of<TypeParam>(order);
      const Bytes raw = test::generated(format, Distribution::kUniform, count);
      gpu::PinnedArray<TypeParam> keys(test::keys_of<TypeParam>(raw));
      const std::size_t bytes = host_sort_scratch_bytes<TypeParam>(count);
      DeviceArray<std::byte> scratch(bytes, kScratchShift);
      sort_host_keys(keys.get(), keys.get(), count, order, {scratch.get(), bytes}, nullptr);
      EXPECT_EQ(test::bytes_of_keys<TypeParam>(keys.values()), test::sorted_copy(raw, format));
      EXPECT_TRUE(scratch.guards_hold());
    }
  }
}

TYPED_TEST(DeviceKeys, SortHostMemoryThatIsNotPinnedIntoAnother) {
  constexpr std::size_t kMany = 9'000'001;
  const KeyFormat format = library::format_of<TypeParam>(Order::kAscending);
  const Bytes raw = test::generated(format, Distribution::kZipf, kMany);
  const std::vector<TypeParam> keys = test::keys_of<TypeParam>(raw);
  std::vector<TypeParam> sorted(kMany);
  const std::size_t bytes = host_sort_scratch_bytes<TypeParam>(kMany);
  const DeviceArray<std::byte> scratch(bytes, kScratchShift);
  sort_host_keys(keys.data(), sorted.data(), kMany, Order::kAscending, {scratch.get(), bytes},
                 nullptr);
  gpu::wait_for_device();
  EXPECT_EQ(test::bytes_of_keys<TypeParam>(sorted), test::sorted_copy(raw, format));
  EXPECT_EQ(test::bytes_of_keys<TypeParam>(keys), raw);
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
  merge_device_keys(left.get(), kCount, right.get(), 5'003, merged.get(), Order::kAscending,
                    {scratch.get(), bytes}, nullptr);
  EXPECT_EQ(test::bytes_of_keys<TypeParam>(merged.values()), test::sorted_copy(both, format));
}

using DeviceKeyErrors = gpu::GpuTest;

TEST_F(DeviceKeyErrors, RefuseTooLittleScratchWithNothingDone) {
  std::vector<float> unsorted(kCount);
  for (std::size_t i = 0; i < unsorted.size(); ++i) unsorted[i] = static_cast<float>(i % 1000);
  const DeviceArray<float> keys(unsorted);
  const Error error = test::error_of(
      [&] { sort_device_keys(keys.get(), keys.get(), kCount, Order::kAscending, {}, nullptr); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(keys.values(), unsorted);
}

TEST_F(DeviceKeyErrors, RefuseToSortHostMemoryOverItsOwnMiddle) {
  std::vector<std::uint32_t> keys(2 * kCount, 7);
  const std::size_t bytes = host_sort_scratch_bytes<std::uint32_t>(kCount);
  const DeviceArray<std::byte> scratch(bytes, kScratchShift);
  EXPECT_THROW(sort_host_keys(keys.data(), keys.data() + 1, kCount, Order::kAscending,
                              {scratch.get(), bytes}, nullptr),
               Error);
  EXPECT_THROW(sort_host_keys(keys.data(), keys.data(), kCount, Order::kAscending,
                              {scratch.get(), bytes - 1}, nullptr),
               Error);
}

TEST_F(DeviceKeyErrors, HostSortsNeverNeedLessScratchForMoreKeys) {
  std::size_t least = 0;
  for (std::uint64_t count = 1; count < std::uint64_t{1} << 26; count += count / 7 + 1) {
    const std::size_t bytes = host_sort_scratch_bytes<double>(count);
    EXPECT_GE(bytes, least) << count;
    least = bytes;
  }
  const auto bytes_of = [](std::uint64_t count) { return host_sort_scratch_bytes<float>(count); };
  for (std::uint64_t count = 27U << 20; count < 28U << 20; count += 27) {
    ASSERT_LE(bytes_of(count - 1), bytes_of(count)) << count;
  }
}

// No GPU is asked.
TEST(DeviceKeyLimits, MoreKeysThanACallTakesAreRefusedByCallsAndSizes) {
  const auto expect_refusal = [](const auto& call) {
    const Error error = test::error_of(call);
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_NE(std::string(error.what()).find("more than 34,359,738,368 keys"), std::string::npos)
        << error.what();
  };
  std::vector<float> some(64);
  float* const keys = some.data();
  for (const std::uint64_t count : {(std::uint64_t{1} << 35) + 1, ~std::uint64_t{0}}) {
    expect_refusal([&] { (void)host_sort_scratch_bytes<float>(count); });
    expect_refusal([&] { (void)device_sort_scratch_bytes<double>(count); });
    expect_refusal([&] { (void)device_merge_scratch_bytes<std::uint32_t>(count); });
    expect_refusal([&] {
      sort_host_keys(keys, keys, count, Order::kAscending, {keys, 64}, nullptr);
    });
    expect_refusal([&] {
      sort_device_keys(keys, keys, count, Order::kAscending, {keys, 64}, nullptr);
    });
  }
}

}  // namespace
}  // namespace gsort
