// Splitter scatter: cut the inputs at fixed positions, and merge the sections. The essay on the
// cuts, with the example and the source, is in splitters.hpp.
//
// It is the opposite of the co-rank: that one starts from positions of the output and finds the
// inputs; this one starts from positions of the inputs and finds where in the output they go.
// Sections come out uneven, here between 0 and 128 elements, and a warp waits for its longest.
//
// Threads: of splitter_kernel, thread s places splitter s; of section_kernel, thread s merges the
// section between cuts s and s + 1.
// Shared memory: none.
// Bytes: 2 * sizeof(Key) an element, in the pattern of the basic merge (32 threads, 32 places),
// and 16 bytes of cuts, written and read, for every 64 elements.
//
// Cost. n / 64 binary searches of O(log n); sections of at most 128 steps. Measured on an H200 in
// one run, 16M + 16M random i32 keys: 0.16 TB/s, 4% of the device copy's rate.
#include "bench/textbook/launch.hpp"
#include "bench/textbook/merges.hpp"
#include "bench/textbook/sequential_merge.hpp"
#include "bench/textbook/splitters.hpp"

namespace gsort::textbook {
namespace {

constexpr unsigned kThreads = 128;
constexpr std::uint64_t kStep = 64;

std::uint64_t cut_count(std::uint64_t a_count, std::uint64_t b_count) {
  return splitter_count(a_count, kStep) + splitter_count(b_count, kStep);
}

template <class Key>
__global__ void splitter_kernel(TwoArrays<Key> in, std::uint64_t splitters, Cut* cuts) {
  const std::uint64_t s = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (s < splitters) {
    const PlacedCut placed = place_splitter(in, s, kStep);
    cuts[placed.place] = placed.cut;
  } else if (s == splitters) {
    cuts[s] = {in.a_count, in.b_count};
  }
}

template <class Key>
__global__ void section_kernel(TwoArrays<Key> in, std::uint64_t sections, const Cut* cuts,
                               Key* out) {
  const std::uint64_t s = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (s >= sections) return;
  const Cut begin = cuts[s];
  const Cut end = cuts[s + 1];
  sequential_merge(in.a + begin.a, end.a - begin.a, in.b + begin.b, end.b - begin.b,
                   out + begin.a + begin.b);
}

}  // namespace

std::size_t merge_scratch_bytes(std::uint64_t a_count, std::uint64_t b_count) {
  return (cut_count(a_count, b_count) + 1) * sizeof(Cut);
}

template <class Key>
void launch_splitter_scatter(const MergeRequest<Key>& request) {
  const TwoArrays<Key>& in = request.in;
  if (in.total() == 0) return;
  const std::uint64_t splitters = cut_count(in.a_count, in.b_count);
  auto* const cuts = static_cast<Cut*>(request.scratch);
  splitter_kernel<<<blocks_for(splitters + 1, kThreads), kThreads, 0, request.stream>>>(
      in, splitters, cuts);
  require_launched("splitter_kernel");
  section_kernel<<<blocks_for(splitters, kThreads), kThreads, 0, request.stream>>>(
      in, splitters, cuts, request.out);
  require_launched("section_kernel");
}

template void launch_splitter_scatter(const MergeRequest<std::uint8_t>&);
template void launch_splitter_scatter(const MergeRequest<std::int32_t>&);
template void launch_splitter_scatter(const MergeRequest<std::uint64_t>&);

}  // namespace gsort::textbook
