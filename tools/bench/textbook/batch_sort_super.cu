// Batch merge-path sort with super-blocks: arrays longer than a block can hold.
//
// Problem. An array of more than 1024 keys fits neither the threads nor the shared memory of a
// block, and with one block an array a small N leaves the card idle.
//
// Idea. Give each array a super-block: as many blocks as it has tiles of 1024 keys. First every
// block sorts its tile, as batch_sort_shared.cu does. Then the runs of an array are merged, pairs
// of 1024 to 2048, and so on; in each level every block of the super-block makes one tile of
// output: the co-ranks of the tile's ends say which parts of the pair it needs, these are loaded
// into shared memory, and each thread takes one step of the merge path there. The blocks of a
// super-block must have finished a level before any of them begins the next; blocks cannot wait
// for each other safely, so each level is a launch for all arrays at once.
//
// Example. d = 5, tiles of 2: super-blocks of 3 blocks. 4 1 3 9 2
//   tiles:    1 4 | 3 9 | 2
//   width 2:  block 0 makes outputs 0 1 of merge(1 4, 3 9): 1 3; block 1: 4 9; block 2: 2
//   width 4:  1 2 | 3 4 | 9
//
// Threads: block b makes tile b mod S of array b / S, S = ceil(d / 1024); thread t its output t.
// Shared memory: one tile of 1024 keys: A's part, then B's; the co-ranks of the tile's ends.
// Bytes: 2 * sizeof(Key) an element and level, coalesced: 1 + ceil(log2(d / 1024)) levels.
//
// Cost. log2(d / 1024) launches; a level costs two searches a block and log2(1024) steps a
// thread.
//
// Measured on an H200, 16M random i32 keys: d = 4096: 12, 16384: 7.8, 65536: 5.6 Gkeys/s.
//
// Source. Green, McColl, Bader, "GPU Merge Path", ICS 2012, doi:10.1145/2304576.2304621.
#include "bench/textbook/batch_sorts.hpp"
#include "bench/textbook/co_rank_bisection.hpp"
#include "bench/textbook/launch.hpp"
#include "bench/textbook/path_step.hpp"
#include "bench/textbook/run_pair.hpp"
#include "bench/textbook/section_shape.hpp"

namespace gsort::textbook {
namespace {

template <class Key>
__global__ void __launch_bounds__(kSectionKeys)
    super_merge_kernel(const Key* in, Key* out, SectionShape shape, std::uint64_t width) {
  __shared__ Key tile[kSectionKeys];
  __shared__ std::uint64_t ends[2];  // co-ranks of where the tile begins and ends
  const std::uint64_t array = blockIdx.x / shape.sections_per_array;
  const std::uint64_t first = blockIdx.x % shape.sections_per_array * kSectionKeys;
  const auto outputs =
      static_cast<unsigned>(lesser<std::uint64_t>(kSectionKeys, shape.array_keys - first));
  // A tile never straddles two pairs: their length is a multiple of the tile's.
  const RunPair<std::uint64_t> pair = run_pair_at(first, width, shape.array_keys);
  const Key* const a = in + array * shape.array_keys + pair.begin;
  const Key* const b = a + pair.a_count;
  const std::uint64_t k = first - pair.begin;
  if (threadIdx.x % 32 == 0 && threadIdx.x < 64) {  // one thread of each of two warps
    const unsigned end = threadIdx.x / 32;
    ends[end] = co_rank_bisection(k + end * outputs, a, pair.a_count, b, pair.b_count);
  }
  __syncthreads();  // the co-ranks are known
  const auto a_count = static_cast<unsigned>(ends[1] - ends[0]);
  const Key* const a_part = a + ends[0];
  const Key* const b_part = b + (k - ends[0]);
  const unsigned t = threadIdx.x;
  if (t < outputs) tile[t] = t < a_count ? a_part[t] : b_part[t - a_count];
  __syncthreads();  // the tile is loaded
  if (t < outputs) {
    out[array * shape.array_keys + first + t] =
        path_step(t, tile, a_count, tile + a_count, outputs - a_count);
  }
}

}  // namespace

template <class Key>
void launch_batch_sort_super(const BatchRequest<Key>& request) {
  if (request.total() == 0) return;
  const SectionShape shape = SectionShape::of(request.array_count, request.array_keys);
  const unsigned levels = levels_from<std::uint64_t>(kSectionKeys, request.array_keys);
  auto* const other = static_cast<Key*>(request.scratch);
  Key* to = levels % 2 == 0 ? request.out : other;
  launch_block_section_sort(request.in, to, shape, request.stream);
  const unsigned merge_blocks = blocks_for(shape.sections(), 1);
  for (unsigned level = 0; level < levels; ++level) {
    const Key* const from = to;
    to = from == request.out ? other : request.out;
    super_merge_kernel<<<merge_blocks, kSectionKeys, 0, request.stream>>>(
        from, to, shape, std::uint64_t{kSectionKeys} << level);
    require_launched("super_merge_kernel");
  }
}

template void launch_batch_sort_super(const BatchRequest<std::uint8_t>&);
template void launch_batch_sort_super(const BatchRequest<std::int32_t>&);
template void launch_batch_sort_super(const BatchRequest<std::uint64_t>&);

}  // namespace gsort::textbook
