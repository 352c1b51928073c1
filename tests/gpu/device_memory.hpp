// Helpers of tests on a GPU: device arrays that free themselves, copies, streams, graphs, and skips
// with a reason.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "gpu/cuda/cuda_check.hpp"
#include "library/device_bits.hpp"
#include "support/gpu_expected.hpp"
#ifdef GSORT_EMULATED_MOST_KEYS
#include <optional>

#include "support/some_of.hpp"
#endif

namespace gsort::gpu {

// The orders in which keys of a type can be sorted: floats also in total order.
template <class Key>
[[nodiscard]] std::span<const Order> orders_of() {
  static constexpr Order kOrders[] = {Order::kAscending, Order::kDescending, Order::kAscendingTotal,
                                      Order::kDescendingTotal};
  const bool has_total = is_float(library::device_format_of<Key>(Order::kAscending).type);
  return std::span(kOrders).first(has_total ? 4 : 2);
}

// "" if there is a GPU, else why there is none.
inline std::string reason_without_gpu() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result != cudaSuccess) return std::string("no usable GPU: ") + cudaGetErrorString(result);
  return count > 0 ? "" : "no GPU in this machine";
}

// The numbers of cases of the current test.
struct CasesOfTest {
  std::size_t run = 0;
  std::size_t left_out = 0;
#ifdef GSORT_EMULATED_MOST_KEYS
  std::optional<test::SomeOf> some;
#endif
};
inline CasesOfTest cases_of_test;

// Whether tests of `count` elements are left out: under a tool that makes kernels thousands of
// times slower, GSORT_TEST_MOST_KEYS says how many there is time for. The emulator has a number of
// its own. A test that leaves out all of its cases is skipped.
inline bool are_too_many(std::size_t count) {
  const char* most = std::getenv("GSORT_TEST_MOST_KEYS");
#ifdef GSORT_EMULATED_MOST_KEYS
  if (most == nullptr) most = GSORT_EMULATED_MOST_KEYS;
#endif
  const bool are_many = most != nullptr && count > std::strtoull(most, nullptr, 10);
  ++(are_many ? cases_of_test.left_out : cases_of_test.run);
  return are_many;
}

// Whether to leave out a case of this many elements. The emulator runs the first case of a test
// that is not too large, and one in six of the others (support/some_of.hpp).
inline bool is_left_out(std::size_t count = 0) {
  if (are_too_many(count)) return true;
#ifdef GSORT_EMULATED_MOST_KEYS
  if (cases_of_test.some) return !cases_of_test.some->takes();
  cases_of_test.some.emplace(6U);
#endif
  return false;
}

// The number of times that tests of several streams queue their calls, and the elements of each.
#ifdef GSORT_EMULATED_MOST_KEYS
inline constexpr int kRoundsOfStreams = 2;
inline constexpr std::size_t kCountOfStreams = 30000;
#else
inline constexpr int kRoundsOfStreams = 5;
inline constexpr std::size_t kCountOfStreams = 300000;
#endif

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cases_of_test = {};
    const std::string reason = test::missing_gpu(reason_without_gpu());
    if (!reason.empty()) GTEST_SKIP() << "SKIPPED: " << reason;
  }
  void TearDown() override {
    if (cases_of_test.run == 0 && cases_of_test.left_out > 0) {
      GTEST_SKIP() << "SKIPPED: every case has more than GSORT_TEST_MOST_KEYS keys";
    }
  }
};

// `count` T in device memory, poisoned, with a poisoned guard on both sides. `misalign` moves the
// array by that many elements from the alignment of cudaMalloc.
template <class T>
class DeviceArray {
 public:
  static constexpr int kPoison = 0xa5;
  static constexpr std::size_t kGuard = 64;

  explicit DeviceArray(std::size_t count, std::size_t misalign = 0)
      : count_(count), before_(kGuard + misalign) {
    check_cuda(cudaMalloc(&memory_, bytes()), CudaCall::kMemory, "allocating for a test");
    check_cuda(cudaMemset(memory_, kPoison, bytes()), CudaCall::kMemory, "poisoning");
    wait_until_filled();
  }
  explicit DeviceArray(const std::vector<T>& values, std::size_t misalign = 0)
      : DeviceArray(values.size(), misalign) {
    check_cuda(cudaMemcpy(get(), values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice),
               CudaCall::kCopy, "copying to the GPU");
    wait_until_filled();
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(memory_); }

  [[nodiscard]] T* get() const { return static_cast<T*>(memory_) + before_; }

  // Waits for the device.
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> all(count_);
    check_cuda(cudaDeviceSynchronize(), CudaCall::kStream, "waiting for the GPU");
    check_cuda(cudaMemcpy(all.data(), get(), count_ * sizeof(T), cudaMemcpyDeviceToHost),
               CudaCall::kCopy, "copying from the GPU");
    return all;
  }

  // Is everything around the array as it was?
  [[nodiscard]] bool guards_hold() const {
    std::vector<unsigned char> all(bytes());
    check_cuda(cudaMemcpy(all.data(), memory_, bytes(), cudaMemcpyDeviceToHost), CudaCall::kCopy,
               "copying from the GPU");
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool inside = i >= before_ * sizeof(T) && i < (before_ + count_) * sizeof(T);
      if (!inside && all[i] != kPoison) return false;
    }
    return true;
  }

 private:
  // Streams that do not block would else overtake what fills it.
  static void wait_until_filled() {
    check_cuda(cudaDeviceSynchronize(), CudaCall::kStream, "filling for a test");
  }

  [[nodiscard]] std::size_t bytes() const { return (before_ + count_ + kGuard) * sizeof(T); }

  void* memory_ = nullptr;
  std::size_t count_;
  std::size_t before_;
};

inline void wait_for_device() {
  check_cuda(cudaDeviceSynchronize(), CudaCall::kStream, "waiting for the GPU");
}

// Values in pinned host memory.
template <class T>
class PinnedArray {
 public:
  explicit PinnedArray(const std::vector<T>& values) : count_(values.size()) {
    check_cuda(cudaMallocHost(&memory_, count_ * sizeof(T)), CudaCall::kMemory, "pinning");
    std::copy(values.begin(), values.end(), get());
  }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  ~PinnedArray() { cudaFreeHost(memory_); }

  [[nodiscard]] T* get() const { return static_cast<T*>(memory_); }

  // Waits for the device.
  [[nodiscard]] std::vector<T> values() const {
    wait_for_device();
    return {get(), get() + count_};
  }

 private:
  void* memory_ = nullptr;
  std::size_t count_;
};

// The work that `queue` puts on a stream, as a graph.
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

}  // namespace gsort::gpu
