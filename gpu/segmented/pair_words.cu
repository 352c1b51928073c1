// Kernels that make words of pairs, and put pairs in the order of their words
// (device_pair_batch.cpp).
//
// Threads: thread t of a block has the block's pairs t, t + kThreads, and so on.
// Bytes a pair: write_pair_words key + 8; write_upper_words 28, and the key that a number leads to;
// place_pairs 8 (12 for keys of more than 32 bits), key + value written, and what its number leads
// to.
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

__device__ std::uint64_t word_of(std::uint32_t key, std::uint64_t number) {
  return std::uint64_t{key} << 32 | number;
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

template <class Key, class Value>
__global__ void __launch_bounds__(kThreads)
    write_pair_words_kernel(const PairWordPass<Key, Value> pass) {
  grid_begin();
  thread_each_pair(pass.count, [&](std::uint64_t i) {
    pass.words[i] = word_of(static_cast<std::uint32_t>(pass.map.to_ordered(pass.keys_in[i])), i);
  });
}

template <class Key, class Value>
__global__ void __launch_bounds__(kThreads)
    write_upper_words_kernel(const PairWordPass<Key, Value> pass, unsigned shift) {
  grid_begin();
  thread_each_pair(pass.count, [&](std::uint64_t i) {
    auto number = static_cast<std::uint32_t>(pass.words[i]);
    if (pass.numbers_before != nullptr) number = pass.numbers_before[number];
    pass.numbers[i] = number;
    pass.words[i] =
        word_of(static_cast<std::uint32_t>(pass.map.to_ordered(pass.keys_in[number]) >> shift), i);
  });
}

// The arrays of a block's first and last pair.
struct BlockArrays {
  std::uint64_t first;
  std::uint64_t last;
};

// Holds a barrier.
template <class Key, class Value>
__device__ void block_find_arrays(const PairWordPass<Key, Value>& pass, BlockArrays& arrays) {
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
__device__ std::uint32_t thread_number_in_array(const PairWordPass<Key, Value>& pass,
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
    place_pairs_kernel(const PairWordPass<Key, Value> pass) {
  __shared__ BlockArrays arrays;
  grid_begin();
  const bool finds_arrays = pass.values_in == nullptr && pass.offsets != nullptr;
  if (finds_arrays) block_find_arrays(pass, arrays);
  thread_each_pair(pass.count, [&](std::uint64_t i) {
    const std::uint64_t word = pass.words[i];
    auto number = static_cast<std::uint32_t>(word);
    if constexpr (sizeof(Key) > 4) number = pass.numbers[number];
    if (pass.keys_out != nullptr) {
      pass.keys_out[i] = sizeof(Key) > 4 || pass.map.folds_classes
                             ? pass.keys_in[number]
                             : pass.map.to_raw(static_cast<Key>(word >> 32));
    }
    pass.values_out[i] = pass.values_in != nullptr
                             ? pass.values_in[number]
                             : thread_number_in_array(pass, arrays, i, number);
  });
}

}  // namespace

template <class Key, class Value>
void launch_write_pair_words(const PairWordPass<Key, Value>& pass, cudaStream_t stream) {
  launch_kernel(write_pair_words_kernel<Key, Value>, shape_for(pass.count, stream),
                "launching write_pair_words_kernel", pass);
}

template <class Key, class Value>
void launch_write_upper_words(const PairWordPass<Key, Value>& pass, unsigned shift,
                              cudaStream_t stream) {
  launch_kernel(write_upper_words_kernel<Key, Value>, shape_for(pass.count, stream),
                "launching write_upper_words_kernel", pass, shift);
}

template <class Key, class Value>
void launch_place_pairs(const PairWordPass<Key, Value>& pass, cudaStream_t stream) {
  launch_kernel(place_pairs_kernel<Key, Value>, shape_for(pass.count, stream),
                "launching place_pairs_kernel", pass);
}

#define GSORT_PAIR_WORDS(Key, Value)                                                    \
  template void launch_write_pair_words(const PairWordPass<Key, Value>&, cudaStream_t); \
  template void launch_place_pairs(const PairWordPass<Key, Value>&, cudaStream_t)
GSORT_PAIR_WORDS(std::uint8_t, std::uint32_t);
GSORT_PAIR_WORDS(std::uint8_t, std::uint64_t);
GSORT_PAIR_WORDS(std::uint16_t, std::uint32_t);
GSORT_PAIR_WORDS(std::uint16_t, std::uint64_t);
GSORT_PAIR_WORDS(std::uint32_t, std::uint32_t);
GSORT_PAIR_WORDS(std::uint32_t, std::uint64_t);
GSORT_PAIR_WORDS(std::uint64_t, std::uint32_t);
GSORT_PAIR_WORDS(std::uint64_t, std::uint64_t);
GSORT_PAIR_WORDS(UInt128, std::uint32_t);
GSORT_PAIR_WORDS(UInt128, std::uint64_t);
#undef GSORT_PAIR_WORDS

#define GSORT_UPPER_WORDS(Key, Value) \
  template void launch_write_upper_words(const PairWordPass<Key, Value>&, unsigned, cudaStream_t)
GSORT_UPPER_WORDS(std::uint64_t, std::uint32_t);
GSORT_UPPER_WORDS(std::uint64_t, std::uint64_t);
GSORT_UPPER_WORDS(UInt128, std::uint32_t);
GSORT_UPPER_WORDS(UInt128, std::uint64_t);
#undef GSORT_UPPER_WORDS

}  // namespace gsort::gpu
