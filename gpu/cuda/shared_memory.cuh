// Shared memory by its 32-bit addresses: with pointers, which have 64 bits, index arithmetic takes
// twice the instructions.
#pragma once

#include <cstdint>

namespace gsort::gpu {

template <class Word>
__device__ unsigned shared_address(const Word* word) {
  return static_cast<unsigned>(__cvta_generic_to_shared(word));
}

// Reads the word `kOffset` bytes behind a byte address of shared memory.
template <unsigned kOffset = 0, class Key>
__device__ void thread_load_shared(unsigned address, Key& key) {
  if constexpr (sizeof(Key) == 4) {
    asm volatile("ld.shared.u32 %0, [%1+%2];" : "=r"(key) : "r"(address), "n"(kOffset) : "memory");
  } else if constexpr (sizeof(Key) == 16) {
    std::uint64_t low;
    std::uint64_t high;
    asm volatile("ld.shared.v2.u64 {%0, %1}, [%2+%3];"
                 : "=l"(low), "=l"(high)
                 : "r"(address), "n"(kOffset)
                 : "memory");
    key = static_cast<Key>(high) << 64 | low;
  } else {
    asm volatile("ld.shared.u64 %0, [%1+%2];" : "=l"(key) : "r"(address), "n"(kOffset) : "memory");
  }
}

}  // namespace gsort::gpu
