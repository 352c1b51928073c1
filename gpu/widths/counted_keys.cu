// Sorting keys of 8 and 16 bits by counting them: how often each number occurs, where each begins
// in the sorted array, then the array.
//
// Threads: a block of count_numbers_kernel has a counter of every number in shared memory, which it
// adds to those in device memory. Each thread reads vectors of 16 bytes, and adds up equal
// neighbours first. A block of write_numbers_kernel writes kTileBytes; it finds which numbers they
// are, and each thread which of these its vectors are.
// Shared memory: 8 bits: 16 sets of counters of 32 bits. 16 bits: counters of 16 bits, two in a
// word. A counter that wraps around upwards adds 2^16 in device memory, one that wraps around
// downwards subtracts them. The lower counter of a word carries into the upper one, which is taken
// back; until then, the upper one may wrap around, upwards and downwards. Device memory: each key
// is read once and written once; 16 bytes a number and block.
#include "base/units.hpp"
#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/taking_blocks.hpp"
#include "gpu/merge/block_store.cuh"
#include "gpu/merge/block_sum.cuh"
#include "gpu/merge/find_last.hpp"
#include "gpu/widths/launch.hpp"

namespace gsort::gpu {
namespace {

constexpr unsigned kCountThreads = 1024;
constexpr unsigned kWriteThreads = 256;
constexpr unsigned kVectorBytes = 16;
constexpr unsigned kTileBytes = 4 * kVectorBytes * kWriteThreads;
constexpr unsigned kBlockKeys = 1U << 16;  // a block counts more, or it is not worth its counters

template <class Key>
constexpr unsigned kVectorKeys = kVectorBytes / sizeof(Key);
template <class Key>
constexpr unsigned kSets = sizeof(Key) == 1 ? 16 : 1;
template <class Key>
constexpr unsigned kCounterWords = sizeof(Key) == 1 ? kSets<Key> * 256 : 1U << 15;

template <class Key>
struct alignas(kVectorBytes) NarrowVector {
  Key keys[kVectorKeys<Key>];
};

// Elements between the last multiple of 16 bytes and the array.
template <class Key>
__device__ unsigned skipped_before(const Key* array) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(array) % kVectorBytes /
                               sizeof(Key));
}

__device__ void thread_add_to(std::uint64_t* number, std::uint64_t addend) {
  atomicAdd(reinterpret_cast<unsigned long long*>(number), static_cast<unsigned long long>(addend));
}

template <class Key>
struct NumberCounters {
  unsigned* words;        // shared memory
  std::uint64_t* counts;  // device memory, of raw numbers

  __device__ void add(unsigned number, unsigned n) const {
    if constexpr (sizeof(Key) == 1) {
      atomicAdd(&words[threadIdx.x / 32 % kSets<Key> * 256 + number], n);
    } else {
      const unsigned shift = number % 2 * 16;
      const unsigned old = atomicAdd(&words[number / 2], n << shift);
      if ((old >> shift & 0xffffU) + n <= 0xffffU) return;
      constexpr std::uint64_t kWrap = 1U << 16;
      thread_add_to(&counts[number], kWrap);
      if (shift != 0) return;
      if (old >> 16 == 0xffffU) thread_add_to(&counts[number + 1], kWrap);
      const unsigned carried = atomicAdd(&words[number / 2], ~0U << 16);
      if (carried >> 16 == 0) thread_add_to(&counts[number + 1], 0 - kWrap);
    }
  }
  // Adds up all sets. Requires: the block has counted.
  [[nodiscard]] __device__ unsigned count_of(unsigned number) const {
    if constexpr (sizeof(Key) != 1) return words[number / 2] >> number % 2 * 16 & 0xffffU;
    unsigned sum = 0;
    for (unsigned set = 0; set < kSets<Key>; ++set) sum += words[set * 256 + number];
    return sum;
  }
};

}  // namespace

// Outside of the unnamed namespace, in which an extern variable could not be defined elsewhere.
template <class Key>
__global__ void __launch_bounds__(kCountThreads)
    count_numbers_kernel(const Key* keys, std::uint64_t count, std::uint64_t* counts) {
  using Vector = NarrowVector<Key>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const NumberCounters<Key> counters{reinterpret_cast<unsigned*>(shared_bytes), counts};
  grid_begin();
  for (unsigned i = threadIdx.x; i < kCounterWords<Key>; i += kCountThreads) counters.words[i] = 0;
  __syncthreads();  // the counters are clear
  const std::uint64_t before =
      min(count, std::uint64_t{(kVectorKeys<Key> - skipped_before(keys)) % kVectorKeys<Key>});
  const std::uint64_t vectors = (count - before) / kVectorKeys<Key>;
  const auto* const from = reinterpret_cast<const Vector*>(keys + before);
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kCountThreads + threadIdx.x; i < vectors;
       i += std::uint64_t{gridDim.x} * kCountThreads) {
    const Vector vector = from[i];
    unsigned n = 1;
#pragma unroll
    for (unsigned j = 0; j < kVectorKeys<Key>; ++j) {
      const bool is_last =
          j + 1 == kVectorKeys<Key> || vector.keys[(j + 1) % kVectorKeys<Key>] != vector.keys[j];
      if (is_last) counters.add(vector.keys[j], n);
      n = is_last ? 1 : n + 1;
    }
  }
  const std::uint64_t singles = count - vectors * kVectorKeys<Key>;
  if (blockIdx.x == 0 && threadIdx.x < singles) {
    const std::uint64_t behind = threadIdx.x < before ? 0 : vectors * kVectorKeys<Key>;
    counters.add(keys[threadIdx.x + behind], 1);
  }
  __syncthreads();  // all keys are counted
  for (unsigned number = threadIdx.x; number < kNumbers<Key>; number += kCountThreads) {
    const unsigned n = counters.count_of(number);
    if (n != 0) thread_add_to(&counts[number], n);
  }
}

