// See float_classes.hpp. count_classes_kernel counts, place_classes_kernel copies the keys of the
// classes in the order of the input; it adds up the counts of all blocks, and of those before.
//
// Threads: a block has a stretch of the keys, of which it takes kStepKeys at once.
// Device memory: each kernel reads keys once, and writes a key of the classes once.
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/merge/block_sum.cuh"
#include "gpu/merge/find_last.hpp"
#include "gpu/records/float_classes.hpp"

namespace gsort::gpu {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kWarps = kThreads / 32;

// Tells the class of a key by its bits, which have the byte order of the machine.
template <class Key>
struct FloatBits {
  Key bits;
  Key infinity;
  Key quiet_nan;

  static __device__ FloatBits of(Key raw, const KeyMap<Key>& map) {
    const auto infinity = static_cast<Key>(map.kSignBit - 1 - map.nans);
    return {map.swaps_bytes ? swap_bytes(raw) : raw, infinity,
            static_cast<Key>(infinity + map.nans / 2 + 1)};
  }
  [[nodiscard]] __device__ bool is_zero() const { return static_cast<Key>(bits << 1) == 0; }
  [[nodiscard]] __device__ bool is_nan() const {
    return static_cast<Key>(bits & ~KeyMap<Key>::kSignBit) > infinity;
  }
  [[nodiscard]] __device__ bool is_other() const {
    return is_zero() ? bits != 0 : is_nan() && bits != quiet_nan;
  }
};

// In the sorted keys [low, high), the first whose number is not less than `number`; `high` if there
// is none. All lanes of a warp call this; they try 32 keys at once.
template <class Key, class Keys>
__device__ std::uint64_t warp_lower_bound(const Keys& keys, const KeyMap<Key>& map,
                                          std::uint64_t low, std::uint64_t high, Key number) {
  while (low < high) {
    const std::uint64_t step = (high - low + 31) / 32;
    const std::uint64_t i = low + (threadIdx.x % 32 + 1) * step - 1;
    const bool is_less = i < high && map.to_ordered(keys[i]) < number;
    low += step * static_cast<unsigned>(
                      __popc(static_cast<int>(__ballot_sync(kWholeWarp, is_less ? 1 : 0))));
    high = min(high, low + step - 1);
  }
  return low;
}

// Calls f(begin, end) for the keys of a class among the sorted keys [low, high), if there are any.
template <class Key, class Keys, class F>
__device__ void warp_find_class(const Keys& keys, const KeyMap<Key>& map, std::uint64_t low,
                                std::uint64_t high, Key number, const F& f) {
  const std::uint64_t begin = warp_lower_bound(keys, map, low, high, number);
  if (begin == high || map.to_ordered(keys[begin]) != number) return;
  f(begin, warp_lower_bound(keys, map, begin, high, static_cast<Key>(number + 1)));
}

// Calls f(begin, end) for parts of the block's stretch that have all its zeros and NaN.
template <class Key, class F>
__device__ void block_each_part(const FloatKeys<Key>& keys, const F& f) {
  using Floats = FloatKeys<Key>;
  const std::uint64_t steps = (keys.count + Floats::kStepKeys - 1) / Floats::kStepKeys;
  const std::uint64_t stretch = (steps + gridDim.x - 1) / gridDim.x * Floats::kStepKeys;
  std::uint64_t begin = min(blockIdx.x * stretch, keys.count);
  const std::uint64_t end = min(begin + stretch, keys.count);
  if (begin == end) return;
  const auto begin_of = [&](std::uint64_t i) { return keys.begin_of(i); };
  for (std::uint64_t slice = find_last(keys.slices, begin, begin_of); begin < end; ++slice) {
    const std::uint64_t part_end = min(begin_of(slice + 1), end);
    if (part_end == begin) continue;
    if (keys.slices == 1) return f(begin, part_end);
    const Key least = keys.map.to_ordered(keys[begin]);
    const Key greatest = keys.map.to_ordered(keys[part_end - 1]);
    for (const Key number : {keys.zero(), keys.nan()}) {
      if (number < least || greatest < number) continue;
      warp_find_class(keys, keys.map, begin, part_end, number, f);
    }
    begin = part_end;
  }
}

// `sorted` is null if the keys are not sorted yet.
template <class Key>
__global__ void __launch_bounds__(kThreads)
    count_classes_kernel(const FloatKeys<Key> keys, const Key* sorted) {
  constexpr unsigned kAtOnce = FloatKeys<Key>::kStepKeys / kThreads;
  __shared__ std::uint64_t sums[3][kWarps];
  grid_begin();
  ClassCounts own;
  bool are_read = sorted == nullptr || keys.slices > 1;
  if (!are_read) {  // they may be sorted without zeros and NaN
    const auto found = [&](std::uint64_t, std::uint64_t) { are_read = true; };
    warp_find_class(sorted, keys.map, 0, keys.count, keys.zero(), found);
    warp_find_class(sorted, keys.map, 0, keys.count, keys.nan(), found);
  }
  if (are_read) {
    block_each_part(keys, [&](std::uint64_t begin, std::uint64_t end) {
      std::uint32_t zeros = 0;
      std::uint32_t nans = 0;
      std::uint32_t others = 0;
      for (std::uint64_t i = begin + threadIdx.x; i < end; i += FloatKeys<Key>::kStepKeys) {
        Key raw[kAtOnce];
#pragma unroll
        for (unsigned k = 0; k < kAtOnce; ++k) {
          raw[k] = i + k * kThreads < end ? keys[i + k * kThreads] : Key{1};  // no zero, no NaN
        }
#pragma unroll
        for (const Key key : raw) {
          const auto bits = FloatBits<Key>::of(key, keys.map);
          zeros += bits.is_zero();
          nans += bits.is_nan();
          others += bits.is_other();
        }
      }
      own.zeros += zeros;
      own.nans += nans;
      own.others += others;
    });
  }
  ClassCounts all;
  block_exclusive_sum<kThreads>(own.zeros, sums[0], all.zeros);
  block_exclusive_sum<kThreads>(own.nans, sums[1], all.nans);
  block_exclusive_sum<kThreads>(own.others, sums[2], all.others);
  if (threadIdx.x == 0) keys.counts[blockIdx.x] = all;
}

// The sum of a member over the first `blocks` of the counts.
__device__ std::uint64_t block_sum_counts(const ClassCounts* counts, unsigned blocks,
                                          std::uint64_t ClassCounts::*member) {
  __shared__ std::uint64_t sums[kWarps];
  std::uint64_t own = 0;
  for (unsigned i = threadIdx.x; i < blocks; i += kThreads) own += counts[i].*member;
  __syncthreads();  // earlier sums have been read
  std::uint64_t all = 0;
  block_exclusive_sum<kThreads>(own, sums, all);
  return all;
}

// Where the classes begin in sorted keys.
struct ClassBegins {
  std::uint64_t zeros;
  std::uint64_t nans;
};

template <class Key>
__device__ ClassBegins class_begins(const FloatKeys<Key>& keys, const Key* sorted,
                                    std::uint64_t nans) {
  const bool nans_are_first = keys.nan() < keys.zero();
  return {warp_lower_bound(sorted, keys.map, 0, keys.count, keys.zero()),
          nans_are_first ? 0 : keys.count - nans};
}

// Copies to `kept`, or, if it is null, to the sorted keys.
template <class Key>
__global__ void __launch_bounds__(kThreads)
    place_classes_kernel(const FloatKeys<Key> keys, Key* kept, Key* sorted) {
  constexpr unsigned kAtOnce = FloatKeys<Key>::kStepKeys / kThreads;
  constexpr unsigned kNanShift = 32;
  __shared__ std::uint64_t sums[kWarps];
  grid_begin();
  if (block_sum_counts(keys.counts, gridDim.x, &ClassCounts::others) == 0) return;
  const std::uint64_t nans = block_sum_counts(keys.counts, gridDim.x, &ClassCounts::nans);
  ClassBegins begins{0, block_sum_counts(keys.counts, gridDim.x, &ClassCounts::zeros)};
  if (kept == nullptr) begins = class_begins(keys, sorted, nans);
  Key* const to = kept == nullptr ? sorted : kept;
  Key* zeros_to =
      to + begins.zeros + block_sum_counts(keys.counts, blockIdx.x, &ClassCounts::zeros);
  Key* nans_to = to + begins.nans + block_sum_counts(keys.counts, blockIdx.x, &ClassCounts::nans);
  block_each_part(keys, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t from = begin; from < end; from += FloatKeys<Key>::kStepKeys) {
      const std::uint64_t own = from + threadIdx.x * std::uint64_t{kAtOnce};
      const auto each = [&](const auto& f) {
        for (std::uint64_t i = own; i < min(own + kAtOnce, end); ++i) {
          const Key raw = keys[i];
          const auto bits = FloatBits<Key>::of(raw, keys.map);
          if (bits.is_zero()) f(raw, 0U);
          if (bits.is_nan()) f(raw, kNanShift);
        }
      };
      std::uint64_t found = 0;  // zeros, and above them NaN
      each([&](Key, unsigned shift) { found += std::uint64_t{1} << shift; });
      std::uint64_t total = 0;
      const std::uint64_t before = block_exclusive_sum<kThreads>(found, sums, total);
      Key* zero_to = zeros_to + static_cast<std::uint32_t>(before);
      Key* nan_to = nans_to + (before >> kNanShift);
      each([&](Key raw, unsigned shift) { *(shift == 0 ? zero_to++ : nan_to++) = raw; });
      zeros_to += static_cast<std::uint32_t>(total);
      nans_to += total >> kNanShift;
      __syncthreads();  // the sums have been read
    }
  });
}

