// digit_count_kernel: counts the values of all digits of all keys. digit_pass_kernel: sends each
// pair to its place by one digit, in the order of the input.
//
// Threads: a warp has 32E consecutive pairs of a tile, each of its lanes those 32 apart. Thread t
// has value t of the digit. A block takes one tile after the other; it needs those that were taken
// before, whose blocks run or have ended. Shared memory: the tile's pairs, by digits, and a counter
// for each warp and value. Device memory: a word for each tile and value (PrefixWord).
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/merge/block_sum.cuh"
#include "gpu/records/digit_sort.hpp"

namespace gsort::gpu {

__device__ inline unsigned digit_of(std::uint32_t key, unsigned digit) {
  return key >> kDigitBits * digit & (kDigitValues - 1);
}

// The same by another instruction, so that the compiler computes it again and does not keep it in a
// register.
__device__ inline unsigned byte_of(std::uint32_t key, unsigned digit) {
#ifdef __CUDA_ARCH__
  return __byte_perm(key, 0, 0x4440U + digit);
#else
  return digit_of(key, digit);
#endif
}

inline constexpr unsigned kDigitCountThreads = 512;
inline constexpr unsigned kDigitCountKeys = 8;  // of a thread at once

template <class Value>
__global__ void __launch_bounds__(kDigitCountThreads)
    digit_count_kernel(const __grid_constant__ DigitPass<Value> pass) {
  constexpr unsigned kKeys = kDigitCountThreads * kDigitCountKeys;
  __shared__ unsigned counts[kDigits * kDigitValues];
  const unsigned thread = blockIdx.x * kDigitCountThreads + threadIdx.x;
  for (unsigned i = threadIdx.x; i < kDigits * kDigitValues; i += kDigitCountThreads) counts[i] = 0;
  grid_begin();
  const auto words = static_cast<unsigned>(digit_tiles<Value>(pass.count)) * kDigitValues;
  for (unsigned i = thread; i < words; i += gridDim.x * kDigitCountThreads) {
    pass.prefixes[0][i] = 0;
  }
  __syncthreads();  // the counts are clear
  const auto count_key = [&](std::uint32_t key) {
    if (pass.loads_mapped) key = pass.load_map.to_ordered(key);
#pragma unroll
    for (unsigned digit = 0; digit < kDigits; ++digit) {
      atomicAdd(&counts[digit * kDigitValues + digit_of(key, digit)], 1U);
    }
  };
  const std::uint64_t step = std::uint64_t{gridDim.x} * kKeys;
  for (std::uint64_t begin = std::uint64_t{blockIdx.x} * kKeys; begin < pass.count; begin += step) {
    const std::uint32_t* const from = pass.input.keys + begin + threadIdx.x;
    if (pass.count - begin >= kKeys) {
      std::uint32_t keys[kDigitCountKeys];
#pragma unroll
      for (unsigned i = 0; i < kDigitCountKeys; ++i) keys[i] = from[i * kDigitCountThreads];
#pragma unroll
      for (unsigned i = 0; i < kDigitCountKeys; ++i) count_key(keys[i]);
    } else {
      for (unsigned i = threadIdx.x; i < pass.count - begin; i += kDigitCountThreads) {
        count_key(pass.input.keys[begin + i]);
      }
    }
  }
  __syncthreads();  // all keys are counted
  for (unsigned i = threadIdx.x; i < kDigits * kDigitValues; i += kDigitCountThreads) {
    if (counts[i] != 0)
      atomicAdd(&pass.counts->keys[i / kDigitValues][i % kDigitValues], counts[i]);
  }
  if (thread == 0) {
    const std::uint32_t first = pass.input.keys[0];
    pass.counts->first_key = pass.loads_mapped ? pass.load_map.to_ordered(first) : first;
  }
}

// The passes that do something are rounds.
struct DigitRound {
  unsigned number;
  unsigned rounds;
  bool is_one;  // this pass
};

// A digit that all keys share needs no round. But there is one round at least, and in place the
// number is even, as the first round must not write to the output then.
template <class Value>
__device__ DigitRound thread_find_round(const DigitPass<Value>& pass) {
  const std::uint32_t first = pass.counts->first_key;
  unsigned differ = 0;
#pragma unroll
  for (unsigned digit = 0; digit < kDigits; ++digit) {
    const bool same = pass.counts->keys[digit][digit_of(first, digit)] == pass.count;
    differ |= (same ? 0U : 1U) << digit;
  }
  const auto rounds_of = [](unsigned digits) {
    return static_cast<unsigned>(__popc(static_cast<int>(digits)));
  };
  while (differ == 0 || (pass.in_place && rounds_of(differ) % 2 != 0)) differ |= differ + 1;
  return {rounds_of(differ & ((1U << pass.digit) - 1)), rounds_of(differ),
          (differ >> pass.digit & 1U) != 0};
}

// The lanes of `lanes` whose digits have the same bits `first` and `second` as this lane's. In PTX,
// since the compiler takes more instructions.
__device__ inline unsigned warp_find_same_bits(unsigned lanes, unsigned digit, unsigned first,
                                               unsigned second) {
#ifdef __CUDA_ARCH__
  asm volatile(
      "{\n"
      "  .reg .pred is_set, is_next;\n"
      "  .reg .b32 own, same, next;\n"
      "  and.b32 own, %1, %2;\n"
      "  setp.ne.u32 is_set, own, 0;\n"
      "  vote.sync.ballot.b32 same, is_set, 0xffffffff;\n"
      "  @!is_set not.b32 same, same;\n"
      "  and.b32 own, %1, %3;\n"
      "  setp.ne.u32 is_next, own, 0;\n"
      "  vote.sync.ballot.b32 next, is_next, 0xffffffff;\n"
      "  @!is_next not.b32 next, next;\n"
      "  lop3.b32 %0, %0, same, next, 0x80;\n"
      "}"
      : "+r"(lanes)
      : "r"(digit), "r"(first), "r"(second));
  return lanes;
#else
  for (const unsigned bit : {first, second}) {
    const bool is_set = (digit & bit) != 0;
    lanes &= __ballot_sync(kWholeWarp, is_set ? 1 : 0) ^ (is_set ? 0U : kWholeWarp);
  }
  return lanes;
#endif
}

// Returns the next place of the lane's digit: counters[digit] plus the number of lower lanes with
// the same digit. The counter then is the place behind those of all lanes.
__device__ inline unsigned warp_take_places(unsigned digit, unsigned* counters) {
  unsigned peers = kWholeWarp;
#pragma unroll
  for (unsigned bit = 1; bit < kDigitValues; bit *= 4) {
    peers = warp_find_same_bits(peers, digit, bit, 2 * bit);
  }
  const unsigned lane = threadIdx.x % 32;
  const auto up_to = static_cast<unsigned>(__popc(static_cast<int>(peers & ((2U << lane) - 1))));
  const int last = 31 - __clz(static_cast<int>(peers));
  unsigned begin = 0;
  __syncwarp();  // the counters have the places of the pairs before
  if (lane == static_cast<unsigned>(last)) begin = atomicAdd(&counters[digit], up_to);
  return __shfl_sync(kWholeWarp, begin, last) + up_to - 1;
}

// A tile's word for a digit: 0 until the tile is counted; then its keys with this digit, plus one;
// then those of this tile and all before it, plus kTilePairs + 2.
template <unsigned kTilePairs>
struct PrefixWord {
  static constexpr std::uint32_t kLeastSum = kTilePairs + 2;

