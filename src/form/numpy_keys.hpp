// Keys for an argsort in NumPy's order: copies whose total order (key.hpp) is that of
// numpy.argsort. They are in the machine's byte order. For floats, -0 becomes +0, and every NaN
// becomes the same NaN, which is the greatest key.
//
// Example: the f32 keys NaN -0 1 -NaN +0 become +NaN +0 1 +NaN +0, and their stable order 1 4 2
// 0 3.
#pragma once

#include <cstddef>
#include <span>

#include "element/key.hpp"

namespace gsort {

// Requires: keys of at most 64 bits, none of them bf16, which NumPy lacks; `to` has room for all.
void copy_for_numpy(std::span<const std::byte> keys, const KeyFormat& format, std::byte* to);

// The number of the first key whose copy is not as described above; the count of keys if all
// are.
[[nodiscard]] std::size_t first_other_for_numpy(std::span<const std::byte> keys,
                                                const KeyFormat& format, const std::byte* copies);

}  // namespace gsort
