// Sorting many arrays of pairs at once, by the sort of many arrays of keys (device_batch.cpp).
//
// Problem. Stable sorts of short arrays of pairs, in few launches whatever the lengths.
//
// Idea. A word of 64 bits holds 32 bits of a key and below them the number of its pair. Words are
// distinct, so that sorting each array of words is stable, and there is one right result. Keys of
// up to 32 bits take one round: words are sorted, then each fetches its value by the number. Keys
// of 64 bits take two, as a radix sort of two digits does: by the lower halves, then by the upper
// halves, with numbers that count the order after the first round. Keys of 128 bits take four.
//
// Example, two digits a key, one array: keys 31 12 32 11. Words of the lower digits 1|0 2|1 2|2
// 1|3, sorted 1|0 1|3 2|1 2|2: pairs 0 3 1 2. Words of their upper digits 3|0 1|1 1|2 3|3, sorted
// 1|1 1|2 3|0 3|3: pairs 3 1 0 2, keys 11 12 31 32.
//
// Cost. A round is a sort of as many u64 keys in such arrays, and reads and writes of each pair
// before and after it; values and keys of 64 bits are fetched from their array, which for short
// arrays is in the cache. Not measured on a card yet.
#include "gpu/segmented/device_pair_batch.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/segmented/launch_pair_words.hpp"
#include "gpu/segmented/pair_batch_memory.hpp"

namespace gsort::gpu {
namespace {

// Pairs of all arrays.
std::uint64_t count_of(const ArrayPlaces& arrays) {
  const std::uint64_t length = arrays.array_keys;
  std::uint64_t count = arrays.count;
  if (arrays.offsets == nullptr) {
    const bool fits = length == 0 || arrays.array_count <= kMostBatchPairs / length;
    count = fits ? arrays.array_count * length : kMostBatchPairs + 1;
  }
  if (count <= kMostBatchPairs) return count;
  throw Error(ErrorKind::kUsage, kPairBatchOperation,
              "more than " + format_count(kMostBatchPairs) + " pairs in one call");
}

std::size_t sort_words_scratch_bytes(const ArrayPlaces& arrays) {
  using Word = std::uint64_t;
  if (arrays.offsets == nullptr) {
    return sort_batch_scratch_bytes<Word>(arrays.array_count, arrays.array_keys);
  }
  return sort_segmented_batch_scratch_bytes<Word>(arrays.array_count, arrays.count, arrays.longest);
}

void sort_words(std::uint64_t* words, const ArrayPlaces& arrays, const ScratchMemory& scratch,
                cudaStream_t stream) {
  if (arrays.offsets == nullptr) {
    sort_batch<std::uint64_t>({.input = words,
                               .output = words,
                               .array_count = arrays.array_count,
                               .array_keys = arrays.array_keys,
                               .scratch = scratch,
                               .stream = stream});
    return;
  }
  sort_segmented_batch<std::uint64_t>({.input = words,
                                       .output = words,
                                       .offsets = arrays.offsets,
                                       .array_count = arrays.array_count,
                                       .count = arrays.count,
                                       .longest = arrays.longest,
                                       .scratch = scratch,
                                       .stream = stream});
}

// Each by 32 bits of the keys.
template <class Key>
inline constexpr unsigned kRounds = div_up(sizeof(Key), sizeof(std::uint32_t));

struct PairBatchScratch {
  std::uint64_t* words;
  std::uint32_t* numbers[2];  // of pairs, after all rounds but the last; they alternate
  std::size_t sort_begin;
  std::size_t sort_bytes;

  PairBatchScratch(void* memory, const ArrayPlaces& arrays, unsigned rounds)
      : sort_bytes(sort_words_scratch_bytes(arrays)) {
    const std::uint64_t count = count_of(arrays);
    ScratchCutter cutter(memory);
    words = cutter.take<std::uint64_t>(count);
    numbers[0] = cutter.take<std::uint32_t>(rounds > 1 ? count : 0);
    numbers[1] = cutter.take<std::uint32_t>(rounds > 2 ? count : 0);
    sort_begin = cutter.used_bytes();
  }

  [[nodiscard]] ScratchMemory for_sort(const ScratchMemory& scratch) const {
    return {static_cast<std::byte*>(scratch.memory) + sort_begin, sort_bytes};
  }
};

}  // namespace

template <class Key>
std::size_t sort_pair_batch_scratch_bytes(const ArrayPlaces& arrays) {
  if (count_of(arrays) == 0) return 0;
  const PairBatchScratch scratch(nullptr, arrays, kRounds<Key>);
  return scratch.sort_begin + scratch.sort_bytes;
}

template <class Key, class Value>
void sort_pair_batch(const PairBatchSort<Key, Value>& sort) {
  const ArrayPlaces& arrays = sort.arrays;
  const std::uint64_t count = count_of(arrays);
  if (count == 0) return;
  const std::size_t needed = sort_pair_batch_scratch_bytes<Key>(arrays);
  require_batch_memory(sort, count, needed);

  const PairBatchScratch places(sort.scratch.memory, arrays, kRounds<Key>);
  PairWordPass<Key, Value> pass;
  pass.keys_in = sort.keys_in;
  pass.keys_out = sort.keys_out;
  if (!sort.takes_numbers) pass.values_in = sort.values_in;
  pass.values_out = sort.values_out;
  pass.map = sort.map;
  pass.count = count;
  pass.array_count = arrays.array_count;
  pass.array_keys = arrays.array_keys;
  pass.offsets = arrays.offsets;
  pass.words = places.words;
  launch_write_pair_words(pass, sort.stream);
  sort_words(places.words, arrays, places.for_sort(sort.scratch), sort.stream);
  for (unsigned round = 1; round < kRounds<Key>; ++round) {
    pass.numbers_before = pass.numbers;
    pass.numbers = places.numbers[(round - 1) % 2];
    if constexpr (sizeof(Key) > 4) launch_write_upper_words(pass, 32 * round, sort.stream);
    sort_words(places.words, arrays, places.for_sort(sort.scratch), sort.stream);
  }
  launch_place_pairs(pass, sort.stream);
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
