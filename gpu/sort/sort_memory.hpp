// Checks of callers' memory for sorts: elements are sorted in place, or the output lies apart.
// Throws: Error(kUsage).
#pragma once

#include <cstddef>

#include "gpu/cuda/call_memory.hpp"
#include "gpu/sort/device_sort.hpp"

namespace gsort::gpu {

template <class Key, class Value>
void require_sort_memory(const ElementSort<Key, Value>& sort, std::size_t scratch_needed,
                         const char* operation) {
  const auto inputs = extents_of(sort.input, sort.count, kInput);
  const auto outputs = extents_of(sort.output, sort.count);
  require_call_memory({inputs, outputs, true, sort.scratch, scratch_needed, operation});
}

}  // namespace gsort::gpu
