// See large_inputs.hpp.
#include "gpu/cuda/cuda_check.hpp"
#include "large_inputs.hpp"

namespace gsort::gpu {
namespace {

constexpr unsigned kBlocks = 4096;
constexpr unsigned kThreads = 256;

// Calls visit(i) for every i below count, spread over all threads.
template <class Visit>
__device__ void for_each_position(std::uint64_t count, const Visit& visit) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * kThreads) {
    visit(i);
  }
}

template <class Key>
__global__ void scattered_kernel(const ScatteredKeys keys, Key* out) {
  for_each_position(keys.count, [&](std::uint64_t i) {
    out[i] = static_cast<Key>(i * kScatter % keys.period >> keys.shift);
  });
}

__global__ void slice_kernel(std::uint64_t first, std::uint64_t count, std::uint32_t slices,
                             unsigned shift, std::uint32_t* out) {
  for_each_position(count, [&](std::uint64_t i) {
    out[i] = static_cast<std::uint32_t>((first + i * slices) >> shift);
  });
}

__global__ void position_kernel(std::uint64_t count, std::uint64_t* out) {
  for_each_position(count, [&](std::uint64_t i) { out[i] = i; });
}

// Counts the positions for which is_wrong(i).
template <class IsWrong>
__global__ void count_kernel(std::uint64_t count, const IsWrong is_wrong,
                             unsigned long long* wrong) {
  unsigned long long mine = 0;
  for_each_position(count, [&](std::uint64_t i) { mine += is_wrong(i) ? 1 : 0; });
  if (mine > 0) atomicAdd(wrong, mine);
}

template <class Key>
struct IsNotSorted {
  ScatteredKeys keys;
  const Key* out;
  __device__ bool operator()(std::uint64_t i) const {
    return out[i] != static_cast<Key>(i % keys.period >> keys.shift);
  }
};

struct IsMisplaced {
  ScatteredKeys keys;
  const std::uint64_t* out;
  const std::uint64_t* positions;
  __device__ bool operator()(std::uint64_t i) const {
    if (out[i] != i >> keys.shift) return true;
    if (positions[i] * kScatter % keys.period >> keys.shift != out[i]) return true;
    return i > 0 && out[i - 1] == out[i] && positions[i - 1] >= positions[i];
  }
};

template <class IsWrong>
std::uint64_t count_if(std::uint64_t count, const IsWrong& is_wrong) {
  unsigned long long* counter = nullptr;
  check_cuda(cudaMalloc(&counter, sizeof(*counter)), CudaCall::kMemory, "allocating for a test");
  check_cuda(cudaMemset(counter, 0, sizeof(*counter)), CudaCall::kMemory, "clearing a counter");
  count_kernel<<<kBlocks, kThreads>>>(count, is_wrong, counter);
  check_launch("counting wrong keys");
  unsigned long long wrong = 0;
  check_cuda(cudaMemcpy(&wrong, counter, sizeof(wrong), cudaMemcpyDeviceToHost), CudaCall::kCopy,
             "reading a counter");
  cudaFree(counter);
  return wrong;
}

}  // namespace

template <class Key>
void fill_scattered(const ScatteredKeys& keys, Key* out) {
  scattered_kernel<<<kBlocks, kThreads>>>(keys, out);
  check_launch("making scattered keys");
}

std::uint64_t slice_count(std::uint64_t count, std::uint32_t slices, std::uint32_t slice) {
  return (count + slices - 1 - slice) / slices;
}

void fill_slices(std::uint64_t count, std::uint32_t slices, unsigned shift, std::uint32_t* out) {
  for (std::uint32_t slice = 0; slice < slices; ++slice) {
    const std::uint64_t length = slice_count(count, slices, slice);
    slice_kernel<<<kBlocks, kThreads>>>(slice, length, slices, shift, out);
    check_launch("making slices");
    out += length;
  }
}

template <class Key>
std::uint64_t count_wrong(const ScatteredKeys& keys, const Key* out) {
  return count_if(keys.count, IsNotSorted<Key>{keys, out});
}

void fill_positions(std::uint64_t count, std::uint64_t* out) {
  position_kernel<<<kBlocks, kThreads>>>(count, out);
  check_launch("numbering pairs");
}

std::uint64_t count_misplaced(const ScatteredKeys& keys, const std::uint64_t* out,
                              const std::uint64_t* positions) {
  return count_if(keys.count, IsMisplaced{keys, out, positions});
}

template void fill_scattered(const ScatteredKeys&, std::uint32_t*);
template void fill_scattered(const ScatteredKeys&, std::uint64_t*);
template std::uint64_t count_wrong(const ScatteredKeys&, const std::uint32_t*);
template std::uint64_t count_wrong(const ScatteredKeys&, const std::uint64_t*);

}  // namespace gsort::gpu
