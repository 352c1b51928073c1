// Copies from device memory to shared memory that no thread waits for, until it says so. A copy
// moves 4 or 8 bytes; the hardware has none of 1 or 2, which go by way of a register. A thread's
// wait is for its own copies.
#pragma once

#include <cstdint>

namespace gsort::gpu {

template <class Key>
__device__ void thread_copy_async(Key* shared, const Key* global) {
  if constexpr (sizeof(Key) < 4) {
    *shared = *global;
  } else {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(global),
                 "n"(sizeof(Key))
                 : "memory");
  }
}

__device__ inline void thread_wait_for_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

}  // namespace gsort::gpu