template <class Key>
__global__ void __launch_bounds__(kThreads)
    restore_classes_kernel(const FloatKeys<Key> keys, const Key* kept, Key* sorted) {
  grid_begin();
  if (block_sum_counts(keys.counts, gridDim.x, &ClassCounts::others) == 0) return;
  const std::uint64_t zeros = block_sum_counts(keys.counts, gridDim.x, &ClassCounts::zeros);
  const std::uint64_t nans = block_sum_counts(keys.counts, gridDim.x, &ClassCounts::nans);
  const ClassBegins begins = class_begins(keys, sorted, nans);
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < zeros + nans;
       i += step) {
    sorted[i < zeros ? begins.zeros + i : begins.nans + (i - zeros)] = kept[i];
  }
}

template <class Key>
LaunchShape shape_of(const FloatKeys<Key>& keys, cudaStream_t stream) {
  return {static_cast<unsigned>(keys.blocks_of(keys.count)), kThreads, 0, current_architecture(),
          stream};
}

template <class Key>
void launch_places(const FloatKeys<Key>& keys, Key* kept, Key* sorted, cudaStream_t stream) {
  const LaunchShape shape = shape_of(keys, stream);
  launch_kernel(count_classes_kernel<Key>, shape, "launching count_classes_kernel", keys, sorted);
  launch_kernel(place_classes_kernel<Key>, shape, "launching place_classes_kernel", keys, kept,
                sorted);
}

}  // namespace

template <class Key>
void launch_copy_classes(const FloatKeys<Key>& keys, Key* sorted, cudaStream_t stream) {
  launch_places<Key>(keys, nullptr, sorted, stream);
}

template <class Key>
void launch_keep_classes(const FloatKeys<Key>& keys, Key* kept, cudaStream_t stream) {
  launch_places<Key>(keys, kept, nullptr, stream);
}

template <class Key>
void launch_restore_classes(const FloatKeys<Key>& keys, const Key* kept, Key* sorted,
                            cudaStream_t stream) {
  launch_kernel(restore_classes_kernel<Key>, shape_of(keys, stream),
                "launching restore_classes_kernel", keys, kept, sorted);
}

#define GSORT_CLASSES(Key)                                                      \
  template void launch_copy_classes(const FloatKeys<Key>&, Key*, cudaStream_t); \
  template void launch_keep_classes(const FloatKeys<Key>&, Key*, cudaStream_t); \
  template void launch_restore_classes(const FloatKeys<Key>&, const Key*, Key*, cudaStream_t);
GSORT_CLASSES(std::uint16_t)
GSORT_CLASSES(std::uint32_t)
GSORT_CLASSES(std::uint64_t)
#undef GSORT_CLASSES

}  // namespace gsort::gpu
