// Launches of the kernels that sort by digits, and their arguments. Host code, except the constants
// and structs that kernels share.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "base/units.hpp"
#include "element/key.hpp"
#include "gpu/merge/element_arrays.hpp"

namespace gsort::gpu {

inline constexpr unsigned kDigitBits = 8;
inline constexpr unsigned kDigitValues = 1U << kDigitBits;
inline constexpr unsigned kDigits = 32 / kDigitBits;  // of a key, the least significant one first

struct DigitTuning {
  unsigned threads;
  unsigned pairs_per_thread;  // odd: 32 sorted pairs of each digit would lie in one bank
  unsigned blocks;            // of a multiprocessor, at least

  [[nodiscard]] constexpr unsigned tile_pairs() const { return threads * pairs_per_thread; }
};

// With fewer pairs than this, small tiles: there are more than blocks can run at once.
inline constexpr std::uint64_t kManyPairs = std::uint64_t{3} << 18;

template <class Value, bool kAreMany>
inline constexpr DigitTuning kDigitTuning =
    kAreMany ? (sizeof(Value) == 4 ? DigitTuning{384, 23, 2} : DigitTuning{384, 17, 2})
             : (sizeof(Value) == 4 ? DigitTuning{512, 7, 3} : DigitTuning{256, 11, 4});

template <class Value>
[[nodiscard]] constexpr std::uint64_t digit_tiles(std::uint64_t count) {
  return div_up(count, count < kManyPairs ? kDigitTuning<Value, false>.tile_pairs()
                                          : kDigitTuning<Value, true>.tile_pairs());
}

struct DigitCountTuning {
  unsigned threads;
  unsigned keys_per_thread;  // at once
  unsigned copies;           // of all counters

  [[nodiscard]] constexpr unsigned bytes() const {
    return copies * kDigits * kDigitValues * sizeof(std::uint32_t);
  }
};

// From this many keys on, counters for each lane save more time than clearing them takes.
inline constexpr std::uint64_t kManyCountedKeys = std::uint64_t{1} << 22;

template <bool kAreMany>
inline constexpr DigitCountTuning kDigitCount =
    kAreMany ? DigitCountTuning{1024, 16, 32} : DigitCountTuning{512, 8, 1};

// Whether pairs lie joined between rounds, as words of 64 bits: the value above the key. A tile
// then writes to half as many places.
template <class Value>
inline constexpr bool kJoinsPairs = sizeof(Value) == sizeof(std::uint32_t);

// Pairs [0, half) lie in `low`, pairs [half, 2 * half) in `high`. Null pointers: keys and values
// lie in arrays of their own.
struct JoinedPairs {
  std::uint64_t* low = nullptr;
  std::uint64_t* high = nullptr;
  std::uint32_t half = 0;
};

// In device memory; all 0 before the count.
struct DigitCounts {
  std::uint32_t keys[kDigits][kDigitValues];  // that have this digit
  std::uint32_t taken_tiles[kDigits];         // by the passes
  std::uint32_t first_key;                    // ordered
};

// The count of all digits, or the pass for digit `digit`.
template <class Value>
struct DigitPass {
  using Key = std::uint32_t;

  ConstPairs<Key, Value> input;  // values null: the numbers of the pairs
  // The rounds write to these in turn, the last one to output, all others to joined pairs if there
  // are any. The last of an odd number of pairs lies apart in the output.
  Pairs<Key, Value> output;
  Pairs<Key, Value> buffer;  // none if pairs are joined
  JoinedPairs joined_output;
  JoinedPairs joined_buffer;
  bool writes_last_keys = true;
  bool in_place = false;  // keys or values of the output are those of the input
  std::uint32_t count = 0;
  unsigned digit = 0;
  KeyMap<Key> load_map;
  KeyMap<Key> store_map;
  bool loads_mapped = false;  // the maps are not the identity
  bool stores_mapped = false;
  DigitCounts* counts = nullptr;
  // For each tile and value of a digit, what thread_look_back() reads; rounds use them in turn. The
  // first is cleared by the count, each other by the round before.
  std::uint32_t* prefixes[2] = {};
};

template <class Value>
void launch_digit_counts(const DigitPass<Value>& pass, unsigned architecture, cudaStream_t stream);
template <class Value>
void launch_digit_pass(const DigitPass<Value>& pass, unsigned architecture, cudaStream_t stream);

}  // namespace gsort::gpu
