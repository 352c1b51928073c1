// Merge path, one thread a diagonal: every output finds its own key.
//
// Problem. How parallel can a merge be?
//
// Idea. Write B along the top and A down the side, and at (i, j) note whether A[i] > B[j]: the
// merge matrix. Ones fill its lower left, zeros its upper right, and the border between them is a
// staircase, the merge path: a step down takes an element of A, a step right one of B. The path
// crosses each diagonal i + j = k exactly once, where k outputs have been taken: at the co-rank
// of k. From there the next step, which is output k, is known by one comparison. So give each
// diagonal a thread of its own: thread k bisects along diagonal k and writes output k.
//
// Example. A = 1 3 7, B = 3 4 9.       3 4 9
//   path: down (1), down (3), right    1  0 0 0
//   (3), right (4), down (7),          3  0 0 0      (the 3 of A precedes the 3 of B)
//   right (9).                         7  1 1 0
//   thread 3, diagonal i + j = 3: crosses at i = 2, j = 1; A[2] = 7 > B[1] = 4: output 3 is 4.
//
// Threads: thread k of the grid makes output k.
// Shared memory: none.
// Bytes: 2 * sizeof(Key) an element for the merge itself, coalesced on both sides, since
// neighbours have neighbouring crossings. The search reads 2 log2(n) more keys an element: the
// first probes are shared by whole blocks and stay in the caches; the last ones are near each
// other. All work, no waiting, and log2(n) times too much of it: the step from here to one search
// for several outputs is what the other kernels are about.
//
// Cost. n threads of O(log n) steps.
//
// Measured on an H200 in one run, 16M + 16M random i32 keys: 0.27 TB/s, 7% of the device copy's
// rate.
//
// Source. S. Odeh, O. Green, Z. Mwassi, O. Shmueli, Y. Birk, "Merge Path - Parallel Merging Made
// Simple", IPDPSW 2012, doi:10.1109/IPDPSW.2012.202.
#include "bench/textbook/launch.hpp"
#include "bench/textbook/merges.hpp"
#include "bench/textbook/path_step.hpp"

namespace gsort::textbook {
namespace {

constexpr unsigned kThreads = 256;

template <class Key>
__global__ void merge_path_kernel(TwoArrays<Key> in, Key* out) {
  const std::uint64_t k = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (k < in.total()) out[k] = path_step(k, in.a, in.a_count, in.b, in.b_count);
}

}  // namespace

template <class Key>
void launch_merge_path(const MergeRequest<Key>& request) {
  const std::uint64_t total = request.in.total();
  if (total == 0) return;
  const unsigned blocks = blocks_for(total, kThreads);
  merge_path_kernel<<<blocks, kThreads, 0, request.stream>>>(request.in, request.out);
  require_launched("merge_path_kernel");
}

template void launch_merge_path(const MergeRequest<std::uint8_t>&);
template void launch_merge_path(const MergeRequest<std::int32_t>&);
template void launch_merge_path(const MergeRequest<std::uint64_t>&);

}  // namespace gsort::textbook
