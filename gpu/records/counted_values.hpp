// The values of pairs whose 8- or 16-bit keys are merged by counting (counted_merge.hpp). The keys'
// table says where the pairs of each key begin, in the output and in the first of two arrays: so
// values of one key are two stretches of the arrays that go to one place of the output, one behind
// the other, and a merge of pairs is a copy of stretches.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace gsort::gpu {

template <class Key, class Value>
struct CountedValues {
  const Value* first = nullptr;   // in the order of the first array's keys
  const Value* second = nullptr;  // and of the second's
  Value* output = nullptr;
  std::uint64_t total = 0;  // > 0
  // What launch_counted_merge wrote: kKeyValues + 1 numbers each.
  const std::uint64_t* starts = nullptr;
  const std::uint64_t* first_starts = nullptr;
};

// Queues the move. Throws: Error(kDevice) naming the kernel.
template <class Key, class Value>
void launch_move_values(const CountedValues<Key, Value>& values, unsigned architecture,
                        cudaStream_t stream);

}  // namespace gsort::gpu
