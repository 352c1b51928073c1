// The lanes of wide_co_rank.hpp on the device.
#pragma once

namespace gsort::gpu {

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
