// The lanes of wide_co_rank.hpp on the device, and what threads of a warp tell each other of keys.
#pragma once

#include <cstdint>

namespace gsort::gpu {

// Calls shuffle(part), which returns another thread's part, for a value of up to 64 bits, or for
// both halves of a wider one.
template <class Value, class Shuffle>
__device__ Value thread_shuffle(Value value, const Shuffle& shuffle) {
  if constexpr (sizeof(Value) > sizeof(std::uint64_t)) {
    const std::uint64_t high = shuffle(static_cast<std::uint64_t>(value >> 64));
    return static_cast<Value>(high) << 64 | shuffle(static_cast<std::uint64_t>(value));
  } else {
    return shuffle(value);
  }
}

// kLanes neighbouring threads of a warp. Requires: all of them call together.
template <unsigned kLanes>
struct WarpLanes {
  static constexpr unsigned kCount = kLanes;

  template <class Question>
  [[nodiscard]] __device__ unsigned count(const Question& question) const {
    const unsigned first = threadIdx.x % 32 & ~(kLanes - 1);
    const unsigned members = (kLanes == 32 ? 0xffffffffU : (1U << kLanes % 32) - 1) << first;
    const bool answer = question(threadIdx.x % kLanes);
    return static_cast<unsigned>(__popc(static_cast<int>(__ballot_sync(members, answer))));
  }
};

}  // namespace gsort::gpu
