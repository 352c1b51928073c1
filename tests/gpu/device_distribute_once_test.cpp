// sort_keys_by_distribution with one distribution, the shared memory that its kernels take, and
// what a failed call leaves.
#include <string>
#include <vector>

#include "base/error.hpp"
#include "distribute_cases.hpp"
#include "gpu/distribute/distribute_shape.hpp"
#include "gpu/distribute/launch.hpp"

namespace gsort::gpu {
namespace {

class CudaErrors : public GpuTest {};

TEST_F(CudaErrors, AreNotLeftForTheCaller) {
  void* memory = nullptr;
  EXPECT_THROW(check_cuda(cudaMalloc(&memory, std::size_t{1} << 50), CudaCall::kMemory, "testing"),
               Error);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

template <class Key>
class DeviceDistributeOnce : public GpuTest {};

using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceDistributeOnce, KeyTypes);

// Consumer cards have 99 KB of shared memory for a block, the A100 163, newer data centre cards
// 227.
TEST(DistributionKernels, FitTheSharedMemoryOfBlocks) {
  constexpr unsigned kSmall = 99U << 10;
  constexpr unsigned kMiddle = 163U << 10;
  constexpr unsigned kLarge = 227U << 10;
  EXPECT_TRUE(keys_fit_block<std::uint32_t>(kSmall));
  EXPECT_FALSE(keys_fit_block<std::uint64_t>(kSmall));
  EXPECT_TRUE(keys_fit_block<std::uint64_t>(kMiddle));
  EXPECT_FALSE(buckets_fit_block<std::uint32_t>(kSmall));
  EXPECT_TRUE(buckets_fit_block<std::uint32_t>(kMiddle));
  EXPECT_FALSE(buckets_fit_block<std::uint64_t>(kMiddle));
  EXPECT_TRUE(buckets_fit_block<std::uint64_t>(kLarge));
  EXPECT_FALSE((pairs_fit_block<std::uint32_t, std::uint32_t>(kSmall)));
  EXPECT_TRUE((pairs_fit_block<std::uint32_t, std::uint32_t>(kMiddle)));
}

TYPED_TEST(DeviceDistributeOnce, SortsEverySizeAtABorderOnce) {
  for (const std::size_t size : border_sizes<TypeParam>()) {
    sort_and_compare<TypeParam>(make_keys<TypeParam>(Shape::kUniform, size, size),
                                {.choice = once(2)}, "uniform, once");
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceDistributeOnce, SortsEveryShapeOnce) {
  const auto map = KeyMap<TypeParam>::of({mapped_type<TypeParam>(), false, true});
  for (const NamedShape& named : kShapes) {
    for (const std::size_t size : {std::size_t{9001}, std::size_t{29999}, std::size_t{1} << 20,
                                   std::size_t{3} << 20, std::size_t{1} << 22}) {
      if (are_too_many(size)) continue;
      const auto keys = make_keys<TypeParam>(named.shape, size, 5);
      sort_and_compare<TypeParam>(keys, {.choice = once()}, std::string(named.name) + ", once");
      sort_and_compare<TypeParam>(keys, {.choice = once(1), .store_map = map, .in_place = true},
                                  std::string(named.name) + ", long buckets");
      sort_and_compare<TypeParam>(keys, {once(3), map, map, 3, false},
                                  std::string(named.name) + ", once and mapped");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceDistributeOnce, SortsOnceWhatTheSampleMisleadsAbout) {
  constexpr unsigned kSampleBits = 2 + kSampleBitsOfOnceBin;
  for (const std::size_t size : {std::size_t{29996}, std::size_t{1} << 20}) {
    if (are_too_many(size)) continue;
    for (const bool high : {false, true}) {
      auto keys = make_keys<TypeParam>(Shape::kUniform, size, 4);
      for (std::uint64_t i = 0; i < std::uint64_t{1} << kSampleBits; ++i) {
        keys[place_of_sample(i, size, kSampleBits, 1)] =
            high ? static_cast<TypeParam>(~TypeParam{0} - i) : static_cast<TypeParam>(i);
      }
      sort_and_compare<TypeParam>(keys, {.choice = once(2)}, "misled, once");
      if (this->HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gsort::gpu
