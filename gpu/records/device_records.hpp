// Sorting records that lie in device memory, on a stream, stably, by keys of any form
// (element/record.hpp). Any host code may include this file.
//
// The means is the stable sort of pairs (device_pairs.hpp): keys are words of eight bytes of the
// normalised keys, values the records' numbers. It runs once for each word, from the last to the
// first, as a radix sort runs over digits; a key of up to eight bytes takes one pass. Then the
// records are copied, once, to their places.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/record.hpp"
#include "gpu/cuda/scratch.hpp"

namespace gsort::gpu {

// The most records of one sort: their numbers have 32 bits.
inline constexpr std::uint64_t kMostDeviceRecords = ~std::uint32_t{0};

// Device memory that sort_records needs for `count` records: 24 bytes for each, and a few per cent.
// Never less for a larger count. Throws: Error(kUsage) for more than kMostDeviceRecords.
[[nodiscard]] std::size_t sort_records_scratch_bytes(std::uint64_t count);

// Sorts `count` records of input into output; records that are equal in order keep it. Requires:
// input and output do not overlap, scratch is apart from both. All of it stays alive and untouched
// until the stream has passed this work. Throws: Error(kUsage), with nothing queued, for null
// pointers with a count, overlap, too many records and too little scratch; Error(kDevice) naming
// the operation when CUDA fails.
void sort_records(const RecordOrder& order, const std::byte* input, std::byte* output,
                  std::uint64_t count, const ScratchMemory& scratch, cudaStream_t stream);

}  // namespace gsort::gpu
