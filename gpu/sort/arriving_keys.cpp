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

std::vector<std::uint64_t> arriving_chunks(std::uint64_t count) {
  const std::uint64_t chunks =
      std::clamp<std::uint64_t>(count / kLeastArrivingKeys, 1, kMostArrivingChunks);
  std::vector<std::uint64_t> counts(chunks, count / chunks);
  counts.back() += count % chunks;
  return counts;
}

template <class Key>
std::size_t arriving_scratch_bytes(const std::vector<std::uint64_t>& chunks) {
  std::uint64_t count = 0;
  for (const std::uint64_t keys : chunks) count += keys;
  const std::size_t sorts = sort_keys_scratch_bytes<Key>(chunks.back());
  if (chunks.size() == 1) return sorts;
  const auto slices = static_cast<std::uint32_t>(chunks.size());
  return std::max(sorts, merge_slices_scratch_bytes<Key>(count, slices));
}

template <class Key>
Key* sort_arriving_keys(const Arrival<Key>& arrival) {
  const auto& [input, chunks, arrived, merged, load_map, store_map, scratch, stream] = arrival;
  const bool merges = chunks.size() > 1;
  const Stream arrivals;  // destroyed when its work is done
  order_streams(stream, arrivals.get(), kOperation);
  std::uint64_t position = 0;
  for (const std::uint64_t keys : chunks) {
    Key* const chunk = arrived + position;
    check_cuda(cudaMemcpyAsync(chunk, input + position, keys * sizeof(Key), cudaMemcpyHostToDevice,
                               arrivals.get()),
               CudaCall::kCopy, kOperation);
    order_streams(arrivals.get(), stream, kOperation);
    sort_keys<Key>({.input = chunk,
                    .output = chunk,
                    .count = keys,
                    .load_map = load_map,
                    .store_map = merges ? KeyMap<Key>{} : store_map,
                    .scratch = scratch,
                    .stream = stream});
    position += keys;
  }
  if (!merges) return arrived;
  merge_slices<Key>({.input = arrived,
                     .slice_counts = chunks.data(),
                     .slice_count = static_cast<std::uint32_t>(chunks.size()),
                     .output = merged,
                     .store_map = store_map,
                     .scratch = scratch,
                     .stream = stream});
  return merged;
}

template std::size_t arriving_scratch_bytes<std::uint32_t>(const std::vector<std::uint64_t>&);
template std::size_t arriving_scratch_bytes<std::uint64_t>(const std::vector<std::uint64_t>&);
template std::uint32_t* sort_arriving_keys(const Arrival<std::uint32_t>&);
template std::uint64_t* sort_arriving_keys(const Arrival<std::uint64_t>&);

}  // namespace gsort::gpu
