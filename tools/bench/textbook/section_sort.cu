// Section sort and scatter merge: a thread sorts a section; then every key computes where it
// belongs.
//
// Problem. Sort with nothing but threads that do not talk to each other.
//
// Idea. A thread sorts 32 neighbouring keys by insertion. Then pairs of sorted runs are merged,
// and the merge is turned inside out: instead of an output looking for its key, each key looks
// for its output. A key's place in the merged pair is its place in its own run plus the number of
// keys of the other run that precede it, and one binary search counts those: the keys less than
// it for a key of the first run, the keys less than or equal to it for a key of the second, so
// that equal keys of the first run come first and no two keys claim one place. The key is then
// scattered there.
//
// Example. Runs 1 3 3 7 | 3 4 9.
//   7 of the first run: place 3, and 2 keys of the second are less: output 5
//   3 of the second:    place 0, and 3 keys of the first are not greater: output 3
//
// Threads: of insertion_kernel, thread s sorts keys [32 s', 32 s' + 32) of its array; of
// scatter_kernel, thread k places key k.
// Shared memory: none.
// Bytes: 2 * sizeof(Key) an element and level, and up to log2(width) reads of the search, of
// which neighbours share most. Reads are coalesced; writes are two interleaved ascending streams
// a warp. The insertion sort moves a key 8 times on average, at 32 places 32 keys apart: the
// worst pattern there is.
//
// Cost. 32 * 32 / 4 moves a section, then ceil(log2(d / 32)) levels of one search a key.
//
// Measured on an H200, 16M random i32 keys: d = 64: 6.0, 1024: 4.9, one array of 16M: 2.1
// Gkeys/s.
//
// Source. The count of predecessors as a key's address: Shiloach, Vishkin, J. Algorithms 2(1),
// 1981, doi:10.1016/0196-6774(81)90010-9; on GPUs, for the last levels of a tile: Satish, Harris,
// Garland, IPDPS 2009, doi:10.1109/IPDPS.2009.5161005.
#include "bench/textbook/batch_sorts.hpp"
#include "bench/textbook/launch.hpp"
#include "bench/textbook/run_pair.hpp"
#include "bench/textbook/splitters.hpp"

namespace gsort::textbook {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint64_t kSection = 32;

template <class Key>
__global__ void insertion_kernel(const Key* in, Key* out, std::uint64_t array_count,
                                 std::uint64_t array_keys, std::uint64_t sections_per_array) {
  const std::uint64_t section = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (section >= array_count * sections_per_array) return;
  const std::uint64_t first = section % sections_per_array * kSection;
  const std::uint64_t begin = section / sections_per_array * array_keys + first;
  const std::uint64_t count = lesser(kSection, array_keys - first);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Key key = in[begin + i];
    std::uint64_t hole = i;
    for (; hole > 0 && key < out[begin + hole - 1]; --hole) {
      out[begin + hole] = out[begin + hole - 1];
    }
    out[begin + hole] = key;
  }
}

template <class Key>
__global__ void scatter_kernel(const Key* in, Key* out, std::uint64_t total,
                               std::uint64_t array_keys, std::uint64_t width) {
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (index >= total) return;
  const std::uint64_t k = index % array_keys;
  const RunPair<std::uint64_t> pair = run_pair_at(k, width, array_keys);
  const std::uint64_t begin = index - k + pair.begin;
  const Key* const a = in + begin;
  const Key* const b = a + pair.a_count;
  const std::uint64_t place = k - pair.begin;
  const Key key = in[index];
  if (place < pair.a_count) {
    out[begin + place + count_before<false>(b, pair.b_count, key)] = key;
  } else {
    out[begin + (place - pair.a_count) + count_before<true>(a, pair.a_count, key)] = key;
  }
}

}  // namespace

template <class Key>
void launch_section_sort(const BatchRequest<Key>& request) {
  const std::uint64_t total = request.total();
  if (total == 0) return;
  const std::uint64_t sections_per_array = div_up(request.array_keys, kSection);
  const unsigned levels = levels_from(kSection, request.array_keys);
  auto* const other = static_cast<Key*>(request.scratch);
  Key* to = levels % 2 == 0 ? request.out : other;
  const unsigned section_blocks = blocks_for(request.array_count * sections_per_array, kThreads);
  insertion_kernel<<<section_blocks, kThreads, 0, request.stream>>>(
      request.in, to, request.array_count, request.array_keys, sections_per_array);
  require_launched("insertion_kernel");
  for (unsigned level = 0; level < levels; ++level) {
    const Key* const from = to;
    to = from == request.out ? other : request.out;
    scatter_kernel<<<blocks_for(total, kThreads), kThreads, 0, request.stream>>>(
        from, to, total, request.array_keys, kSection << level);
    require_launched("scatter_kernel");
  }
}

template void launch_section_sort(const BatchRequest<std::uint8_t>&);
template void launch_section_sort(const BatchRequest<std::int32_t>&);
template void launch_section_sort(const BatchRequest<std::uint64_t>&);

}  // namespace gsort::textbook
