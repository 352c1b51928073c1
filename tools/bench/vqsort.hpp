// Highway's VQSort as a contender.
#pragma once

#include <cstdint>
#include <span>

namespace gsort::bench {

// Sorts ascending on the calling thread.
void vqsort(std::span<std::uint32_t> keys);
void vqsort(std::span<std::uint64_t> keys);

}  // namespace gsort::bench
