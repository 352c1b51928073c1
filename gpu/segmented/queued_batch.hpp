// Queues a batch sort of keys or pairs (batch_ends.hpp), once the call is checked. The essay is in
// device_batch.cpp. Host code.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include "gpu/cuda/scratch.hpp"
#include "gpu/segmented/batch_ends.hpp"
#include "gpu/segmented/device_batch.hpp"

namespace gsort::gpu {

template <class Ends>
struct QueuedBatch {
  Ends ends;
  ArrayPlaces arrays;
  ScratchMemory scratch;  // of batch_scratch_bytes(arrays)
  cudaStream_t stream = nullptr;
};

// Device memory that a batch needs. Ends: KeyEnds of 32 or 64 bits, or PairEnds.
template <class Ends>
[[nodiscard]] std::size_t batch_scratch_bytes(const ArrayPlaces& arrays);

// Requires: arrays with elements. Throws: Error(kDevice) naming the operation.
template <class Ends>
void queue_batch(const QueuedBatch<Ends>& batch);

}  // namespace gsort::gpu
