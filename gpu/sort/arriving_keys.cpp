#include "gpu/sort/arriving_keys.hpp"

#include <algorithm>

#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/sort/device_sort.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kOperation = "sorting host memory on the GPU";

}  // namespace

std::vector<std::uint64_t> arriving_chunks(std::uint64_t count, std::uint64_t least_keys) {
  const std::uint64_t chunks =
      std::clamp<std::uint64_t>(count / least_keys, 1, kMostArrivingChunks);
  if (chunks < kMostArrivingChunks) {
    std::vector<std::uint64_t> counts(chunks, count / chunks);
    counts.back() += count % chunks;
    return counts;
  }
  constexpr std::uint64_t kLine = 128 / sizeof(std::uint32_t);  // chunks begin at whole lines
  const std::uint64_t quarter = count / (4 * (chunks - 2) + 3) / kLine * kLine;
  std::vector<std::uint64_t> counts(chunks, 4 * quarter);
  counts[chunks - 1] = count - quarter * (4 * (chunks - 2) + 2);  // and the rest
  counts[chunks - 2] = 2 * quarter;
  return counts;
}

void queue_arrivals(
    const std::vector<std::uint64_t>& chunks, cudaStream_t stream,
    const std::function<void(std::uint64_t begin, std::uint64_t count, cudaStream_t copies)>& copy,
    const std::function<void(std::uint64_t begin, std::uint64_t count)>& sort) {
  const Stream copies;  // destroyed when its work is done
  try {
    order_streams(stream, copies.get(), kOperation);
    std::uint64_t begin = 0;
    for (const std::uint64_t count : chunks) {
      copy(begin, count, copies.get());
      order_streams(copies.get(), stream, kOperation);
      sort(begin, count);
      begin += count;
    }
  } catch (...) {
    // No other code can wait for a copy that `stream` does not wait for.
    static_cast<void>(cudaStreamSynchronize(copies.get()));
    throw;
  }
}

template <class T>
void copy_arriving(T* to, const T* from, std::uint64_t count, cudaStream_t stream) {
  check_cuda(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyHostToDevice, stream),
             CudaCall::kCopy, kOperation);
}

template <class Key>
std::size_t arriving_scratch_bytes(const std::vector<std::uint64_t>& chunks) {
  std::uint64_t count = 0;
  for (const std::uint64_t keys : chunks) count += keys;
  const std::size_t sorts = sort_keys_scratch_bytes<Key>(*std::ranges::max_element(chunks));
  if (chunks.size() == 1) return sorts;
  const auto slices = static_cast<std::uint32_t>(chunks.size());
  return std::max(sorts, merge_slices_scratch_bytes<Key>(count, slices));
}

template <class Key>
void sort_arriving_keys(const Arrival<Key>& arrival, std::uint64_t piece_keys,
                        const SortedPieceQueued<Key>& queued) {
  const bool merges = arrival.chunks.size() > 1;
  const auto copy = [&](std::uint64_t begin, std::uint64_t count, cudaStream_t copies) {
    copy_arriving(arrival.arrived + begin, arrival.input + begin, count, copies);
  };
  const auto sort = [&](std::uint64_t begin, std::uint64_t count) {
    sort_keys<Key>({.input = arrival.arrived + begin,
                    .output = arrival.arrived + begin,
                    .count = count,
                    .load_map = arrival.load_map,
                    .store_map = merges ? KeyMap<Key>{} : arrival.store_map,
                    .scratch = arrival.scratch,
                    .stream = arrival.stream});
  };
  queue_arrivals(arrival.chunks, arrival.stream, copy, sort);
  if (!merges) return queued(arrival.arrived, 0, arrival.chunks.front());
  merge_slices_in_pieces<Key>({.input = arrival.arrived,
                               .slice_counts = arrival.chunks.data(),
                               .slice_count = static_cast<std::uint32_t>(arrival.chunks.size()),
                               .output = arrival.merged,
                               .store_map = arrival.store_map,
                               .scratch = arrival.scratch,
                               .stream = arrival.stream},
                              piece_keys, [&](std::uint64_t begin, std::uint64_t end) {
                                queued(arrival.merged, begin, end);
                              });
}

template std::size_t arriving_scratch_bytes<std::uint32_t>(const std::vector<std::uint64_t>&);
template std::size_t arriving_scratch_bytes<std::uint64_t>(const std::vector<std::uint64_t>&);
template void copy_arriving(std::uint32_t*, const std::uint32_t*, std::uint64_t, cudaStream_t);
template void copy_arriving(std::uint64_t*, const std::uint64_t*, std::uint64_t, cudaStream_t);
template void sort_arriving_keys(const Arrival<std::uint32_t>&, std::uint64_t,
                                 const SortedPieceQueued<std::uint32_t>&);
template void sort_arriving_keys(const Arrival<std::uint64_t>&, std::uint64_t,
                                 const SortedPieceQueued<std::uint64_t>&);

}  // namespace gsort::gpu
