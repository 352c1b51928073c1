// block_section_sort: a block sorts sections of at most kSectionKeys keys in shared memory, one
// thread a key. Used by batch_sort_shared.cu, where a section is a whole array, and by
// batch_sort_super.cu, where an array has several.
//
// Threads: thread t makes output t mod section_keys of section t / section_keys of the block.
// Shared memory: two tiles of kSectionKeys keys, between which the levels alternate.
// Bytes: 2 * sizeof(Key) an element, coalesced; all levels stay in shared memory.
#include <cstdint>

#include "bench/textbook/launch.hpp"
#include "bench/textbook/path_step.hpp"
#include "bench/textbook/run_pair.hpp"
#include "bench/textbook/section_shape.hpp"

namespace gsort::textbook {
namespace {

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

}  // namespace

template <class Key>
void launch_block_section_sort(const Key* in, Key* out, const SectionShape& shape,
                               cudaStream_t stream) {
  const unsigned blocks = blocks_for(shape.sections(), shape.sections_per_block);
  section_sort_kernel<<<blocks, kSectionKeys, 0, stream>>>(in, out, shape);
  require_launched("section_sort_kernel");
}

template void launch_block_section_sort(const std::uint8_t*, std::uint8_t*, const SectionShape&,
                                        cudaStream_t);
template void launch_block_section_sort(const std::int32_t*, std::int32_t*, const SectionShape&,
                                        cudaStream_t);
template void launch_block_section_sort(const std::uint64_t*, std::uint64_t*, const SectionShape&,
                                        cudaStream_t);

}  // namespace gsort::textbook
