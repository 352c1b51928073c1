// Checks of callers' memory for sorts of many arrays of pairs. Throws: Error(kUsage).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "gpu/cuda/call_memory.hpp"
#include "gpu/segmented/device_pair_batch.hpp"

namespace gsort::gpu {

inline constexpr const char* kPairBatchOperation = "sorting a batch of pairs on the GPU";

// Requires: count > 0, the pairs of all arrays.
template <class Key, class Value>
void require_batch_memory(const PairBatchSort<Key, Value>& sort, std::uint64_t count,
                          std::size_t scratch_needed) {
  const ArrayPlaces& arrays = sort.arrays;
  if (arrays.array_count == 0) {
    throw Error(ErrorKind::kUsage, kPairBatchOperation, "pairs, but no arrays");
  }
  // A word then has neither the key of its pair nor the place of that key.
  if (sort.keys_out != nullptr && sort.takes_numbers && sort.map.folds_classes) {
    throw Error(ErrorKind::kUsage, kPairBatchOperation,
                "floats in numeric order cannot be written with their numbers");
  }
  const std::array outputs{
      extent_of(sort.values_out, count, "the output's values"),
      extent_of(sort.keys_out, sort.keys_out == nullptr ? 0 : count, "the output's keys")};
  const std::array inputs{
      extent_of(sort.keys_in, count, "the input's keys"),
      extent_of(sort.values_in, sort.takes_numbers ? 0 : count, "the input's values"),
      extent_of(arrays.offsets, arrays.offsets == nullptr ? 0 : arrays.array_count + 1,
                "the offsets")};
  require_call_memory({inputs, outputs, false, sort.scratch, scratch_needed, kPairBatchOperation});
}

}  // namespace gsort::gpu