  static __device__ std::uint32_t of_tile(unsigned keys) { return keys + 1; }
  static __device__ std::uint32_t of_all(unsigned keys) { return keys + kLeastSum; }
};

// Returns how many keys of the tiles before `tile` have the digit whose words begin at `prefixes`.
template <unsigned kTilePairs>
__device__ unsigned thread_look_back(const volatile std::uint32_t* prefixes, unsigned tile) {
  constexpr std::uint32_t kLeastSum = PrefixWord<kTilePairs>::kLeastSum;
  constexpr unsigned kWindow = 4;  // tiles that are read at once
  unsigned sum = 0;
  while (true) {
    std::uint32_t words[kWindow];
#pragma unroll
    for (unsigned i = 0; i < kWindow; ++i) {
      words[i] = prefixes[std::uint64_t{tile > i ? tile - 1 - i : 0} * kDigitValues];
    }
    const unsigned window_tile = tile;
#pragma unroll
    for (unsigned i = 0; i < kWindow; ++i) {
      if (words[i] == 0 || tile + i != window_tile) continue;  // not known, or one before is not
      if (words[i] >= kLeastSum) return sum + words[i] - kLeastSum;
      sum += words[i] - 1;
      --tile;
    }
  }
}

// A block's pairs and counters, in its dynamic shared memory.
template <class Value, bool kAreMany>
struct DigitStage {
  static constexpr DigitTuning kTuning = kDigitTuning<Value, kAreMany>;
  static constexpr unsigned kTilePairs = kTuning.tile_pairs();
  static constexpr unsigned kBytes =
      kTilePairs * (4 + sizeof(Value)) + kTuning.threads / 32 * kDigitValues * 4;

