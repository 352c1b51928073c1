// Sorts with one distribution, the shared memory that its kernels take, and what a failed call
// leaves.
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

template <class T>
class DeviceDistributeOnce : public GpuTest {};
TYPED_TEST_SUITE(DeviceDistributeOnce, DistributedKeys);

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
  EXPECT_FALSE((pairs_fit_block<std::uint64_t, std::uint32_t>(kSmall)));
  EXPECT_TRUE((pairs_fit_block<std::uint64_t, std::uint32_t>(kMiddle)));
}

TYPED_TEST(DeviceDistributeOnce, SortsEverySizeAtABorder) {
  auto sizes = border_sizes<TypeParam>();
  for (const std::size_t near : {8191U, 8192U, 8193U, 16383U, 16384U, 16385U})
    sizes.push_back(near);
  for (const std::size_t size : sizes) {
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct}) {
      sort_and_compare(elements_of<TypeParam>(shape, size, size), {.choice = once(2)},
                       "at a border");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceDistributeOnce, SortsEveryShape) {
  using Key = typename TypeParam::Key;
  const auto map = KeyMap<Key>::of({mapped_type<Key>(), false, true});
  for (const NamedShape& named : kShapes) {
    for (const std::size_t size : {std::size_t{9001}, std::size_t{29999}, std::size_t{1} << 20,
                                   std::size_t{3} << 20, (std::size_t{1} << 22) + 4321}) {
      if (are_too_many(size)) continue;
      const auto elements = elements_of<TypeParam>(named.shape, size, 5);
      const std::string name(named.name);
      sort_and_compare(elements, {.choice = once()}, name);
      sort_and_compare(elements, {.choice = once(1), .store_map = map, .in_place = true},
                       name + ", long buckets");
      sort_and_compare(elements, {once(3), map, map, 3, false}, name + ", mapped");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceDistributeOnce, MergesLongBucketsIfTheSampleMisleads) {
  using Key = typename TypeParam::Key;
  constexpr unsigned kSampleBits = 2 + kSampleBitsOfOnceBin;
  for (const std::size_t size : {std::size_t{29996}, std::size_t{300003}}) {
    if (are_too_many(size)) continue;
    for (const Shape shape : {Shape::kUniform, Shape::kFewDistinct, Shape::kEqual}) {
      for (const bool high : {false, true}) {
        auto elements = elements_of<TypeParam>(shape, size, 4);
        for (std::uint64_t i = 0; i < std::uint64_t{1} << kSampleBits; ++i) {
          elements.keys[place_of_sample(i, size, kSampleBits, 1)] = static_cast<Key>(high ? ~i : i);
        }
        EXPECT_GE(counts_of_sort(elements, once(2)).long_tiles, 2U);
        for (const bool in_place : {false, true}) {
          sort_and_compare(elements, {.choice = once(2), .in_place = in_place}, "misled");
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace gsort::gpu
