// The keys of an array in memory, for an argsort in NumPy's order (form/equal_floats.hpp).
#pragma once

#include "io/input/memory_source.hpp"

namespace gsort::io {

// Copies keys and compares each copy with its key. Requires: NumPy has keys of this type.
// Reading throws Error(kCorrupt) if a copy differs from its key.
[[nodiscard]] MemoryInput in_numpy_order(MemoryInput array);

}  // namespace gsort::io