namespace {

// begins[i] becomes the number of keys whose ordered numbers are less than i.
template <class Key>
__global__ void __launch_bounds__(kCountThreads)
    number_begins_kernel(const std::uint64_t* counts, const KeyMap<Key> map,
                         std::uint64_t* begins) {
  __shared__ std::uint64_t warp_sums[kCountThreads / 32];
  grid_begin();
  std::uint64_t before = 0;
#pragma unroll 1
  for (unsigned first = 0; first < kNumbers<Key>; first += kCountThreads) {
    const unsigned number = first + threadIdx.x;
    const bool exists = number < kNumbers<Key>;
    const std::uint64_t count = exists ? counts[map.to_raw(static_cast<Key>(number))] : 0;
    std::uint64_t total = 0;
    const std::uint64_t sum = block_exclusive_sum<kCountThreads>(count, warp_sums, total);
    if (exists) begins[number] = before + sum;
    before += total;
    __syncthreads();  // the sums are read
  }
  if (threadIdx.x == 0) begins[kNumbers<Key>] = before;
}

template <class Key>
__global__ void __launch_bounds__(kWriteThreads)
    write_numbers_kernel(const std::uint64_t* begins, std::uint64_t count, const KeyMap<Key> map,
                         Key* keys) {
  using Vector = NarrowVector<Key>;
  constexpr unsigned kTileKeys = kTileBytes / sizeof(Key);
  __shared__ unsigned ends[2];  // the tile's first and last number
  grid_begin();
  // Places count from a multiple of 16 bytes, `skipped` keys before the array.
  const unsigned skipped = skipped_before(keys);
  Key* const aligned = keys - skipped;
  const std::uint64_t end = skipped + count;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kTileKeys;
  const auto number_at = [&](std::uint64_t position, unsigned low, unsigned high) {
    const auto begin_of = [&](std::uint64_t i) { return begins[low + i]; };
    return low + static_cast<unsigned>(find_last(high - low + 1, position, begin_of));
  };
  if (threadIdx.x < 2) {
    const std::uint64_t place =
        threadIdx.x == 0 ? max(first, std::uint64_t{skipped}) : min(first + kTileKeys, end) - 1;
    ends[threadIdx.x] = number_at(place - skipped, 0, kNumbers<Key> - 1);
  }
  __syncthreads();  // the numbers are known
  const unsigned low = ends[0];
  const unsigned high = ends[1];
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < kTileBytes / kVectorBytes; i += kWriteThreads) {
    const std::uint64_t place = first + std::uint64_t{i} * kVectorKeys<Key>;
    const std::uint64_t from = max(place, std::uint64_t{skipped});
    const std::uint64_t to = min(place + kVectorKeys<Key>, end);
    if (from >= to) continue;
    unsigned number = number_at(from - skipped, low, high);
    Key key = map.to_raw(static_cast<Key>(number));
    const bool is_whole = to - from == kVectorKeys<Key>;
    Vector vector;
#pragma unroll
    for (unsigned j = 0; j < kVectorKeys<Key>; ++j) {
      const std::uint64_t position = place + j;
      if (position >= from && position < to && position - skipped >= begins[number + 1]) {
        number = number_at(position - skipped, number + 1, high);
        key = map.to_raw(static_cast<Key>(number));
      }
      vector.keys[j] = key;
      if (!is_whole && position >= from && position < to) aligned[position] = key;
    }
    if (is_whole) *reinterpret_cast<Vector*>(aligned + place) = vector;
  }
}

}  // namespace

template <class Key>
void launch_counted_sort(const KeySort<Key>& sort, const NumberCounts& places) {
  const unsigned architecture = current_architecture();
  const cudaStream_t stream = sort.stream;
  check_cuda(cudaMemsetAsync(places.counts, 0, kNumbers<Key> * sizeof(std::uint64_t), stream),
             CudaCall::kMemory, "clearing the counts of keys");
  const unsigned blocks = taking_blocks(div_up(sort.count, kBlockKeys), kCountThreads);
  launch_kernel(count_numbers_kernel<Key>,
                {blocks, kCountThreads, kCounterWords<Key> * 4, architecture, stream},
                "launching count_numbers_kernel", sort.input.keys, sort.count, places.counts);
  launch_kernel(number_begins_kernel<Key>, {1, kCountThreads, 0, architecture, stream},
                "launching number_begins_kernel", places.counts, sort.load_map, places.begins);
  constexpr unsigned kTileKeys = kTileBytes / sizeof(Key);
  const std::uint64_t tiles = div_up(sort.count + kVectorKeys<Key>, kTileKeys);
  launch_kernel(write_numbers_kernel<Key>,
                {static_cast<unsigned>(tiles), kWriteThreads, 0, architecture, stream},
                "launching write_numbers_kernel", places.begins, sort.count, sort.store_map,
                sort.output.keys);
}

template void launch_counted_sort(const KeySort<std::uint8_t>&, const NumberCounts&);
template void launch_counted_sort(const KeySort<std::uint16_t>&, const NumberCounts&);

}  // namespace gsort::gpu
