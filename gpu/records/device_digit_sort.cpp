// See device_digit_sort.hpp.
//
// Problem. Where keys are few, frequent or crowded, a sort by splitters waits for counters of the
// same bins, and pairs that are distributed and merged move more often than pairs that are sorted
// by their digits.
//
// Idea. One kernel counts the values of all four digits of 8 bits. Then a pass for each digit, the
// least significant one first, sends the pairs to their places, in the order of the input. A digit
// that all keys share needs no pass: keys of 16 bits take two. A block takes a tile, counts its
// digits, and tells the later tiles. It learns from the earlier tiles how many of their pairs go
// before its own, while these are arranged by digits in shared memory (digit_kernels.cuh). So each
// pass reads and writes each pair once. (A. Adinets and D. Merrill, "Onesweep: a faster least
// significant digit radix sort for GPUs", 2022.)
//
// Example. Keys 21 11 12 of two decimal digits: by the last digit 21 11 12, by the first 11 12 21.
//
// Cost. n pairs of 4 + v bytes: 4n for the counts, 2(4 + v)n for a pass. 2^28 random pairs of u32
// with u32 take 6.3 ms on an H200: the counts 0.29, a pass 1.42, the last one 1.7. A pass is bound
// by the L2 cache, which is busy for 70 to 80% of the time. Where a tile's pairs of a digit begin
// and end, it gets parts of sectors. So pairs of 8 bytes lie joined between the passes: a tile then
// has 256 such places, not 512, and a pass takes 1.42 ms instead of 1.8. Larger tiles have fewer,
// but their kernels must keep all pairs in registers: with those spilled, a pass took 2.8 ms.
#include "gpu/records/device_digit_sort.hpp"

#include <algorithm>

#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/records/digit_sort.hpp"

namespace gsort::gpu {
namespace {

template <class Value>
struct DigitScratch {
  std::uint64_t words;  // of prefixes
  ScratchCutter cutter;
  DigitCounts* counts;
  std::uint32_t* prefixes[2];
  Pairs<std::uint32_t, Value> buffer;
  std::uint64_t* joined_buffer;
  std::uint32_t* spare_keys;

  DigitScratch(void* memory, std::uint64_t count, bool has_output_keys)
      // Just below kManyPairs, small tiles need more words than the large tiles of more pairs.
      : words(kDigitValues * std::max(digit_tiles<Value>(count),
                                      digit_tiles<Value>(std::min(count, kManyPairs - 1)))),
        cutter(memory),
        counts(cutter.take<DigitCounts>(1)),
        prefixes{cutter.take<std::uint32_t>(words), cutter.take<std::uint32_t>(words)},
        buffer(take_elements<std::uint32_t, Value>(cutter, kJoinsPairs<Value> ? 0 : count)),
        joined_buffer(cutter.take<std::uint64_t>(kJoinsPairs<Value> ? count : 0)),
        spare_keys(cutter.take<std::uint32_t>(has_output_keys ? 0 : count)) {}
};

bool can_join(const void* words) {
  return reinterpret_cast<std::uintptr_t>(words) % alignof(std::uint64_t) == 0;
}

}  // namespace

template <class Value>
std::size_t sort_pairs_by_digits_scratch_bytes(std::uint64_t count) {
  return DigitScratch<Value>(nullptr, count, true).cutter.used_bytes();
}

template <class Value>
void sort_pairs_by_digits(const PairSort<std::uint32_t, Value>& sort) {
  const bool has_output_keys = sort.output.keys != nullptr;
  const DigitScratch<Value> places(sort.scratch.memory, sort.count, has_output_keys);
  check_cuda(cudaMemsetAsync(places.counts, 0, sizeof(DigitCounts), sort.stream), CudaCall::kMemory,
             "clearing the counts of digits");
  const unsigned architecture = current_architecture();
  DigitPass<Value> pass;
  pass.input = sort.input;
  pass.output = sort.output;
  if (!has_output_keys) pass.output.keys = places.spare_keys;
  pass.buffer = places.buffer;
  if constexpr (kJoinsPairs<Value>) {
    pass.joined_buffer = {places.joined_buffer, nullptr, static_cast<std::uint32_t>(sort.count)};
    if (can_join(pass.output.keys) && can_join(pass.output.values)) {
      pass.joined_output = {reinterpret_cast<std::uint64_t*>(pass.output.keys),
                            reinterpret_cast<std::uint64_t*>(pass.output.values),
                            static_cast<std::uint32_t>(sort.count / 2)};
    }
  }
  pass.writes_last_keys = has_output_keys;
  pass.in_place = sort.input.keys == sort.output.keys || sort.input.values == sort.output.values;
  pass.count = static_cast<std::uint32_t>(sort.count);
  pass.load_map = sort.load_map;
  pass.store_map = sort.store_map;
  pass.loads_mapped = !sort.load_map.is_identity();
  pass.stores_mapped = !sort.store_map.is_identity();
  pass.counts = places.counts;
  pass.prefixes[0] = places.prefixes[0];
  pass.prefixes[1] = places.prefixes[1];
  launch_digit_counts(pass, architecture, sort.stream);
  for (pass.digit = 0; pass.digit < kDigits; ++pass.digit) {
    launch_digit_pass(pass, architecture, sort.stream);
  }
}

#define GSORT_DIGIT_SORT(Value)                                                  \
  template std::size_t sort_pairs_by_digits_scratch_bytes<Value>(std::uint64_t); \
  template void sort_pairs_by_digits(const PairSort<std::uint32_t, Value>&)
GSORT_DIGIT_SORT(std::uint32_t);
GSORT_DIGIT_SORT(std::uint64_t);
#undef GSORT_DIGIT_SORT

}  // namespace gsort::gpu
