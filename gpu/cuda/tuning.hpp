// The shapes of the kernels: one printable struct a key size and architecture, chosen here and
// nowhere else. Kernels take it as a template argument, host code as a value.
//
// Measured on an H200 (sm_90) only; the trials are in tools/bench/results/tried.md.
// The other rows have the same shapes, but for the pairs of 32 bits: theirs fit the 99 KB of shared
// memory a block that the least of these architectures has. The shapes for keys of 128 bits are not
// measured: they hold as many bytes as those for 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gsort::gpu {

// Pairs of slices are padded to whole rows of E words; a merge's tile leaves room for that.
[[nodiscard]] constexpr unsigned merge_tile_keys(unsigned threads, unsigned keys_per_thread,
                                                 unsigned fan_in) {
  return keys_per_thread * (threads - (fan_in / 2 - 1));
}

// How many runs a merge pass can take: powers of two, each compiled once for every tuning that may
// need it.
inline constexpr unsigned kFanIns[] = {2, 4, 8};

struct KernelTuning {
  unsigned keys_per_thread;     // E: a power of two; shared memory has one pad word every E
  unsigned block_sort_threads;  // a block sort's tile has threads * E keys; a power of two
  unsigned merge_threads;       // a merge's tile has somewhat fewer than threads * E keys
  unsigned two_way_threads;     // the same for a merge of two arrays, which is bound by its cuts
  unsigned max_fan_in;          // runs that one pass merges: one of kFanIns
  unsigned resident_threads;    // of an SM, at least; bounds the registers of a thread

  friend constexpr bool operator==(const KernelTuning&, const KernelTuning&) = default;

  [[nodiscard]] constexpr unsigned block_sort_keys() const {
    return keys_per_thread * block_sort_threads;
  }

  [[nodiscard]] constexpr unsigned merge_tile_keys(unsigned fan_in) const {
    return gpu::merge_tile_keys(merge_threads, keys_per_thread, fan_in);
  }
  [[nodiscard]] constexpr unsigned two_way_tile_keys() const {
    return gpu::merge_tile_keys(two_way_threads, keys_per_thread, 2);
  }
};

// Every 2^shift-th key of a run is a sample, for the partition (kway_cut.hpp). Kernels that write a
// run write its samples on the way; on an H200 a sort of 2^28 u32 keys takes 0.5% longer with one
// every 64 keys.
template <class Key>
inline constexpr std::uint32_t kWrittenSampleShift = 5;

// Slices from outside are sampled by a kernel of its own, which reads 64 bytes for every sample.
inline constexpr std::uint32_t kReadSampleShift = 9;

// Small inputs cannot fill the card, so the time of one tile counts, not the work: short rows,
// small tiles, and passes of two runs that find their cuts themselves, one launch a pass.
struct SmallTuning {
  KernelTuning kernels;
  std::uint64_t most_sorted_keys;  // sorts of more keys take the other kernels
  std::uint64_t most_merged_keys;

  friend constexpr bool operator==(const SmallTuning&, const SmallTuning&) = default;
};

inline constexpr SmallTuning kSmall32{{8, 256, 256, 256, 2, 1024}, 1U << 21, 1U << 22};
inline constexpr SmallTuning kSmall64{{8, 256, 256, 256, 2, 1024}, 1U << 20, 1U << 21};
inline constexpr SmallTuning kSmall128{{8, 256, 256, 256, 2, 1024}, 1U << 19, 1U << 20};

// Names the sort of pairs where a key type names the sort of keys: tuning_for<PairOf<Key, Value>>.
template <class Key, class Value>
struct PairOf {};

// Pairs of a tile lie in shared memory with their values: with 64-bit keys and values a block
// sort's tile has 83 KB, and a merge's 42 KB. Where an SM has more than 200 KB, two block sorts of
// 512 threads and 32-bit keys and values fit it: 2^28 pairs then take a pass less. On an H200, 2^28
// pairs of u32: block sort 3.34 ms, and a pass of 8 takes 0.21 for its cuts and 1.6 to 1.7; u64
// with u32: 3.41, 0.27 + 2.25. Merges of 256 threads and 32 pairs a thread were slower, with words
// of whole keys.
struct PairTunings {
  KernelTuning of[2][2];  // [the key is 64 bits wide][the value is]
};

