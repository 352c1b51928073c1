// Kernels that make words of keys of 8 and 16 bits, and keys of words.
//
// Threads: thread t of a block has the block's elements t, t + kThreads, and so on.
// Bytes an element: key + 4.
#include "base/units.hpp"
#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/widths/launch.hpp"

namespace gsort::gpu {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kPerThread = 4;
constexpr unsigned kPerBlock = kThreads * kPerThread;

LaunchShape shape_for(std::uint64_t count, cudaStream_t stream) {
  return {static_cast<unsigned>(div_up(count, kPerBlock)), kThreads, 0, current_architecture(),
          stream};
}

// Calls f with the number of each element of this thread.
template <class F>
__device__ void thread_each(std::uint64_t count, const F& f) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kPerBlock + threadIdx.x;
#pragma unroll
  for (unsigned step = 0; step < kPerThread; ++step) {
    const std::uint64_t i = first + step * kThreads;
    if (i < count) f(i);
  }
}

template <class Key>
__global__ void __launch_bounds__(kThreads)
    widen_kernel(const Key* keys, std::uint64_t count, const KeyMap<Key> map,
                 std::uint32_t* words) {
  grid_begin();
  thread_each(count, [&](std::uint64_t i) { words[i] = map.to_ordered(keys[i]); });
}

template <class Key>
__global__ void __launch_bounds__(kThreads)
    narrow_kernel(const std::uint32_t* words, std::uint64_t count, const KeyMap<Key> map,
                  Key* keys) {
  grid_begin();
  thread_each(count, [&](std::uint64_t i) { keys[i] = map.to_raw(static_cast<Key>(words[i])); });
}

}  // namespace

template <class Key>
void launch_widen(const Key* keys, std::uint64_t count, const KeyMap<Key>& map,
                  std::uint32_t* words, cudaStream_t stream) {
  if (count == 0) return;
  launch_kernel(widen_kernel<Key>, shape_for(count, stream), "launching widen_kernel", keys, count,
                map, words);
}

template <class Key>
void launch_narrow(const std::uint32_t* words, std::uint64_t count, const KeyMap<Key>& map,
                   Key* keys, cudaStream_t stream) {
  if (count == 0) return;
  launch_kernel(narrow_kernel<Key>, shape_for(count, stream), "launching narrow_kernel", words,
                count, map, keys);
}

#define GSORT_NARROW(Key)                                                                    \
  template void launch_widen(const Key*, std::uint64_t, const KeyMap<Key>&, std::uint32_t*,  \
                             cudaStream_t);                                                  \
  template void launch_narrow(const std::uint32_t*, std::uint64_t, const KeyMap<Key>&, Key*, \
                              cudaStream_t)
GSORT_NARROW(std::uint8_t);
GSORT_NARROW(std::uint16_t);
#undef GSORT_NARROW

}  // namespace gsort::gpu
