// Gives floats that are equal in numeric order the same bits: -0 becomes +0, and every NaN becomes
// the quiet NaN without a sign. For results that do not distinguish equal elements: positions
// (--argsort), and keys of --count, --intersect and --subtract.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "element/element.hpp"

namespace gsort {

// The keys of an element that are floats, except those in total order, which keep their bits.
[[nodiscard]] std::vector<KeyField> floats_in_numeric_order(const ElementFormat& element);

// Gives equal floats the same bits, in place. Requires: `floats` are fields of elements of
// `element_bytes` bytes.
void make_equal_floats_alike(std::span<std::byte> elements, std::size_t element_bytes,
                             std::span<const KeyField> floats);

// The same, and checks that no value has changed. Throws: Error(kCorrupt).
void make_alike_and_check(std::span<std::byte> elements, std::size_t element_bytes,
                          std::span<const KeyField> floats);

// Copies keys for an argsort in NumPy's order. The copies have the machine's byte order, and equal
// floats have the same bits, so that their total order (key.hpp) is that of numpy.argsort.
//
// Example: the f32 keys NaN -0 1 -NaN +0 become NaN +0 1 NaN +0, and their stable order 1 4 2 0 3.
//
// Requires: keys of at most 64 bits, none of them bf16, which NumPy lacks; `to` has room for all.
void copy_for_numpy(std::span<const std::byte> keys, const KeyFormat& format, std::byte* to);

// The index of the first key whose copy is not as described above; the number of keys if there is
// none.
[[nodiscard]] std::size_t first_other_for_numpy(std::span<const std::byte> keys,
                                                const KeyFormat& format, const std::byte* copies);

}  // namespace gsort
