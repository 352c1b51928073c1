// See host_array_sort.hpp. On the reference bus a key of four bytes takes 72 ps each way, its sort
// 24 ps and the merge of eight chunks 4 ps. Nothing leaves before the last byte has arrived,
// because the least key may come last. After that, only the sort of a short chunk (arriving_chunks)
// and the merge of the first piece come before the first copy out: each piece is copied out while
// the next ones are merged.
#include "gpu/sort/host_array_sort.hpp"

#include <algorithm>
#include <vector>

#include "base/units.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/sort/arriving_keys.hpp"
#include "gpu/sort/device_sort.hpp"
#include "gpu/sort/sort_memory.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kOperation = "sorting host memory on the GPU";
// The sorted keys leave in about this many pieces, or fewer.
constexpr std::uint64_t kLeavingPieces = 16;

template <class Key>
struct HostSortArrays {
  Key* arrived = nullptr;  // chunks, then sorted chunks
  Key* merged = nullptr;   // of several chunks
  std::byte* others = nullptr;
  std::size_t others_bytes = 0;
  std::size_t bytes = 0;
};

template <class Key>
HostSortArrays<Key> cut_scratch(void* scratch, const std::vector<std::uint64_t>& chunks,
                                std::uint64_t count) {
  HostSortArrays<Key> arrays;
  ScratchCutter cutter(scratch);
  arrays.arrived = cutter.take<Key>(count);
  if (chunks.size() > 1) arrays.merged = cutter.take<Key>(count);
  arrays.others_bytes = arriving_scratch_bytes<Key>(chunks);
  arrays.others = cutter.take<std::byte>(arrays.others_bytes);
  arrays.bytes = cutter.used_bytes();
  return arrays;
}

}  // namespace

template <class Key>
std::size_t sort_host_array_scratch_bytes(std::uint64_t count) {
  require_count(count, kOperation);
  // More keys may make more, shorter chunks, which need less: what more chunks would need counts.
  std::size_t most = cut_scratch<Key>(nullptr, arriving_chunks(count), count).bytes;
  for (std::uint64_t chunks = 1; chunks < kMostArrivingChunks; ++chunks) {
    const std::uint64_t longest = (chunks + 1) * kLeastArrivingKeys - 1;  // in this many chunks
    if (longest >= count) break;
    most = std::max(most, cut_scratch<Key>(nullptr, arriving_chunks(longest), longest).bytes);
  }
  return most;
}

template <class Key>
void sort_host_array(const KeySort<Key>& sort) {
  const auto& [input, output, count, load_map, store_map, scratch, stream] = sort;
  if (count == 0) return;
  require_count(count, kOperation);
  const std::vector<std::uint64_t> chunks = arriving_chunks(count);
  const HostSortArrays<Key> arrays = cut_scratch<Key>(scratch.memory, chunks, count);
  require_sort_memory(sort, arrays.bytes, kOperation);
  const Stream leaves;  // destroyed when its work is done
  const auto copy_out = [&](const Key* sorted, std::uint64_t begin, std::uint64_t end) {
    order_streams(stream, leaves.get(), kOperation);
    check_cuda(cudaMemcpyAsync(sort.output.keys + begin, sorted + begin,
                               (end - begin) * sizeof(Key), cudaMemcpyDeviceToHost, leaves.get()),
               CudaCall::kCopy, kOperation);
  };
  try {
    sort_arriving_keys<Key>({.input = input.keys,
                             .chunks = chunks,
                             .arrived = arrays.arrived,
                             .merged = arrays.merged,
                             .load_map = load_map,
                             .store_map = store_map,
                             .scratch = {arrays.others, arrays.others_bytes},
                             .stream = stream},
                            std::max(count / kLeavingPieces, kLeastArrivingKeys), copy_out);
    order_streams(leaves.get(), stream, kOperation);
  } catch (...) {
    // No other code can wait for a copy that `stream` does not wait for.
    static_cast<void>(cudaStreamSynchronize(leaves.get()));
    throw;
  }
}

template std::size_t sort_host_array_scratch_bytes<std::uint32_t>(std::uint64_t);
template std::size_t sort_host_array_scratch_bytes<std::uint64_t>(std::uint64_t);
template void sort_host_array(const KeySort<std::uint32_t>&);
template void sort_host_array(const KeySort<std::uint64_t>&);

}  // namespace gsort::gpu
