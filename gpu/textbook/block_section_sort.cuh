// block_section_sort: a block sorts sections of at most kSectionKeys keys in shared memory, one
// thread a key. Used by batch_sort_shared.cu, where a section is a whole array, and by
// batch_sort_super.cu, where an array has several.
//
// Threads: thread t makes output t mod section_keys of section t / section_keys of the block.
// Shared memory: two tiles of kSectionKeys keys, between which the levels alternate.
// Bytes: 2 * sizeof(Key) an element, coalesced; all levels stay in shared memory.
#pragma once

#include <cstdint>

#include "gpu/textbook/path_step.hpp"
#include "gpu/textbook/run_pair.hpp"
#include "gpu/textbook/two_arrays.hpp"

namespace gsort::textbook {

inline constexpr unsigned kSectionKeys = 1024;

// How the arrays of a batch fall into sections, and sections into blocks.
struct SectionShape {
  std::uint64_t array_count = 0;
  std::uint64_t array_keys = 0;
  std::uint64_t sections_per_array = 0;
  unsigned section_keys = 0;        // the last section of an array may have fewer
  unsigned sections_per_block = 0;  // more than one only for arrays of at most half a tile

  [[nodiscard]] static SectionShape of(std::uint64_t array_count, std::uint64_t array_keys) {
    SectionShape shape;
    shape.array_count = array_count;
    shape.array_keys = array_keys;
    shape.section_keys = static_cast<unsigned>(lesser<std::uint64_t>(array_keys, kSectionKeys));
    shape.sections_per_array = (array_keys + shape.section_keys - 1) / shape.section_keys;
    shape.sections_per_block =
        shape.sections_per_array == 1 ? kSectionKeys / shape.section_keys : 1;
    return shape;
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t sections() const {
    return array_count * sections_per_array;
  }
};

// Launched with kSectionKeys threads and sections / sections_per_block blocks, rounded up.
template <class Key>
__global__ void __launch_bounds__(kSectionKeys)
    section_sort_kernel(const Key* in, Key* out, SectionShape shape) {
  __shared__ Key tiles[2][kSectionKeys];
  const unsigned place = threadIdx.x / shape.section_keys;
  const unsigned k = threadIdx.x % shape.section_keys;
  const std::uint64_t section = std::uint64_t{blockIdx.x} * shape.sections_per_block + place;
  const bool has_section = place < shape.sections_per_block && section < shape.sections();
  const std::uint64_t array = section / shape.sections_per_array;
  const std::uint64_t first = section % shape.sections_per_array * shape.section_keys;
  const auto count =
      static_cast<unsigned>(lesser<std::uint64_t>(shape.section_keys, shape.array_keys - first));
  const bool active = has_section && k < count;
  const std::uint64_t begin = array * shape.array_keys + first;

  const Key* from = tiles[0] + place * shape.section_keys;
  Key* to = tiles[1] + place * shape.section_keys;
  if (active) tiles[0][threadIdx.x] = in[begin + k];
  __syncthreads();  // the sections are loaded
  for (unsigned width = 1; width < shape.section_keys; width *= 2) {
    if (active) {
      const RunPair<unsigned> pair = run_pair_at(k, width, count);
      const Key* const a = from + pair.begin;
      to[k] = path_step(k - pair.begin, a, pair.a_count, a + pair.a_count, pair.b_count);
    }
    __syncthreads();  // the level is written before the next one reads it
    Key* const written = to;
    to = const_cast<Key*>(from);
    from = written;
  }
  if (active) out[begin + k] = from[k];
}

}  // namespace gsort::textbook
