// digit_count_kernel: counts the values of all digits of all keys. digit_pass_kernel: sends each
// pair to its place by one digit, in the order of the input.
//
// Threads: a warp has 32E consecutive pairs of a tile, each of its lanes those 32 apart. Thread t
// has value t of the digit. A block takes one tile after the other; it needs those that were taken
// before, whose blocks run or have ended. Shared memory: the tile's pairs, by digits, and a counter
// for each warp and value. Device memory: a word for each tile and value (PrefixWord); between
// rounds, pairs of 8 bytes lie joined (JoinedPairs).
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/merge/block_sum.cuh"
#include "gpu/records/digit_sort.hpp"
#include "gpu/records/warp_pairs.cuh"

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

// kAreMany: each lane has counters of its own, so that lanes do not wait for each other's banks.
template <class Value, bool kAreMany>
__global__ void __launch_bounds__(kDigitCount<kAreMany>.threads)
    digit_count_kernel(const __grid_constant__ DigitPass<Value> pass) {
  constexpr DigitCountTuning kTuning = kDigitCount<kAreMany>;
  constexpr unsigned kThreads = kTuning.threads;
  constexpr unsigned kKeys = kThreads * kTuning.keys_per_thread;
  constexpr unsigned kCounts = kDigits * kDigitValues;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto* const counts = reinterpret_cast<unsigned*>(shared_bytes);
  unsigned* const own = counts + threadIdx.x % kTuning.copies;
  const unsigned thread = blockIdx.x * kThreads + threadIdx.x;
  for (unsigned i = threadIdx.x; i < kCounts * kTuning.copies; i += kThreads) counts[i] = 0;
  grid_begin();
  const auto words = static_cast<unsigned>(digit_tiles<Value>(pass.count)) * kDigitValues;
  for (unsigned i = thread; i < words; i += gridDim.x * kThreads) pass.prefixes[0][i] = 0;
  __syncthreads();  // the counts are clear
  const auto count_key = [&](std::uint32_t key) {
    if (pass.loads_mapped) key = pass.load_map.to_ordered(key);
#pragma unroll
    for (unsigned digit = 0; digit < kDigits; ++digit) {
      atomicAdd(&own[(digit * kDigitValues + digit_of(key, digit)) * kTuning.copies], 1U);
    }
  };
  const std::uint64_t step = std::uint64_t{gridDim.x} * kKeys;
  for (std::uint64_t begin = std::uint64_t{blockIdx.x} * kKeys; begin < pass.count; begin += step) {
    const std::uint32_t* const from = pass.input.keys + begin + threadIdx.x;
    if (pass.count - begin >= kKeys) {
      std::uint32_t keys[kTuning.keys_per_thread];
#pragma unroll
      for (unsigned i = 0; i < kTuning.keys_per_thread; ++i) keys[i] = from[i * kThreads];
#pragma unroll
      for (unsigned i = 0; i < kTuning.keys_per_thread; ++i) count_key(keys[i]);
    } else {
      for (unsigned i = threadIdx.x; i < pass.count - begin; i += kThreads) {
        count_key(pass.input.keys[begin + i]);
      }
    }
  }
  __syncthreads();  // all keys are counted
  for (unsigned i = threadIdx.x; i < kCounts; i += kThreads) {
    unsigned sum = 0;
    for (unsigned copy = 0; copy < kTuning.copies; ++copy) {
      sum += counts[i * kTuning.copies + (copy + threadIdx.x) % kTuning.copies];
    }
    if (sum != 0) atomicAdd(&pass.counts->keys[i / kDigitValues][i % kDigitValues], sum);
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

// Returns the next place of the lane's digit: counters[digit] plus the number of lower lanes with
// the same digit. The counter then is the place behind those of all lanes.
__device__ inline unsigned warp_take_places(unsigned digit, unsigned* counters) {
  const unsigned peers = warp_find_peers<kDigitBits>(digit);
  const unsigned lane = threadIdx.x % 32;
  const auto up_to = static_cast<unsigned>(__popc(static_cast<int>(peers & ((2U << lane) - 1))));
  const int last = 31 - __clz(static_cast<int>(peers));
  unsigned begin = 0;
  __syncwarp();  // the counters have the places of the pairs before
  if (lane == static_cast<unsigned>(last)) begin = atomicAdd(&counters[digit], up_to);
  return __shfl_sync(kWholeWarp, begin, last) + up_to - 1;
}

__device__ inline std::uint64_t join_pair(std::uint32_t key, std::uint32_t value) {
  return std::uint64_t{value} << 32 | key;
}
__device__ inline void split_pair(std::uint64_t pair, std::uint32_t& key, std::uint32_t& value) {
  key = static_cast<std::uint32_t>(pair);
  value = static_cast<std::uint32_t>(pair >> 32);
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
// kWindow: tiles that are read at once.
template <unsigned kTilePairs, unsigned kWindow>
__device__ unsigned thread_look_back(const volatile std::uint32_t* prefixes, unsigned tile) {
  constexpr std::uint32_t kLeastSum = PrefixWord<kTilePairs>::kLeastSum;
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
  static constexpr unsigned kPairBytes = sizeof(std::uint32_t) + sizeof(Value);
  static constexpr unsigned kBytes =
      kTilePairs * kPairBytes + kTuning.threads / 32 * kDigitValues * sizeof(unsigned);

  unsigned char* memory;

  // The number of keys of each warp with each digit; later the place of the next such pair.
  [[nodiscard]] __device__ unsigned* counters() const {
    return reinterpret_cast<unsigned*>(memory + kTilePairs * kPairBytes);
  }
  // The tile's pairs, by digits: joined, or all values before all keys.
  __device__ void put(unsigned place, std::uint32_t key, Value value) const {
    if constexpr (kJoinsPairs<Value>) {
      reinterpret_cast<std::uint64_t*>(memory)[place] = join_pair(key, value);
    } else {
      reinterpret_cast<Value*>(memory)[place] = value;
      keys()[place] = key;
    }
  }
  __device__ void get(unsigned place, std::uint32_t& key, Value& value) const {
    if constexpr (kJoinsPairs<Value>) {
      split_pair(reinterpret_cast<const std::uint64_t*>(memory)[place], key, value);
    } else {
      value = reinterpret_cast<const Value*>(memory)[place];
      key = keys()[place];
    }
  }

 private:
  [[nodiscard]] __device__ std::uint32_t* keys() const {
    return reinterpret_cast<std::uint32_t*>(memory + kTilePairs * sizeof(Value));
  }
};

// Where a round's pairs come from.
template <class Value>
struct RoundInput {
  const std::uint32_t* keys;
  const Value* values;  // null: the numbers of the pairs
  JoinedPairs joined;

  __device__ void load(unsigned place, std::uint32_t& key, Value& value) const {
    if constexpr (kJoinsPairs<Value>) {
      if (joined.low != nullptr) {
        const bool is_low = place < joined.half;
        const unsigned at = is_low ? place : place - joined.half;
        if (at < joined.half)
          return split_pair((is_low ? joined.low : joined.high)[at], key, value);
      }
    }
    key = keys[place];
    value = values != nullptr ? values[place] : place;
  }

  // Loads what the thread has of a tile: pairs 32 apart, those behind its first `count` as 0.
  template <unsigned kPairs>
  __device__ void thread_load(unsigned begin, unsigned count, std::uint32_t (&to_keys)[kPairs],
                              Value (&to_values)[kPairs]) const {
    const unsigned tile_pairs = blockDim.x * kPairs;
    const unsigned first = thread_first_pair<kPairs>();
    const bool is_full = count == tile_pairs;
    if constexpr (kJoinsPairs<Value>) {
      const bool is_low = begin < joined.half;
      const unsigned at = is_low ? begin : begin - joined.half;
      if (joined.low != nullptr && is_full && joined.half >= tile_pairs &&
          at <= joined.half - tile_pairs) {
        const std::uint64_t* const from = (is_low ? joined.low : joined.high) + at + first;
#pragma unroll
        for (unsigned i = 0; i < kPairs; ++i) split_pair(from[32 * i], to_keys[i], to_values[i]);
        return;
      }
    }
    if (joined.low == nullptr && is_full && values != nullptr) {
      const std::uint32_t* const from_keys = keys + begin + first;
      const Value* const from_values = values + begin + first;
#pragma unroll
      for (unsigned i = 0; i < kPairs; ++i) to_keys[i] = from_keys[32 * i];
#pragma unroll
      for (unsigned i = 0; i < kPairs; ++i) to_values[i] = from_values[32 * i];
      return;
    }
#pragma unroll
    for (unsigned i = 0; i < kPairs; ++i) {
      to_keys[i] = 0;
      to_values[i] = 0;
      if (first + 32 * i < count) load(begin + first + 32 * i, to_keys[i], to_values[i]);
    }
  }
};

// Where a round's pairs go.
template <class Value>
struct RoundOutput {
  std::uint32_t* keys;
  Value* values;
  JoinedPairs joined;

  __device__ void store(unsigned place, std::uint32_t key, Value value) const {
    keys[place] = key;
    values[place] = value;
  }
  __device__ void store_joined(unsigned place, std::uint32_t key, Value value) const {
    const bool is_low = place < joined.half;
    const unsigned at = is_low ? place : place - joined.half;
    if (at < joined.half) {
      (is_low ? joined.low : joined.high)[at] = join_pair(key, value);
    } else {
      store(place, key, value);
    }
  }
};

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
  using Prefix = PrefixWord<kTilePairs>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ unsigned
      places[kDigitValues];  // where the tile's first pair would go if it had the digit
  __shared__ unsigned warp_sums[32];
  __shared__ unsigned next_tile;
  const DigitStage<Value, kAreMany> stage{shared_bytes};
  unsigned* const all_counters = stage.counters();
  unsigned* const counters = all_counters + threadIdx.x / 32 * kDigitValues;
  const bool has_digit = threadIdx.x < kDigitValues;
  grid_begin();
  const DigitRound round = thread_find_round(pass);
  if (!round.is_one) return;
  const bool is_first = round.number == 0;
  const bool is_last = round.number + 1 == round.rounds;
  const bool to_output = (round.rounds - round.number) % 2 != 0;
  const Pairs<std::uint32_t, Value>& to = to_output ? pass.output : pass.buffer;
  const Pairs<std::uint32_t, Value>& other = to_output ? pass.buffer : pass.output;
  RoundInput<Value> input{pass.input.keys, pass.input.values, {}};
  if (!is_first) {
    input = {other.keys, other.values, to_output ? pass.joined_buffer : pass.joined_output};
  }
  RoundOutput<Value> output{to.keys, to.values, {}};
  if (!is_last) output.joined = to_output ? pass.joined_output : pass.joined_buffer;
  // Stores of many pairs that lie apart keep the L2 cache busy; to read ahead would add to it.
  const bool reads_little = output.joined.low == nullptr && pass.count >= kManyCountedKeys;
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
  Value values[kPairs];
  const auto load_pairs = [&](unsigned tile) {
    const unsigned count = count_of(tile);
    input.thread_load(tile * kTilePairs, count, keys, values);
    if (is_first && pass.loads_mapped) {
#pragma unroll
      for (std::uint32_t& key : keys) key = pass.load_map.to_ordered(key);
    }
    if (count != kTilePairs) {  // those that are missing rank behind all others
      const unsigned first = thread_first_pair<kPairs>();
#pragma unroll
      for (unsigned i = 0; i < kPairs; ++i) {
        if (first + 32 * i >= count) keys[i] = ~0U;
      }
    }
  };
  take_tile();
  __syncthreads();  // the tile is taken
  unsigned tile = next_tile;
  const unsigned tiles = (pass.count - 1) / kTilePairs + 1;
  if (tile < tiles) load_pairs(tile);
#pragma unroll 1
  while (tile < tiles) {
    const unsigned count = count_of(tile);
    for (unsigned i = threadIdx.x % 32; i < kDigitValues; i += 32) counters[i] = 0;
    __syncwarp();  // the counters are clear
#pragma unroll
    for (unsigned i = 0; i < kPairs; ++i) atomicAdd(&counters[byte_of(keys[i], pass.digit)], 1U);
    __syncthreads();  // all digits are counted
    unsigned own = 0;
    if (has_digit) {
#pragma unroll
      for (unsigned warp = 0; warp < kWarps; ++warp) {
        own += all_counters[warp * kDigitValues + threadIdx.x];
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
        unsigned& counter = all_counters[warp * kDigitValues + threadIdx.x];
        const unsigned of_warp = counter;
        counter = next;
        next += of_warp;
      }
    }
    __syncthreads();  // all begins in the tile are known
#pragma unroll
    for (unsigned i = 0; i < kPairs; ++i) {
      const unsigned place = warp_take_places(digit_of(keys[i], pass.digit), counters);
      stage.put(place, keys[i], values[i]);
    }
    if (has_digit) {
      unsigned before = 0;
      if (tile != 0) {
        before = reads_little ? thread_look_back<kTilePairs, 1>(prefixes, tile)
                              : thread_look_back<kTilePairs, 4>(prefixes, tile);
        volatile std::uint32_t* const word = prefixes + std::uint64_t{tile} * kDigitValues;
        *word = Prefix::of_all(before + own);
      }
      places[threadIdx.x] = digit_begin + before - own_begin;
    }
    __syncthreads();  // the pairs lie by digits, and their places are known
    const auto write = [&](auto is_full, const auto& store) {
#pragma unroll
      for (unsigned i = 0; i < kPairs; ++i) {
        const unsigned at = i * kThreads + threadIdx.x;
        if (!is_full && at >= count) continue;
        std::uint32_t key = 0;
        Value value = 0;
        stage.get(at, key, value);
        store(places[byte_of(key, pass.digit)] + at, key, value);
      }
    };
    const auto write_all = [&](const auto& store) {
      count == kTilePairs ? write(std::true_type{}, store) : write(std::false_type{}, store);
    };
    if (output.joined.low != nullptr) {
      if constexpr (kJoinsPairs<Value>) {
        write_all([&](unsigned place, std::uint32_t key, Value value) {
          output.store_joined(place, key, value);
        });
      }
    } else if (is_last && !pass.writes_last_keys) {
      write(std::false_type{}, [&](unsigned place, std::uint32_t /*key*/, Value value) {
        output.values[place] = value;
      });
    } else if (is_last && pass.stores_mapped) {
      write(std::false_type{}, [&](unsigned place, std::uint32_t key, Value value) {
        output.store(place, pass.store_map.to_raw(key), value);
      });
    } else {
      write_all(
          [&](unsigned place, std::uint32_t key, Value value) { output.store(place, key, value); });
    }
    // Not earlier: other blocks wait for the digits of the tile from now on.
    take_tile();
    __syncthreads();  // the tile is written, and the next one is taken
    tile = next_tile;
    if (tile < tiles) load_pairs(tile);
  }
}

}  // namespace gsort::gpu
