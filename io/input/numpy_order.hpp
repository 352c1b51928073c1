// The keys of an array in memory, for an argsort in NumPy's order (form/numpy_keys.hpp).
#pragma once

#include "io/input/memory_source.hpp"

namespace gsort::io {

// Gives copies of the keys, each compared with its key. Requires: NumPy has keys of this type.
// Reading throws Error(kCorrupt) for a copy of another key.
[[nodiscard]] MemoryInput in_numpy_order(MemoryInput array);

}  // namespace gsort::io
