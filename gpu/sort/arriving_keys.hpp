// Keys that arrive from host memory in chunks: each is sorted while the next ones are on the bus,
// and one pass merges them. Any host code may include this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <cuda_runtime_api.h>

#include "element/key.hpp"
#include "gpu/cuda/scratch.hpp"

namespace gsort::gpu {

// As many as one pass merges, and none so short that its launches would take longer than its copy.
inline constexpr std::uint64_t kMostArrivingChunks = 8;
inline constexpr std::uint64_t kLeastArrivingKeys = std::uint64_t{1} << 21;

// How many of `count` keys each chunk has. If there are kMostArrivingChunks of them, the last two
// are about half and a quarter as long as the others, so that little is left to sort when the last
// keys have arrived. Fewer chunks have equal lengths; the last one also has the remainder.
[[nodiscard]] std::vector<std::uint64_t> arriving_chunks(
    std::uint64_t count, std::uint64_t least_keys = kLeastArrivingKeys);

// For each chunk in turn, calls `copy`, which queues copies on the stream `copies`, then `sort`,
// which queues a sort on `stream`. The sort waits for the copies. Throws: Error(kDevice), with no
// copy under way that `stream` does not wait for.
void queue_arrivals(
    const std::vector<std::uint64_t>& chunks, cudaStream_t stream,
    const std::function<void(std::uint64_t begin, std::uint64_t count, cudaStream_t copies)>& copy,
    const std::function<void(std::uint64_t begin, std::uint64_t count)>& sort);

// Queues a copy from host memory. Throws: Error(kDevice).
template <class T>
void copy_arriving(T* to, const T* from, std::uint64_t count, cudaStream_t stream);

// The memory that sorting and merging the chunks needs beside the arrays of keys.
template <class Key>
[[nodiscard]] std::size_t arriving_scratch_bytes(const std::vector<std::uint64_t>& chunks);

template <class Key>
struct Arrival {
  const Key* input = nullptr;  // host memory, of all chunks
  std::vector<std::uint64_t> chunks;
  Key* arrived = nullptr;  // device memory for as many keys
  Key* merged = nullptr;   // the same; needed for more than one chunk
  KeyMap<Key> load_map{};
  KeyMap<Key> store_map{};
  ScratchMemory scratch{};  // of arriving_scratch_bytes
  cudaStream_t stream = nullptr;
};

// Queues all of it on the stream. Calls queued(sorted, begin, end) for each piece of about
// `piece_keys` sorted keys, in order. `sorted` is the array of all sorted keys; the work that is on
// the stream at the time of the call completes its keys [begin, end). Throws: Error(kDevice), and
// what `queued` throws.
template <class Key>
using SortedPieceQueued =
    std::function<void(const Key* sorted, std::uint64_t begin, std::uint64_t end)>;
template <class Key>
void sort_arriving_keys(const Arrival<Key>& arrival, std::uint64_t piece_keys,
                        const SortedPieceQueued<Key>& queued);

extern template std::size_t arriving_scratch_bytes<std::uint32_t>(
    const std::vector<std::uint64_t>&);
extern template std::size_t arriving_scratch_bytes<std::uint64_t>(
    const std::vector<std::uint64_t>&);
extern template void copy_arriving(std::uint32_t*, const std::uint32_t*, std::uint64_t,
                                   cudaStream_t);
extern template void copy_arriving(std::uint64_t*, const std::uint64_t*, std::uint64_t,
                                   cudaStream_t);
extern template void sort_arriving_keys(const Arrival<std::uint32_t>&, std::uint64_t,
                                        const SortedPieceQueued<std::uint32_t>&);
extern template void sort_arriving_keys(const Arrival<std::uint64_t>&, std::uint64_t,
                                        const SortedPieceQueued<std::uint64_t>&);

}  // namespace gsort::gpu
