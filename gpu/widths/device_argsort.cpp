// See device_argsort.hpp. A sort by digits makes the numbers itself. For other sorts, they are
// written to the output and sorted there as values; the keys go to scratch memory.
#include "gpu/widths/device_argsort.hpp"

#include <array>
#include <limits>

#include "base/error.hpp"
#include "gpu/cuda/call_memory.hpp"
#include "gpu/distribute/device_pair_distribute.hpp"
#include "gpu/records/device_digit_sort.hpp"
#include "gpu/records/launch.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kOperation = "sorting indices on the GPU";

template <class Index>
void require_numbers(std::uint64_t count) {
  if (count <= std::uint64_t{std::numeric_limits<Index>::max()}) return;
  throw Error(ErrorKind::kUsage, kOperation, "2^32 keys or more do not have numbers of 32 bits")
      .hint("take indices of 64 bits");
}

template <class Key, class Index>
struct ArgsortScratch {
  Key* sorted;
  std::size_t sort_begin;
  std::size_t sort_bytes;

  ArgsortScratch(void* memory, std::uint64_t count)
      : sort_bytes(sort_many_pairs_scratch_bytes<Key, Index>(count)) {
    ScratchCutter cutter(memory);
    sorted = cutter.take<Key>(count);
    sort_begin = cutter.used_bytes();
  }
};

}  // namespace

template <class Key, class Index>
std::size_t argsort_scratch_bytes(std::uint64_t count) {
  require_numbers<Index>(count);
  const ArgsortScratch<Key, Index> scratch(nullptr, count);
  return scratch.sort_begin + scratch.sort_bytes;
}

template <class Key, class Index>
void argsort(const KeyArgsort<Key, Index>& sort) {
  const auto& [keys, indices, count, load_map, scratch, stream] = sort;
  if (count == 0) return;
  const std::size_t needed = argsort_scratch_bytes<Key, Index>(count);
  const std::array inputs{extent_of(keys, count, "the keys")};
  const std::array outputs{extent_of(indices, count, "the indices")};
  require_call_memory({inputs, outputs, false, scratch, needed, kOperation});
  if constexpr (sizeof(Key) == 4) {
    if (are_sorted_by_digits(count, {})) {
      return sort_pairs_by_digits<Index>({.input = {keys, nullptr},
                                          .output = {nullptr, indices},
                                          .count = count,
                                          .load_map = load_map,
                                          .scratch = scratch,
                                          .stream = stream});
    }
  }
  const ArgsortScratch<Key, Index> places(scratch.memory, count);
  launch_count_up(indices, 0, count, stream);
  sort_many_pairs<Key, Index>(
      {.input = {keys, indices},
       .output = {places.sorted, indices},
       .count = count,
       .load_map = load_map,
       .store_map = {},
       .scratch = {static_cast<std::byte*>(scratch.memory) + places.sort_begin, places.sort_bytes},
       .stream = stream});
}

#define GSORT_ARGSORT(Key, Index)                                        \
  template std::size_t argsort_scratch_bytes<Key, Index>(std::uint64_t); \
  template void argsort(const KeyArgsort<Key, Index>&)
GSORT_ARGSORT(std::uint32_t, std::uint32_t);
GSORT_ARGSORT(std::uint32_t, std::uint64_t);
GSORT_ARGSORT(std::uint64_t, std::uint32_t);
GSORT_ARGSORT(std::uint64_t, std::uint64_t);
#undef GSORT_ARGSORT

}  // namespace gsort::gpu
