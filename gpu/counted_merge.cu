// See counted_merge.hpp.
//
// zero_starts_kernel, count_keys_kernel: thread v of slice s finds how many keys of the slice are
// less than v, and adds that to starts[v]; so starts[v] becomes the number of such keys of all
// slices. Of the searches' reads only the last few are not shared by neighbours.
//
// fill_values_kernel: a block writes a tile of the output in vectors of 16 bytes, each thread those
// t, t + kFillThreads ...; the values at the tile's ends bound the search for those between. Tiles
// and vectors are counted from the last multiple of 16 bytes before the output.
#include <algorithm>

#include "base/units.hpp"
#include "gpu/counted_merge.hpp"
#include "gpu/programmatic_launch.cuh"

namespace gsort::gpu {
namespace {

constexpr unsigned kCountThreads = 256;
constexpr unsigned kFillThreads = 256;
constexpr unsigned kVectorsAThread = 4;

template <class Key>
struct alignas(16) Vector {
  static constexpr unsigned kKeys = 16 / sizeof(Key);
  Key keys[kKeys];
};

template <class Key>
inline constexpr unsigned kTileKeys = kFillThreads* kVectorsAThread* Vector<Key>::kKeys;

template <class Key>
__global__ void __launch_bounds__(kCountThreads) zero_starts_kernel(const CountedMerge<Key> merge) {
  grid_begin();
  const unsigned value = blockIdx.x * kCountThreads + threadIdx.x;
  if (value <= kKeyValues<Key>) merge.starts[value] = value < kKeyValues<Key> ? 0 : merge.total;
}

// How many of the keys are less than `value`.
template <class Key>
__device__ std::uint64_t thread_count_less(const Key* keys, std::uint64_t count, unsigned value) {
  std::uint64_t begin = 0;
  while (count > 0) {
    const std::uint64_t half = count / 2;
    if (keys[begin + half] < value) {
      begin += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return begin;
}

template <class Key>
__global__ void __launch_bounds__(kCountThreads) count_keys_kernel(const CountedMerge<Key> merge) {
  grid_begin();
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * kCountThreads + threadIdx.x;
  const std::uint64_t slice = thread / kKeyValues<Key>;
  const auto value = static_cast<unsigned>(thread % kKeyValues<Key>);
  const std::uint64_t less = thread_count_less(merge.input + merge.slices[slice],
                                               merge.slices[merge.slice_count + slice], value);
  if (less > 0) atomicAdd(reinterpret_cast<unsigned long long*>(merge.starts + value), less);
}

// The value at `position` of the output, which is in [least, most].
template <class Key>
__device__ unsigned thread_value_at(const CountedMerge<Key>& merge, std::uint64_t position,
                                    unsigned least, unsigned most) {
  while (least < most) {
    const unsigned middle = least + (most - least + 1) / 2;
    if (merge.starts[middle] <= position) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  return least;
}

template <class Key>
__global__ void __launch_bounds__(kFillThreads)
    fill_values_kernel(const CountedMerge<Key> merge, unsigned misaligned) {
  __shared__ unsigned ends[2];
  grid_begin();
  // Counted from the multiple of 16 bytes: `misaligned` keys before the output.
  const std::uint64_t tile = std::uint64_t{blockIdx.x} * kTileKeys<Key>;
  const std::uint64_t all = merge.total + misaligned;
  if (threadIdx.x < 2) {
    const std::uint64_t begin = tile < misaligned ? misaligned : tile;
    const std::uint64_t end = tile + kTileKeys<Key> < all ? tile + kTileKeys<Key> : all;
    ends[threadIdx.x] = thread_value_at(merge, (threadIdx.x == 0 ? begin : end - 1) - misaligned, 0,
                                        kKeyValues<Key> - 1);
  }
  __syncthreads();  // the values at the tile's ends are known
  const unsigned least = ends[0];
  const unsigned most = ends[1];
  Key* const output = merge.output - misaligned;
#pragma unroll 1
  for (unsigned i = 0; i < kVectorsAThread; ++i) {
    const std::uint64_t begin = tile + (i * kFillThreads + threadIdx.x) * Vector<Key>::kKeys;
    if (begin >= all) return;
    // Of the first vector some keys may lie before the output.
    const unsigned before = begin < misaligned ? misaligned : 0;
    const auto count =
        static_cast<unsigned>(all - begin < Vector<Key>::kKeys ? all - begin : Vector<Key>::kKeys);
    const std::uint64_t position = begin + before - misaligned;
    unsigned value = thread_value_at(merge, position, least, most);
    std::uint64_t left = merge.starts[value + 1] - position;  // keys of this value
    Vector<Key> vector;
#pragma unroll
    for (unsigned j = 0; j < Vector<Key>::kKeys; ++j) {
      if (j < before || j >= count) continue;
      while (left == 0) {
        left = merge.starts[value + 2] - merge.starts[value + 1];
        ++value;
      }
      --left;
      vector.keys[j] = merge.store_map.to_raw(static_cast<Key>(value));
    }
    if (before == 0 && count == Vector<Key>::kKeys) {
      *reinterpret_cast<Vector<Key>*>(output + begin) = vector;
    } else {
#pragma unroll
      for (unsigned j = 0; j < Vector<Key>::kKeys; ++j) {
        if (j >= before && j < count) output[begin + j] = vector.keys[j];
      }
    }
  }
}

}  // namespace

template <class Key>
void launch_counted_merge(const CountedMerge<Key>& merge, unsigned architecture,
                          cudaStream_t stream) {
  const auto blocks = [](std::uint64_t all, unsigned a_block) {
    return static_cast<unsigned>(div_up(all, a_block));
  };
  launch_kernel(
      zero_starts_kernel<Key>,
      {blocks(kKeyValues<Key> + 1, kCountThreads), kCountThreads, 0, architecture, stream},
      "launching zero_starts_kernel", merge);
  launch_kernel(count_keys_kernel<Key>,
                {blocks(std::uint64_t{merge.slice_count} * kKeyValues<Key>, kCountThreads),
                 kCountThreads, 0, architecture, stream},
                "launching count_keys_kernel", merge);
  const auto misaligned = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(merge.output) %
                                                sizeof(Vector<Key>) / sizeof(Key));
  launch_kernel(
      fill_values_kernel<Key>,
      {blocks(merge.total + misaligned, kTileKeys<Key>), kFillThreads, 0, architecture, stream},
      "launching fill_values_kernel", merge, misaligned);
}

template void launch_counted_merge(const CountedMerge<std::uint8_t>&, unsigned, cudaStream_t);
template void launch_counted_merge(const CountedMerge<std::uint16_t>&, unsigned, cudaStream_t);

}  // namespace gsort::gpu
