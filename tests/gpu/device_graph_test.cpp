// Sorts captured in a CUDA graph and replayed with other keys: a call queues the same work whatever
// the keys are, and waits for nothing.
#include <algorithm>
#include <functional>
#include <vector>

#include "device_memory.hpp"
#include "distributions.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/sort/device_sort.hpp"

namespace gsort::gpu {
namespace {

template <class Key>
class DeviceGraph : public GpuTest {};

using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceGraph, KeyTypes);

// What `queue` puts on a stream, as a graph.
class CapturedGraph {
 public:
  explicit CapturedGraph(const std::function<void(cudaStream_t)>& queue) {
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), CudaCall::kStream,
               "making a stream");
    check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), CudaCall::kStream,
               "beginning a capture");
    queue(stream_);
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(stream_, &graph), CudaCall::kStream, "ending a capture");
    check_cuda(cudaGraphInstantiate(&graph_, graph, 0), CudaCall::kLaunch, "instantiating a graph");
    cudaGraphDestroy(graph);
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  ~CapturedGraph() {
    cudaGraphExecDestroy(graph_);
    cudaStreamDestroy(stream_);
  }

  // Copies the keys on the graph's stream, which does not wait for the copies of another one.
  template <class Key>
  void replay(Key* input, const std::vector<Key>& keys) const {
    check_cuda(cudaMemcpyAsync(input, keys.data(), keys.size() * sizeof(Key),
                               cudaMemcpyHostToDevice, stream_),
               CudaCall::kCopy, "copying to the GPU");
    check_cuda(cudaGraphLaunch(graph_, stream_), CudaCall::kLaunch, "launching a graph");
    check_cuda(cudaStreamSynchronize(stream_), CudaCall::kStream, "waiting for a graph");
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
};

// Sorts keys of several shapes, one after the other, by one graph.
template <class Key, class Sort>
void replay_with_changed_keys(std::size_t count, std::size_t scratch_bytes, const Sort& sort) {
  if (are_too_many(count)) return;
  const DeviceArray<Key> input(count);
  const DeviceArray<Key> output(count);
  const DeviceArray<unsigned char> scratch(scratch_bytes, 256 - DeviceArray<char>::kGuard);
  const CapturedGraph graph([&](cudaStream_t stream) {
    sort(KeySort<Key>{.input = input.get(),
                      .output = output.get(),
                      .count = count,
                      .scratch = {scratch.get(), scratch_bytes},
                      .stream = stream});
  });
  for (const Shape shape : {Shape::kUniform, Shape::kSorted, Shape::kZipf, Shape::kEqual,
                            Shape::kSawtooth, Shape::kUniform}) {
    std::vector<Key> keys = make_keys<Key>(shape, count, 3);
    graph.replay(input.get(), keys);
    std::sort(keys.begin(), keys.end());
    ASSERT_TRUE(output.values() == keys) << static_cast<int>(shape);
    ASSERT_TRUE(output.guards_hold() && scratch.guards_hold());
  }
}

TYPED_TEST(DeviceGraph, ReplaysSortsByMerging) {
  for (const std::size_t count : {std::size_t{5000}, std::size_t{300007}, std::size_t{5000011}}) {
    replay_with_changed_keys<TypeParam>(count, sort_keys_scratch_bytes<TypeParam>(count),
                                        [](const KeySort<TypeParam>& sort) { sort_keys(sort); });
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceGraph, ReplaysSortsByDistribution) {
  DistributionChoice choice;
  choice.least_keys = 0;
  for (const std::size_t count : {std::size_t{29000}, std::size_t{300007}, std::size_t{9000011}}) {
    replay_with_changed_keys<TypeParam>(
        count, sort_keys_by_distribution_scratch_bytes<TypeParam>(count, choice),
        [&](const KeySort<TypeParam>& sort) { sort_keys_by_distribution(sort, choice); });
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gsort::gpu
