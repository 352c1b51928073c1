// Sorts captured in a CUDA graph and replayed with other keys: a call queues the same work whatever
// the keys are, and waits for nothing.
#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "device_memory.hpp"
#include "distributions.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/sort/device_sort.hpp"
#include "library/device_segments.hpp"

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

// Calls of the library that give numbers of keys: where each key of each array was before.
struct NumbersCall {
  std::size_t scratch_bytes;
  // Of keys, indices, and the numbers 0 to count - 1 as values.
  std::function<void(const double*, std::int64_t*, const std::int64_t*, DeviceScratch,
                     cudaStream_t)>
      call;
};

// With all numbers counted from the first key, or from that of each array.
std::vector<std::int64_t> numbers_of(const std::vector<double>& keys,
                                     const std::vector<std::uint64_t>& offsets, bool of_each) {
  std::vector<std::int64_t> numbers(keys.size());
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  for (std::size_t array = 0; array + 1 < offsets.size(); ++array) {
    const auto begin = static_cast<std::ptrdiff_t>(offsets[array]);
    const auto end = static_cast<std::ptrdiff_t>(offsets[array + 1]);
    std::ranges::stable_sort(numbers.begin() + begin, numbers.begin() + end, std::greater<>(),
                             [&](std::int64_t i) { return keys[static_cast<std::size_t>(i)]; });
    for (auto i = begin; of_each && i < end; ++i) numbers[static_cast<std::size_t>(i)] -= begin;
  }
  return numbers;
}

// Values that are no NaN and no zero, whose order is that of the host.
std::vector<double> doubles_of(Shape shape, std::size_t count) {
  std::vector<double> keys;
  for (const std::uint32_t key : make_keys<std::uint32_t>(shape, count, 5)) {
    keys.push_back(static_cast<double>(key % 50'000) - 25'000.5);
  }
  return keys;
}

using LibraryGraph = GpuTest;

void replay_numbers(const NumbersCall& numbers, const std::vector<std::uint64_t>& offsets,
                    bool of_each) {
  const std::size_t count = offsets.back();
  std::vector<std::int64_t> positions(count);
  std::iota(positions.begin(), positions.end(), std::int64_t{0});
  const DeviceArray<double> input(count);
  const DeviceArray<std::int64_t> values(positions);
  const DeviceArray<std::int64_t> output(count);
  const DeviceArray<unsigned char> scratch(numbers.scratch_bytes, 256 - DeviceArray<char>::kGuard);
  const CapturedGraph graph([&](cudaStream_t stream) {
    numbers.call(input.get(), output.get(), values.get(), {scratch.get(), numbers.scratch_bytes},
                 stream);
  });
  for (const Shape shape : {Shape::kUniform, Shape::kSorted, Shape::kEqual, Shape::kUniform}) {
    const std::vector<double> keys = doubles_of(shape, count);
    graph.replay(input.get(), keys);
    ASSERT_TRUE(output.values() == numbers_of(keys, offsets, of_each)) << static_cast<int>(shape);
    ASSERT_TRUE(output.guards_hold() && scratch.guards_hold());
  }
}

TEST_F(LibraryGraph, ReplaysStableSortsOfPairsAndNumbers) {
  constexpr std::uint64_t kCount = 100'003;
  if (are_too_many(kCount)) return;
  const DeviceArray<double> sorted(kCount);
  replay_numbers({device_pairs_scratch_bytes<double, std::int64_t>(kCount),
                  [&](const double* keys, std::int64_t* out, const std::int64_t* values,
                      DeviceScratch scratch, cudaStream_t stream) {
                    sort_device_pairs(keys, sorted.get(), values, out, kCount, Order::kDescending,
                                      scratch, stream);
                  }},
                 {0, kCount}, false);
  replay_numbers({device_argsort_scratch_bytes<double, std::int64_t>(kCount),
                  [&](const double* keys, std::int64_t* out, const std::int64_t* /*values*/,
                      DeviceScratch scratch, cudaStream_t stream) {
                    argsort_device_keys(keys, out, kCount, Order::kDescending, scratch, stream);
                  }},
                 {0, kCount}, false);
}

TEST_F(LibraryGraph, ReplaysSegments) {
  const std::vector<std::uint64_t> offsets{0, 5, 5, 9'000, 9'100, 109'100, 109'101, 120'000};
  if (are_too_many(offsets.back())) return;
  const DeviceArray<std::uint64_t> device_offsets(offsets);
  const DeviceSegments segments{
      .array_count = offsets.size() - 1, .offsets = device_offsets.get(), .count = offsets.back()};
  const DeviceArray<double> sorted(offsets.back());
  const std::size_t bytes = device_segment_pairs_scratch_bytes<double>(segments);
  replay_numbers({bytes,
                  [&](const double* keys, std::int64_t* out, const std::int64_t* values,
                      DeviceScratch scratch, cudaStream_t stream) {
                    sort_device_segment_pairs(keys, sorted.get(), values, out, segments,
                                              Order::kDescending, scratch, stream);
                  }},
                 offsets, false);
  replay_numbers({bytes,
                  [&](const double* keys, std::int64_t* out, const std::int64_t* /*values*/,
                      DeviceScratch scratch, cudaStream_t stream) {
                    argsort_device_segments(keys, out, segments, Order::kDescending, scratch,
                                            stream);
                  }},
                 offsets, true);
}

TEST_F(LibraryGraph, ReplaysMergesOfSlices) {
  const std::vector<std::uint64_t> offsets{0, 40'000, 40'001, 90'000, 90'000, 150'000};
  const std::uint64_t count = offsets.back();
  if (are_too_many(count)) return;
  std::vector<std::uint64_t> counts(offsets.size() - 1);
  std::adjacent_difference(offsets.begin() + 1, offsets.end(), counts.begin());
  const auto slice_count = static_cast<std::uint32_t>(counts.size());
  const DeviceArray<double> input(count);
  const DeviceArray<double> output(count);
  const std::size_t bytes = device_slices_scratch_bytes<double>(count, slice_count);
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  const CapturedGraph graph([&](cudaStream_t stream) {
    merge_device_slices(input.get(), counts.data(), slice_count, output.get(), Order::kDescending,
                        {scratch.get(), bytes}, stream);
  });
  std::ranges::fill(counts, 0);  // they have been read
  for (const Shape shape : {Shape::kUniform, Shape::kEqual, Shape::kZipf, Shape::kUniform}) {
    std::vector<double> keys = doubles_of(shape, count);
    for (std::size_t slice = 0; slice + 1 < offsets.size(); ++slice) {
      std::sort(keys.begin() + static_cast<std::ptrdiff_t>(offsets[slice]),
                keys.begin() + static_cast<std::ptrdiff_t>(offsets[slice + 1]), std::greater<>());
    }
    graph.replay(input.get(), keys);
    std::ranges::sort(keys, std::greater<>());
    ASSERT_TRUE(output.values() == keys) << static_cast<int>(shape);
    ASSERT_TRUE(output.guards_hold() && scratch.guards_hold());
  }
}

}  // namespace
}  // namespace gsort::gpu
