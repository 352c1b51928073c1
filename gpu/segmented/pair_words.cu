// Kernels that sort many arrays of pairs by digits (device_pair_batch.cpp): the digits of keys, and
// pairs in the order of their numbers.
//
// Threads: thread t of a block has the block's pairs t, t + kThreads, and so on.
// Bytes a pair: write_digits key + 4, and 4 for its number; place_pairs 4, key + value written, and
// what its number leads to.
#include "base/units.hpp"
#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/merge/find_last.hpp"
#include "gpu/segmented/launch_pair_words.hpp"

namespace gsort::gpu {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kPairsPerThread = 4;
constexpr unsigned kPairsPerBlock = kThreads * kPairsPerThread;

LaunchShape shape_for(std::uint64_t count, cudaStream_t stream) {
  return {static_cast<unsigned>(div_up(count, kPairsPerBlock)), kThreads, 0, current_architecture(),
          stream};
}

// Calls f with the number of each pair of this thread.
template <class F>
__device__ void thread_each_pair(std::uint64_t count, const F& f) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kPairsPerBlock + threadIdx.x;
#pragma unroll
  for (unsigned step = 0; step < kPairsPerThread; ++step) {
    const std::uint64_t i = first + step * kThreads;
    if (i < count) f(i);
  }
}

template <class Key>
__global__ void __launch_bounds__(kThreads)
    write_digits_kernel(const __grid_constant__ KeyDigitPass<Key> pass) {
  grid_begin();
  thread_each_pair(pass.count, [&](std::uint64_t i) {
    const std::uint64_t number = pass.numbers == nullptr ? i : pass.numbers[i];
    pass.digits[i] =
        static_cast<std::uint32_t>(pass.map.to_ordered(pass.keys_in[number]) >> pass.shift);
  });
}

// The arrays of a block's first and last pair.
struct BlockArrays {
  std::uint64_t first;
  std::uint64_t last;
};

// Holds a barrier.
template <class Key, class Value>
__device__ void block_find_arrays(const PairPlacePass<Key, Value>& pass, BlockArrays& arrays) {
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * kPairsPerBlock;
  const std::uint64_t end =
      begin + kPairsPerBlock < pass.count ? begin + kPairsPerBlock : pass.count;
  const auto array_of = [&](std::uint64_t pair) {
    return find_last(pass.array_count, pair, [&](std::uint64_t i) { return pass.offsets[i]; });
  };
  if (threadIdx.x == 0) arrays.first = array_of(begin);
  if (threadIdx.x == 32) arrays.last = array_of(end - 1);
  __syncthreads();  // both are known
}

// The number of a pair in its array. Pair i of the output is in the same one.
template <class Key, class Value>
__device__ std::uint32_t thread_number_in_array(const PairPlacePass<Key, Value>& pass,
                                                const BlockArrays& arrays, std::uint64_t i,
                                                std::uint32_t number) {
  if (pass.offsets == nullptr) {
    // An array of 2^32 pairs is the only one.
    const auto length = static_cast<std::uint32_t>(pass.array_keys);
    return length == 0 ? number : number % length;
  }
  const std::uint64_t* const offsets = pass.offsets + arrays.first;
  const std::uint64_t array =
      find_last(arrays.last - arrays.first + 1, i, [&](std::uint64_t k) { return offsets[k]; });
  return number - static_cast<std::uint32_t>(offsets[array]);
}

template <class Key, class Value>
__global__ void __launch_bounds__(kThreads)
    place_pairs_kernel(const PairPlacePass<Key, Value> pass) {
  __shared__ BlockArrays arrays;
  grid_begin();
  const bool finds_arrays = pass.values_in == nullptr && pass.offsets != nullptr;
  if (finds_arrays) block_find_arrays(pass, arrays);
  thread_each_pair(pass.count, [&](std::uint64_t i) {
    const std::uint32_t number = pass.numbers[i];
    if (pass.keys_out != nullptr) pass.keys_out[i] = pass.keys_in[number];
    pass.values_out[i] = pass.values_in != nullptr
                             ? pass.values_in[number]
                             : thread_number_in_array(pass, arrays, i, number);
  });
}

}  // namespace

template <class Key>
void launch_write_digits(const KeyDigitPass<Key>& pass, cudaStream_t stream) {
  launch_kernel(write_digits_kernel<Key>, shape_for(pass.count, stream),
                "launching write_digits_kernel", pass);
}

template <class Key, class Value>
void launch_place_pairs(const PairPlacePass<Key, Value>& pass, cudaStream_t stream) {
  launch_kernel(place_pairs_kernel<Key, Value>, shape_for(pass.count, stream),
                "launching place_pairs_kernel", pass);
}

#define GSORT_PAIRS_BY_DIGITS(Key)                                                          \
  template void launch_write_digits(const KeyDigitPass<Key>&, cudaStream_t);                \
  template void launch_place_pairs(const PairPlacePass<Key, std::uint32_t>&, cudaStream_t); \
  template void launch_place_pairs(const PairPlacePass<Key, std::uint64_t>&, cudaStream_t)
GSORT_PAIRS_BY_DIGITS(std::uint8_t);
GSORT_PAIRS_BY_DIGITS(std::uint16_t);
GSORT_PAIRS_BY_DIGITS(std::uint64_t);
GSORT_PAIRS_BY_DIGITS(UInt128);
#undef GSORT_PAIRS_BY_DIGITS

}  // namespace gsort::gpu
