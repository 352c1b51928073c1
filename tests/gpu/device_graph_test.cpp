// Sorts captured in a CUDA graph and replayed with other keys: a call queues the same work whatever
// the keys are, and waits for nothing. The library's calls are in device_widths_test.cpp.
#include <vector>

#include "distribute_cases.hpp"
#include "gpu/shares/share_elements.hpp"

namespace gsort::gpu {
namespace {

template <class T>
class DeviceGraph : public GpuTest {
 protected:
  using K = typename T::Key;
  using V = typename T::Value;

  // Sorts elements with keys of several shapes, one after the other, by one graph.
  template <class Sort>
  static void replay_with_changed_keys(std::size_t count, std::size_t scratch_bytes,
                                       const Sort& sort) {
    if (are_too_many(count)) return;
    const DevicePairArrays<T> input(elements_of<T>(Shape::kUniform, count, 2), 0);
    const DevicePairArrays<T> output(count, 0);
    const Scratch scratch(scratch_bytes, kScratchShift);
    const CapturedGraph graph([&](cudaStream_t stream) {
      sort(ElementSort<K, V>{.input = input.get(),
                             .output = output.get(),
                             .count = count,
                             .scratch = {scratch.get(), scratch_bytes},
                             .stream = stream});
    });
    for (const Shape shape : {Shape::kUniform, Shape::kSorted, Shape::kZipf, Shape::kEqual,
                              Shape::kSawtooth, Shape::kUniform}) {
      const HostPairs<T> elements = elements_of<T>(shape, count, 3);
      graph.replay(input.keys.get(), elements.keys);
      ASSERT_TRUE(output.pairs() == stably_sorted(elements, {}, {})) << static_cast<int>(shape);
      ASSERT_TRUE(output.guards_hold() && scratch.guards_hold());
    }
  }
};
TYPED_TEST_SUITE(DeviceGraph, DistributedElements);

TYPED_TEST(DeviceGraph, ReplaysSortsByMerging) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  for (const std::size_t count : {std::size_t{5000}, std::size_t{300007}, std::size_t{5000011}}) {
    this->replay_with_changed_keys(count, chunk_sort_bytes<Key, Value>(count),
                                   [](const auto& sort) { sort_chunk<Key, Value>(sort); });
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceGraph, ReplaysSortsByDistribution) {
  const DistributionChoice choice{.least_keys = 0};
  for (const std::size_t count : {std::size_t{29000}, std::size_t{300007}, std::size_t{9000011}}) {
    this->replay_with_changed_keys(count, distribution_bytes<TypeParam>(count, choice),
                                   [&](const auto& sort) { distribute<TypeParam>(sort, choice); });
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gsort::gpu
