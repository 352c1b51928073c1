// The plan's arithmetic of device memory against what the calls of the engine ask for, on every
// architecture they are tuned for. No device is used.
#include <cstdint>

#include <gtest/gtest.h>

#include "engine/array_footprint.hpp"
#include "engine/footprint.hpp"
#include "engine/record_footprint.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/records/device_records.hpp"
#include "gpu/segmented/device_batch.hpp"
#include "gpu/shares/shares_sort.hpp"
#include "gpu/sort/device_sort.hpp"

namespace gsort::gpu {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 36;

// Every count from 1 on, in steps of about a quarter, and one more and one less than powers of two.
template <class Visit>
void for_counts(std::uint64_t most, const Visit& visit) {
  for (std::uint64_t count = 1; count <= most; count += count / 4 + 1) visit(count);
  for (std::uint64_t power = 4; power <= most; power *= 2) {
    visit(power - 1);
    visit(power + 1);
  }
}

template <class Key>
class DeviceFootprint : public testing::Test {};

using Keys = testing::Types<std::uint32_t, std::uint64_t, UInt128>;
TYPED_TEST_SUITE(DeviceFootprint, Keys);

TYPED_TEST(DeviceFootprint, HoldsWhatASortNeeds) {
  for_counts(kMostBytes / sizeof(TypeParam), [](std::uint64_t count) {
    const std::uint64_t most = CudaFootprint::scratch_bytes(count * sizeof(TypeParam));
    ASSERT_LE(sort_keys_scratch_bytes<TypeParam>(count), most) << count;
    if constexpr (sizeof(TypeParam) == 8) {
      ASSERT_LE(sort_keys_by_distribution_scratch_bytes<TypeParam>(count, kNotInPieces), most)
          << count;
    }
  });
}

TYPED_TEST(DeviceFootprint, HoldsWhatAMergeNeeds) {
  for_counts(kMostBytes / sizeof(TypeParam), [](std::uint64_t count) {
    for (const std::uint32_t slices : {1U, 2U, 3U, 16U, 17U, 64U, 256U, 257U, 4096U, 20'000U}) {
      ASSERT_LE(merge_slices_scratch_bytes<TypeParam>(count, slices),
                CudaFootprint::scratch_bytes(count * sizeof(TypeParam)))
          << count << " in " << slices;
    }
  });
}

template <class Key>
class ShareFootprint : public testing::Test {};

using ShareKeys = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(ShareFootprint, ShareKeys);

TYPED_TEST(ShareFootprint, HoldsWhatASortOfSharesNeeds) {
  for_counts(kMostBytes / sizeof(TypeParam), [](std::uint64_t count) {
    const std::uint64_t bytes = count * sizeof(TypeParam);
    for (std::uint32_t devices = 2; devices <= CudaFootprint::kMostSharers; ++devices) {
      ASSERT_LE(
          CudaFootprint::allocated_bytes(bytes) +
              CudaFootprint::allocated_bytes(sort_shares_scratch_bytes<TypeParam>(count, devices)),
          CudaFootprint::share_device_bytes(bytes))
          << count << " of " << devices;
    }
  });
}

template <class Key>
class ArrayDeviceFootprint : public testing::Test {};

using ArrayKeys = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(ArrayDeviceFootprint, ArrayKeys);

TYPED_TEST(ArrayDeviceFootprint, HoldsWhatASortNeeds) {
  for_counts(kMostBytes / sizeof(TypeParam), [](std::uint64_t count) {
    for_counts(count, [&](std::uint64_t array_elements) {
      const std::uint64_t most = CudaArrayFootprint::scratch_bytes(count * sizeof(TypeParam));
      ASSERT_LE(sort_batch_scratch_bytes<TypeParam>(count / array_elements, array_elements), most)
          << count << " in arrays of " << array_elements;
      ASSERT_LE(sort_batch_scratch_bytes<TypeParam>(1, array_elements), most) << array_elements;
    });
  });
}

TEST(RecordDeviceFootprint, HoldsWhatASortNeeds) {
  for_counts(kMostDeviceRecords, [](std::uint64_t count) {
    ASSERT_LE(sort_records_scratch_bytes(count), CudaRecordFootprint::scratch_bytes(count))
        << count;
  });
}

}  // namespace
}  // namespace gsort::gpu