inline constexpr PairTunings kPairTunings{
    {{{16, 256, 128, 128, 8, 1024}, {16, 256, 128, 128, 8, 768}},
     {{16, 256, 128, 128, 8, 640}, {16, 256, 128, 128, 8, 640}}}};
inline constexpr PairTunings kLargePairTunings{
    {{{16, 512, 128, 128, 8, 1024}, {16, 256, 128, 128, 8, 768}},
     {{16, 256, 128, 128, 8, 768}, {16, 256, 128, 128, 8, 640}}}};

struct TuningRow {
  unsigned architecture;  // 10 * major + minor: this one and later ones, up to the next row
  KernelTuning key32;
  KernelTuning key64;
  KernelTuning key128;
  SmallTuning small32;
  SmallTuning small64;
  SmallTuning small128;
  PairTunings pairs;
};

template <class Element>
struct TuningOf {
  static constexpr const KernelTuning& in(const TuningRow& row) {
    return sizeof(Element) == 4 ? row.key32 : sizeof(Element) == 8 ? row.key64 : row.key128;
  }
};

template <class Key, class Value>
struct TuningOf<PairOf<Key, Value>> {
  static constexpr const KernelTuning& in(const TuningRow& row) {
    return row.pairs.of[sizeof(Key) / 8][sizeof(Value) / 8];
  }
};

inline constexpr KernelTuning kKeys32 = {32, 256, 128, 256, 8, 1280};
inline constexpr KernelTuning kKeys64 = {16, 512, 128, 256, 8, 1024};
inline constexpr KernelTuning kKeys128 = {8, 512, 128, 256, 8, 1024};

inline constexpr TuningRow kTunings[] = {
    {80, kKeys32, kKeys64, kKeys128, kSmall32, kSmall64, kSmall128, kPairTunings},
    {86, kKeys32, kKeys64, kKeys128, kSmall32, kSmall64, kSmall128, kPairTunings},
    {89, kKeys32, kKeys64, kKeys128, kSmall32, kSmall64, kSmall128, kPairTunings},
    {90, kKeys32, kKeys64, kKeys128, kSmall32, kSmall64, kSmall128, kLargePairTunings},
    {100, kKeys32, kKeys64, kKeys128, kSmall32, kSmall64, kSmall128, kLargePairTunings},
    {103, kKeys32, kKeys64, kKeys128, kSmall32, kSmall64, kSmall128, kLargePairTunings},
    {120, kKeys32, kKeys64, kKeys128, kSmall32, kSmall64, kSmall128, kPairTunings},
};

// Element: a key type, or PairOf<Key, Value>.
template <class Element>
[[nodiscard]] constexpr KernelTuning tuning_for(unsigned architecture) {
  KernelTuning found = TuningOf<Element>::in(kTunings[0]);
  for (const TuningRow& row : kTunings) {
    if (row.architecture <= architecture) found = TuningOf<Element>::in(row);
  }
  return found;
}

template <class Key>
[[nodiscard]] constexpr SmallTuning small_tuning_for(unsigned architecture) {
  const auto small_of = [](const TuningRow& row) {
    return sizeof(Key) == 4 ? row.small32 : sizeof(Key) == 8 ? row.small64 : row.small128;
  };
  SmallTuning found = small_of(kTunings[0]);
  for (const TuningRow& row : kTunings) {
    if (row.architecture <= architecture) found = small_of(row);
  }
  return found;
}

// "256 threads x 32 keys, merge 128 threads, fan-in 8", for benchmarks and reports.
[[nodiscard]] inline std::string to_string(const KernelTuning& tuning) {
  return "block sort " + std::to_string(tuning.block_sort_threads) + " threads x " +
         std::to_string(tuning.keys_per_thread) + " keys, merge " +
         std::to_string(tuning.merge_threads) + " threads, fan-in " +
         std::to_string(tuning.max_fan_in);
}

}  // namespace gsort::gpu
