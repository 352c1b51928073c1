// Sorting sections of at most kSectionKeys keys, a block each or several a block: the step that
// batch_sort_shared.cu and batch_sort_super.cu share. Kernel: block_section_sort.cu.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "bench/textbook/two_arrays.hpp"

namespace gsort::textbook {

inline constexpr unsigned kSectionKeys = 1024;

// How the arrays of a batch fall into sections, and sections into blocks.
struct SectionShape {
  std::uint64_t array_count = 0;
  std::uint64_t array_keys = 0;
  std::uint64_t sections_per_array = 0;
  unsigned section_keys = 0;        // the last section of an array may have fewer
  unsigned sections_per_block = 0;  // more than one only for arrays of at most half a tile

  [[nodiscard]] static SectionShape of(std::uint64_t array_count, std::uint64_t array_keys) {
    SectionShape shape;
    shape.array_count = array_count;
    shape.array_keys = array_keys;
    shape.section_keys = static_cast<unsigned>(lesser<std::uint64_t>(array_keys, kSectionKeys));
    shape.sections_per_array = (array_keys + shape.section_keys - 1) / shape.section_keys;
    shape.sections_per_block =
        shape.sections_per_array == 1 ? kSectionKeys / shape.section_keys : 1;
    return shape;
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t sections() const {
    return array_count * sections_per_array;
  }
};

// Sorts each section. Key: std::uint8_t, std::int32_t or std::uint64_t.
template <class Key>
void launch_block_section_sort(const Key* in, Key* out, const SectionShape& shape,
                               cudaStream_t stream);

}  // namespace gsort::textbook
