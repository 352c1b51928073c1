// The launches of the kernels for records: what stands between records of any size and the sort of
// pairs. Each queues one kernel on `stream` and checks the launch.
// Throws: Error(kDevice) naming the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/record_word.hpp"

namespace gsort::gpu {

// Writes numbers[i] = i.
void launch_count_up(std::uint32_t* numbers, std::uint64_t count, cudaStream_t stream);

// Writes words[i], the word of record number numbers[i].
void launch_read_words(const std::byte* records, std::uint32_t record_bytes, const RecordWord& word,
                       const std::uint32_t* numbers, std::uint64_t count, std::uint64_t* words,
                       cudaStream_t stream);

// Copies record number numbers[i] to place i of `to`, which does not overlap `records`.
void launch_gather_records(const std::byte* records, std::uint32_t record_bytes,
                           const std::uint32_t* numbers, std::uint64_t count, std::byte* to,
                           cudaStream_t stream);

}  // namespace gsort::gpu
