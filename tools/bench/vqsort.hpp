// Highway's VQSort as a contender; a build without libhwy-contrib lacks it.
#pragma once

#include <cstdint>
#include <span>

namespace gsort::bench {

[[nodiscard]] bool has_vqsort();

// Sorts ascending on the calling thread. Requires: has_vqsort().
void vqsort(std::span<std::uint32_t> keys);
void vqsort(std::span<std::uint64_t> keys);

}  // namespace gsort::bench
