// Sorting keys in host memory by their width: what sort_keys is made of.
#pragma once

#include <cstdint>
#include <span>

#include "element/key.hpp"

namespace gsort::library {

// Sorts raw keys of `format` in place. Throws: Error(kResource).
void sort_by_engine(std::span<std::uint32_t> keys, const KeyFormat& format, unsigned threads);
void sort_by_engine(std::span<std::uint64_t> keys, const KeyFormat& format, unsigned threads);

// The same for narrow keys: how often each value occurs is all there is to know.
void sort_by_counting(std::span<std::uint8_t> keys, const KeyFormat& format, unsigned threads);
void sort_by_counting(std::span<std::uint16_t> keys, const KeyFormat& format, unsigned threads);

}  // namespace gsort::library
