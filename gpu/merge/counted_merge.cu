// See counted_merge.hpp.
//
// zero_starts_kernel, count_keys_kernel: thread v of slice s finds how many keys of the slice are
// less than v, and adds that to starts[v]; so starts[v] becomes the number of such keys of all
// slices, and first_starts[v] that of the first. Of the searches' reads only the last few are not
// shared by neighbours.
//
// fill_keys_kernel: a block writes a tile of the output in vectors of 16 bytes, each thread those
// t, t + kFillThreads ...; the values at the tile's ends bound the search for those between. Most
// vectors of a large output are one value, 16 or 8 times. Tiles and vectors are counted from the
// last multiple of 16 bytes before the output.
#include <algorithm>

#include "base/units.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/merge/counted_merge.hpp"
#include "gpu/merge/key_starts.cuh"

namespace gsort::gpu {
namespace {

constexpr unsigned kCountThreads = 256;
constexpr unsigned kFillThreads = kSearchThreads;
constexpr unsigned kVectorsAThread = 8;          // of outputs that fill the card
constexpr std::uint64_t kLargeOutput = 8 << 20;  // bytes

// 16 bytes of keys, in words, and stored by an intrinsic: the compiler would store them one by one.
template <class Key>
struct Vector {
  static constexpr unsigned kKeys = 16 / sizeof(Key);
  static constexpr unsigned kKeysAWord = 4 / sizeof(Key);
  static constexpr unsigned kKeyBits = 8 * sizeof(Key);

  std::uint32_t words[4] = {};

  // Requires: the place is 0 so far.
  __device__ void put(unsigned place, Key key) {
    words[place / kKeysAWord] |= std::uint32_t{key} << place % kKeysAWord * kKeyBits;
  }
  [[nodiscard]] __device__ Key get(unsigned place) const {
    return static_cast<Key>(words[place / kKeysAWord] >> place % kKeysAWord * kKeyBits);
  }
  // One key in all places.
  [[nodiscard]] static __device__ Vector of(Key key) {
    constexpr std::uint32_t kOnes = ~std::uint32_t{0} / ((1U << kKeyBits) - 1);
    const std::uint32_t word = key * kOnes;
    return {{word, word, word, word}};
  }
  __device__ void store(Key* to) const {
    __stcg(reinterpret_cast<uint4*>(to), make_uint4(words[0], words[1], words[2], words[3]));
  }
};

template <class Key>
__global__ void __launch_bounds__(kCountThreads) zero_starts_kernel(const CountedMerge<Key> merge) {
  grid_begin();
  const unsigned value = blockIdx.x * kCountThreads + threadIdx.x;
  if (value < kKeyValues<Key>) {
    merge.starts[value] = 0;
  } else if (value == kKeyValues<Key>) {
    merge.starts[value] = merge.total;
    if (merge.first_starts != nullptr) merge.first_starts[value] = merge.slices[merge.slice_count];
  }
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
  if (slice == 0 && merge.first_starts != nullptr) merge.first_starts[value] = less;
  if (less > 0) atomicAdd(reinterpret_cast<unsigned long long*>(merge.starts + value), less);
}

// The keys [from, to) of a vector, the first of which stands at `position` of the output and has
// `value`; none is greater than `most`.
template <class Key>
__device__ Vector<Key> thread_make_vector(const CountedMerge<Key>& merge, std::uint64_t position,
                                          unsigned from, unsigned to, unsigned value,
                                          unsigned most) {
  std::uint64_t end = merge.starts[value + 1];
  Key key = merge.store_map.to_raw(static_cast<Key>(value));
  if (end - position >= Vector<Key>::kKeys) return Vector<Key>::of(key);
  Vector<Key> vector;
#pragma unroll
  for (unsigned j = 0; j < Vector<Key>::kKeys; ++j) {
    if (j < from || j >= to) continue;
    if (position == end) {
      ++value;
      end = merge.starts[value + 1];
      if (position >= end) {  // the next value has no keys
        value = thread_key_at(merge.starts, position, value, most);
        end = merge.starts[value + 1];
      }
      key = merge.store_map.to_raw(static_cast<Key>(value));
    }
    vector.put(j, key);
    ++position;
  }
  return vector;
}

template <class Key>
__global__ void __launch_bounds__(kFillThreads)
    fill_keys_kernel(const CountedMerge<Key> merge, unsigned misaligned,
                     unsigned vectors_a_thread) {
  grid_begin();
  // Counted from the multiple of 16 bytes: `misaligned` keys before the output.
  const unsigned tile_keys = kFillThreads * vectors_a_thread * Vector<Key>::kKeys;
  const std::uint64_t tile = std::uint64_t{blockIdx.x} * tile_keys;
  const std::uint64_t all = merge.total + misaligned;
  const std::uint64_t tile_begin = tile < misaligned ? misaligned : tile;
  const std::uint64_t tile_end = tile + tile_keys < all ? tile + tile_keys : all;
  const unsigned least = block_key_at<Key>(merge.starts, tile_begin - misaligned);
  const unsigned most = block_key_at<Key>(merge.starts, tile_end - 1 - misaligned);
  Key* const output = merge.output - misaligned;
#pragma unroll 1
  for (unsigned i = 0; i < vectors_a_thread; ++i) {
    const std::uint64_t begin = tile + (i * kFillThreads + threadIdx.x) * Vector<Key>::kKeys;
    if (begin >= all) return;
    // Of the first vector some keys may lie before the output, of the last some behind it.
    const unsigned from = begin < misaligned ? misaligned : 0;
    const auto to =
        static_cast<unsigned>(all - begin < Vector<Key>::kKeys ? all - begin : Vector<Key>::kKeys);
    const std::uint64_t position = begin + from - misaligned;
    const unsigned value = thread_key_at(merge.starts, position, least, most);
    const Vector<Key> vector = thread_make_vector(merge, position, from, to, value, most);
    if (from == 0 && to == Vector<Key>::kKeys) {
      vector.store(output + begin);
    } else {
#pragma unroll
      for (unsigned j = 0; j < Vector<Key>::kKeys; ++j) {
        if (j >= from && j < to) output[begin + j] = vector.get(j);
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
  const auto misaligned =
      static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(merge.output) % 16 / sizeof(Key));
  const unsigned vectors_a_thread = merge.total * sizeof(Key) < kLargeOutput ? 1 : kVectorsAThread;
  const unsigned tile_keys = kFillThreads * vectors_a_thread * Vector<Key>::kKeys;
  launch_kernel(
      fill_keys_kernel<Key>,
      {blocks(merge.total + misaligned, tile_keys), kFillThreads, 0, architecture, stream},
      "launching fill_keys_kernel", merge, misaligned, vectors_a_thread);
}

template void launch_counted_merge(const CountedMerge<std::uint8_t>&, unsigned, cudaStream_t);
template void launch_counted_merge(const CountedMerge<std::uint16_t>&, unsigned, cudaStream_t);

}  // namespace gsort::gpu
