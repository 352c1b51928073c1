// Runs CUDA kernels on the CPU, so that tests reach them where there is no GPU: every thread of a
// block is a fiber, the blocks of a grid run one after the other. Threads go on in random order
// between two barriers, from a fixed seed, so that a missing barrier shows as a wrong result; a
// barrier or exchange that not all its threads reach is an error. Only a GPU shows what threads of
// different blocks do to each other, and all that depends on time.
//
// include/cuda_runtime.h is what kernels see of this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

namespace emulator {

inline constexpr unsigned kMostThreads = 1024;
inline constexpr unsigned kMostSharedBytes = 227U << 10;  // dynamic, of a block
inline constexpr int kMultiprocessors = 3;

struct Extent {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;

  constexpr Extent() = default;
  constexpr Extent(unsigned count) : x(count) {}  // NOLINT(google-explicit-constructor): as dim3
};

// The places of the thread that runs now.
// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's
extern thread_local Extent threadIdx;
extern thread_local Extent blockIdx;
extern thread_local Extent blockDim;
extern thread_local Extent gridDim;
// NOLINTEND(readability-identifier-naming)

struct GridShape {
  Extent blocks;
  Extent threads;
  std::size_t shared_bytes = 0;  // dynamic memory of a block
};

// Calls `kernel` as every thread of the grid, and returns when all have ended. Throws:
// std::logic_error for a block whose threads wait for each other forever.
void run_grid(const GridShape& shape, const std::function<void()>& kernel);

// Functions for threads.

[[nodiscard]] inline unsigned lane() {
  return threadIdx.x % 32;
}

// Waits for all threads of the block that have not ended. Returns: how many said yes.
unsigned wait_for_block(bool says_yes);

// Waits for the lanes of `mask`, of the same warp. Returns: what each of them gave, valid until the
// thread's next call.
const std::array<std::uint64_t, 32>& exchange(unsigned mask, std::uint64_t value);

// The value that lane `source` gave.
template <class T>
T value_of(unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = exchange(mask, bits)[source];
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

// The block's dynamic memory by 32-bit addresses. Throws: std::logic_error for what lies outside.
[[nodiscard]] unsigned shared_address(const void* memory);
[[nodiscard]] const void* shared_memory(unsigned address, std::size_t bytes);

}  // namespace emulator
