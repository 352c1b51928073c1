// See device_check.hpp.
//
// Threads: a fixed grid strides over the keys. Bytes: each key is read twice (once as a
// predecessor, from the cache); two atomic additions a warp.
#include "bench/device_check.hpp"
#include "bench/gpu_contenders.hpp"
#include "gpu/cuda/cuda_check.hpp"

namespace gsort::bench {
namespace {

constexpr unsigned kBlocks = 1024;
constexpr unsigned kThreads = 256;

// A one-to-one mix of 64 bits. Source: D. Stafford, "Better bit mixing", 2011, variant 13.
__device__ std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

struct Sums {
  unsigned long long descents = 0;
  unsigned long long sum = 0;
};

// Adds the threads' sums to `total`.
__device__ void warp_add(Sums sums, Sums* total) {
  for (unsigned step = 16; step > 0; step /= 2) {
    sums.descents += __shfl_down_sync(0xffffffffU, sums.descents, step);
    sums.sum += __shfl_down_sync(0xffffffffU, sums.sum, step);
  }
  if (threadIdx.x % 32 != 0) return;
  if (sums.descents != 0) atomicAdd(&total->descents, sums.descents);
  atomicAdd(&total->sum, sums.sum);
}

template <class Key>
__global__ void arrays_kernel(const Key* keys, std::uint64_t count, std::uint64_t array_keys,
                              KeyMap<Key> map, Sums* total) {
  Sums sums;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
       i += std::uint64_t{kBlocks} * kThreads) {
    const Key key = map.to_ordered(keys[i]);
    if (i % array_keys != 0 && key < map.to_ordered(keys[i - 1])) ++sums.descents;
    sums.sum += mixed(key + mixed(i / array_keys + 1));
  }
  warp_add(sums, total);
}

template <class Key, class Value>
__global__ void pairs_kernel(const Key* keys, const Value* values, std::uint64_t count,
                             std::uint64_t array_keys, KeyMap<Key> map, Sums* total) {
  Sums sums;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
       i += std::uint64_t{kBlocks} * kThreads) {
    const Key key = map.to_ordered(keys[i]);
    if (i % array_keys != 0) {
      const Key before = map.to_ordered(keys[i - 1]);
      if (key < before || (key == before && values[i] < values[i - 1])) ++sums.descents;
    }
    sums.sum += mixed(key + mixed(values[i] + mixed(i / array_keys + 1)));
  }
  warp_add(sums, total);
}

template <class Key>
__global__ void differences_kernel(const Key* keys, const Key* expected, std::uint64_t count,
                                   Sums* total) {
  Sums sums;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
       i += std::uint64_t{kBlocks} * kThreads) {
    if (keys[i] != expected[i]) ++sums.descents;
  }
  warp_add(sums, total);
}

// Runs launch(total) on cleared sums and waits for them.
template <class Launch>
DeviceCheck sums_of(const Launch& launch) {
  const DeviceMemory memory(sizeof(Sums));
  auto* const total = memory.as<Sums>();
  gpu::check_cuda(cudaMemset(total, 0, sizeof(Sums)), gpu::CudaCall::kMemory, "clearing sums");
  launch(total);
  gpu::check_launch("launching a check of an output");
  Sums sums;
  gpu::check_cuda(cudaMemcpy(&sums, total, sizeof(sums), cudaMemcpyDeviceToHost),
                  gpu::CudaCall::kCopy, "checking an output");
  return {sums.descents, sums.sum};
}

}  // namespace

template <class Key>
DeviceCheck check_arrays(const Key* keys, std::uint64_t count, std::uint64_t array_keys,
                         KeyMap<Key> map) {
  return sums_of([&](Sums* total) {
    arrays_kernel<<<kBlocks, kThreads>>>(keys, count, array_keys, map, total);
  });
}

template <class Key, class Value>
DeviceCheck check_pairs(const Key* keys, const Value* values, std::uint64_t count,
                        std::uint64_t array_keys, KeyMap<Key> map) {
  return sums_of([&](Sums* total) {
    pairs_kernel<<<kBlocks, kThreads>>>(keys, values, count, array_keys, map, total);
  });
}

template <class Key>
std::uint64_t count_differences(const Key* keys, const Key* expected, std::uint64_t count) {
  const auto check = sums_of([&](Sums* total) {
    differences_kernel<<<kBlocks, kThreads>>>(keys, expected, count, total);
  });
  return check.descents;
}

using U32 = std::uint32_t;
using U64 = std::uint64_t;
template DeviceCheck check_arrays(const U32*, std::uint64_t, std::uint64_t, KeyMap<U32>);
template DeviceCheck check_arrays(const U64*, std::uint64_t, std::uint64_t, KeyMap<U64>);
template DeviceCheck check_pairs(const U32*, const U32*, std::uint64_t, std::uint64_t, KeyMap<U32>);
template DeviceCheck check_pairs(const U32*, const U64*, std::uint64_t, std::uint64_t, KeyMap<U32>);
template DeviceCheck check_pairs(const U64*, const U32*, std::uint64_t, std::uint64_t, KeyMap<U64>);
template DeviceCheck check_pairs(const U64*, const U64*, std::uint64_t, std::uint64_t, KeyMap<U64>);
template std::uint64_t count_differences(const U32*, const U32*, std::uint64_t);
template std::uint64_t count_differences(const U64*, const U64*, std::uint64_t);

}  // namespace gsort::bench
