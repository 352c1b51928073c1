// Sorting many arrays of pairs at once, as the sort of many arrays of keys does (device_batch.cpp).
//
// Problem. Stable sorts of short arrays of pairs, in few launches whatever the lengths.
//
// Idea. The kernels that sort arrays of keys make words of 64 bits of the pairs that they load: a
// key of 32 bits, and below it the number of its pair. Words are distinct, so that sorting each
// array of words is stable, and there is one right result. As a word is stored, its value is
// fetched by the number (batch_ends.hpp). Words of arrays that are longer than a tile lie in memory
// between the merge passes; the last pass stores their pairs.
// Keys of other widths take a round for each 32 bits of a key, as a radix sort does: by the lowest
// first, with the digits as keys and the pairs' numbers as values; then pairs are put by numbers.
//
// Example, two digits a key, one array: keys 31 12 32 11. Lower digits and numbers 1|0 2|1 2|2 1|3,
// sorted 1|0 1|3 2|1 2|2: pairs 0 3 1 2. Their upper digits 3|0 1|3 1|1 3|2, sorted 1|3 1|1 3|0
// 3|2: keys 11 12 31 32.
//
// Cost. 32 bits: a sort of as many u64 keys in such arrays, but keys and values are read and
// written instead; the values of short arrays are in the cache. On an H200, ms for 2^27 pairs of
// u32 in arrays of 2, 7, 33, 100: 0.82, 0.92, 1.74, 1.60, their numbers 0.61, 0.58, 1.51, 1.44.
// With kernels that made the words before and put the pairs after: 1.98, 2.28, 2.93, 2.87.
#include "gpu/segmented/device_pair_batch.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/segmented/launch_pair_words.hpp"
#include "gpu/segmented/pair_batch_memory.hpp"
#include "gpu/segmented/queued_batch.hpp"

namespace gsort::gpu {
namespace {

// Pairs of all arrays.
std::uint64_t count_of(const ArrayPlaces& arrays) {
  const std::uint64_t length = arrays.array_keys;
  std::uint64_t count = arrays.count;
  if (arrays.offsets == nullptr) {
    const bool fits = length == 0 || arrays.array_count <= kMostBatchPairs / length;
    count = fits ? arrays.array_count * length : kMostBatchPairs + 1;
  } else {
    require_count(arrays.array_count, kPairBatchOperation, "arrays");
  }
  if (count <= kMostBatchPairs) return count;
  throw Error(ErrorKind::kUsage, kPairBatchOperation,
              "more than " + format_count(kMostBatchPairs) + " pairs in one call");
}

template <class Key>
inline constexpr bool kIsOneDigit = sizeof(Key) == sizeof(PairEnds::Key);
template <class Key>
inline constexpr unsigned kRounds = div_up(sizeof(Key), sizeof(PairEnds::Key));

// The memory of a sort by digits.
struct RoundScratch {
  std::uint32_t* digits;
  std::uint32_t* numbers[2];  // of pairs, in the order after even rounds, and after odd ones
  ScratchMemory for_sort;
  std::size_t bytes;

  RoundScratch(void* memory, const ArrayPlaces& arrays, unsigned rounds) {
    const std::uint64_t count = count_of(arrays);
    ScratchCutter cutter(memory);
    digits = cutter.take<std::uint32_t>(count);
    numbers[0] = cutter.take<std::uint32_t>(count);
    numbers[1] = cutter.take<std::uint32_t>(rounds > 1 ? count : 0);
    for_sort.bytes = batch_scratch_bytes<PairEnds>(arrays);
    for_sort.memory = cutter.take<std::byte>(for_sort.bytes);
    bytes = cutter.used_bytes();
  }
};

template <class Key, class Value>
void sort_by_digits(const PairBatchSort<Key, Value>& sort, std::uint64_t count) {
  const RoundScratch places(sort.scratch.memory, sort.arrays, kRounds<Key>);
  KeyDigitPass<Key> pass{
      .keys_in = sort.keys_in, .map = sort.map, .digits = places.digits, .count = count};
  for (unsigned round = 0; round < kRounds<Key>; ++round) {
    pass.shift = 32 * round;
    launch_write_digits(pass, sort.stream);
    std::uint32_t* const numbers = places.numbers[round % 2];
    queue_batch<PairEnds>(
        {.ends = {.keys_in = places.digits, .values_in = pass.numbers, .values_out = numbers},
         .arrays = sort.arrays,
         .scratch = places.for_sort,
         .stream = sort.stream});
    pass.numbers = numbers;
  }
  launch_place_pairs<Key, Value>({.keys_in = sort.keys_in,
                                  .keys_out = sort.keys_out,
                                  .values_in = sort.takes_numbers ? nullptr : sort.values_in,
                                  .values_out = sort.values_out,
                                  .count = count,
                                  .array_count = sort.arrays.array_count,
                                  .array_keys = sort.arrays.array_keys,
                                  .offsets = sort.arrays.offsets,
                                  .numbers = pass.numbers},
                                 sort.stream);
}

}  // namespace

template <class Key>
std::size_t sort_pair_batch_scratch_bytes(const ArrayPlaces& arrays) {
  if (count_of(arrays) == 0) return 0;
  if constexpr (kIsOneDigit<Key>) return batch_scratch_bytes<PairEnds>(arrays);
  return RoundScratch(nullptr, arrays, kRounds<Key>).bytes;
}

template <class Key, class Value>
void sort_pair_batch(const PairBatchSort<Key, Value>& sort) {
  const std::uint64_t count = count_of(sort.arrays);
  if (count == 0) return;
  require_batch_memory(sort, count, sort_pair_batch_scratch_bytes<Key>(sort.arrays));
  if constexpr (kIsOneDigit<Key>) {
    queue_batch<PairEnds>({.ends = {.keys_in = sort.keys_in,
                                    .keys_out = sort.keys_out,
                                    .maps = EndMaps<Key>::of(sort.map, sort.map),
                                    .values_in = sort.takes_numbers ? nullptr : sort.values_in,
                                    .values_out = sort.values_out,
                                    .wide_values = sizeof(Value) > sizeof(std::uint32_t),
                                    .numbers_in_array = sort.takes_numbers},
                           .arrays = sort.arrays,
                           .scratch = sort.scratch,
                           .stream = sort.stream});
  } else {
    sort_by_digits(sort, count);
  }
}

#define GSORT_PAIR_BATCH(Key)                                                  \
  template std::size_t sort_pair_batch_scratch_bytes<Key>(const ArrayPlaces&); \
  template void sort_pair_batch(const PairBatchSort<Key, std::uint32_t>&);     \
  template void sort_pair_batch(const PairBatchSort<Key, std::uint64_t>&)
GSORT_PAIR_BATCH(std::uint8_t);
GSORT_PAIR_BATCH(std::uint16_t);
GSORT_PAIR_BATCH(std::uint32_t);
GSORT_PAIR_BATCH(std::uint64_t);
GSORT_PAIR_BATCH(UInt128);
#undef GSORT_PAIR_BATCH

}  // namespace gsort::gpu