  Value* values;  // by digits
  std::uint32_t* keys;
  unsigned* counters;  // of each warp's digits; later where the next pair with the digit goes

  static __device__ DigitStage in(unsigned char* memory) {
    return {reinterpret_cast<Value*>(memory),
            reinterpret_cast<std::uint32_t*>(memory + kTilePairs * sizeof(Value)),
            reinterpret_cast<unsigned*>(memory + kTilePairs * (sizeof(Value) + 4))};
  }
};

// Where the thread's first pair is in a tile; the others follow 32 apart.
template <unsigned kPairs>
__device__ unsigned thread_first_pair() {
  return threadIdx.x / 32 * 32 * kPairs + threadIdx.x % 32;
}

// Loads what the thread has of a tile: words 32 apart. One past the count is `missing`.
template <class Word, unsigned kPairs>
__device__ void thread_load_tile(const Word* from, unsigned count, Word missing,
                                 Word (&words)[kPairs]) {
  const unsigned first = thread_first_pair<kPairs>();
  from += first;
  if (count == blockDim.x * kPairs) {
#pragma unroll
    for (unsigned i = 0; i < kPairs; ++i) words[i] = from[32 * i];
  } else {
#pragma unroll
    for (unsigned i = 0; i < kPairs; ++i)
      words[i] = first + 32 * i < count ? from[32 * i] : missing;
  }
}

template <class Value, bool kAreMany>
__global__ void __launch_bounds__(kDigitTuning<Value, kAreMany>.threads,
                                  kDigitTuning<Value, kAreMany>.blocks)
    digit_pass_kernel(const __grid_constant__ DigitPass<Value> pass) {
  constexpr DigitTuning kTuning = kDigitTuning<Value, kAreMany>;
  constexpr unsigned kThreads = kTuning.threads;
  constexpr unsigned kPairs = kTuning.pairs_per_thread;
  constexpr unsigned kTilePairs = kTuning.tile_pairs();
  constexpr unsigned kWarps = kThreads / 32;
  static_assert(kThreads >= kDigitValues);
  using Stage = DigitStage<Value, kAreMany>;
  using Prefix = PrefixWord<kTilePairs>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ unsigned
      places[kDigitValues];  // where the tile's first pair would go if it had the digit
  __shared__ unsigned warp_sums[32];
  __shared__ unsigned next_tile;
  const Stage stage = Stage::in(shared_bytes);
  unsigned* const counters = stage.counters + threadIdx.x / 32 * kDigitValues;
  const bool has_digit = threadIdx.x < kDigitValues;
  grid_begin();
  const DigitRound round = thread_find_round(pass);
  if (!round.is_one) return;
  const bool is_first = round.number == 0;
  const bool is_last = round.number + 1 == round.rounds;
  const bool to_output = (round.rounds - round.number) % 2 != 0;
  std::uint32_t* const to_keys = to_output ? pass.output.keys : pass.buffer.keys;
  Value* const to_values = to_output ? pass.output.values : pass.buffer.values;
  const Pairs<std::uint32_t, Value>& other = to_output ? pass.buffer : pass.output;
  const std::uint32_t* const from_keys = is_first ? pass.input.keys : other.keys;
  const Value* const from_values = is_first ? pass.input.values : other.values;
  std::uint32_t* const prefixes = pass.prefixes[round.number % 2] + threadIdx.x;
  std::uint32_t* const cleared = is_last ? nullptr : pass.prefixes[(round.number + 1) % 2];
  unsigned total = 0;
  const unsigned digit_begin = block_exclusive_sum<kThreads>(
      has_digit ? pass.counts->keys[pass.digit][threadIdx.x] : 0U, warp_sums, total);
  const auto take_tile = [&] {
    if (threadIdx.x == 0) next_tile = atomicAdd(&pass.counts->taken_tiles[pass.digit], 1U);
  };
  const auto count_of = [&](unsigned tile) {
    return min(kTilePairs, pass.count - tile * kTilePairs);
  };
  std::uint32_t keys[kPairs];
  const auto load_keys = [&](unsigned tile) {
    thread_load_tile<std::uint32_t>(from_keys + tile * kTilePairs, count_of(tile), 0, keys);
    if (is_first && pass.loads_mapped) {
#pragma unroll
      for (std::uint32_t& key : keys) key = pass.load_map.to_ordered(key);
    }
    if (count_of(tile) != kTilePairs) {  // those that are missing rank behind all others
      const unsigned first = thread_first_pair<kPairs>();
#pragma unroll
      for (unsigned i = 0; i < kPairs; ++i) {
        if (first + 32 * i >= count_of(tile)) keys[i] = ~0U;
      }
    }
  };
  take_tile();
  __syncthreads();  // the tile is taken
  unsigned tile = next_tile;
  const unsigned tiles = (pass.count - 1) / kTilePairs + 1;
  if (tile < tiles) load_keys(tile);
#pragma unroll 1
  while (tile < tiles) {
    const unsigned begin = tile * kTilePairs;
    const unsigned count = count_of(tile);
    for (unsigned i = threadIdx.x % 32; i < kDigitValues; i += 32) counters[i] = 0;
    __syncwarp();  // the counters are clear
#pragma unroll
    for (unsigned i = 0; i < kPairs; ++i) atomicAdd(&counters[byte_of(keys[i], pass.digit)], 1U);
    Value values[kPairs];
    if (from_values != nullptr) {
      thread_load_tile<Value>(from_values + begin, count, 0, values);
    } else {
      const unsigned first = begin + thread_first_pair<kPairs>();
#pragma unroll
      for (unsigned i = 0; i < kPairs; ++i) values[i] = first + 32 * i;
    }
    __syncthreads();  // all digits are counted
    unsigned own = 0;
    if (has_digit) {
#pragma unroll
      for (unsigned warp = 0; warp < kWarps; ++warp) {
        own += stage.counters[warp * kDigitValues + threadIdx.x];
      }
      if (threadIdx.x == kDigitValues - 1) own -= kTilePairs - count;
      volatile std::uint32_t* const word = prefixes + std::uint64_t{tile} * kDigitValues;
      *word = tile == 0 ? Prefix::of_all(own) : Prefix::of_tile(own);
      if (cleared != nullptr) cleared[std::uint64_t{tile} * kDigitValues + threadIdx.x] = 0;
    }
    const unsigned own_begin = block_exclusive_sum<kThreads>(own, warp_sums, total);
    if (has_digit) {
      unsigned next = own_begin;
#pragma unroll
      for (unsigned warp = 0; warp < kWarps; ++warp) {
        unsigned& counter = stage.counters[warp * kDigitValues + threadIdx.x];
        const unsigned of_warp = counter;
        counter = next;
        next += of_warp;
      }
    }
    __syncthreads();  // all begins in the tile are known
#pragma unroll
    for (unsigned i = 0; i < kPairs; ++i) {
      const unsigned place = warp_take_places(digit_of(keys[i], pass.digit), counters);
      stage.keys[place] = keys[i];
      stage.values[place] = values[i];
    }
    if (has_digit) {
      unsigned before = 0;
      if (tile != 0) {
        before = thread_look_back<kTilePairs>(prefixes, tile);
        volatile std::uint32_t* const word = prefixes + std::uint64_t{tile} * kDigitValues;
        *word = Prefix::of_all(before + own);
      }
      places[threadIdx.x] = digit_begin + before - own_begin;
    }
    __syncthreads();  // the pairs lie by digits, and their places are known
    const auto write = [&](auto is_full, const auto& write_key) {
#pragma unroll
      for (unsigned i = 0; i < kPairs; ++i) {
        const unsigned at = i * kThreads + threadIdx.x;
        if (!is_full && at >= count) continue;
        const std::uint32_t key = stage.keys[at];
        const unsigned place = places[byte_of(key, pass.digit)] + at;
        write_key(place, key);
        to_values[place] = stage.values[at];
      }
    };
    const auto keep = [&](unsigned place, std::uint32_t key) { to_keys[place] = key; };
    if (is_last && !pass.writes_last_keys) {
      write(std::false_type{}, [](unsigned, std::uint32_t) {});
    } else if (is_last && pass.stores_mapped) {
      write(std::false_type{}, [&](unsigned place, std::uint32_t key) {
        to_keys[place] = pass.store_map.to_raw(key);
      });
    } else if (count == kTilePairs) {
      write(std::true_type{}, keep);
    } else {
      write(std::false_type{}, keep);
    }
    // Not earlier: other blocks wait for the digits of the tile from now on.
    take_tile();
    __syncthreads();  // the tile is written, and the next one is taken
    tile = next_tile;
    if (tile < tiles) load_keys(tile);
  }
}

}  // namespace gsort::gpu
