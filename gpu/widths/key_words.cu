// Kernels that make words of keys of 8, 16 and 128 bits, and keys of words.
//
// Threads: thread t of a block has the block's elements t, t + kThreads, and so on.
// Bytes an element: widen and narrow key + 4; read_halves 24, and an index; the gathers twice the
// element, and an index. Gathers read wherever the order leads.
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

template <class Index>
__global__ void __launch_bounds__(kThreads)
    read_halves_kernel(const TwoArrays<UInt128> keys, const Index* order, std::uint64_t count,
                       const KeyMap<UInt128> map, unsigned shift, std::uint64_t* words) {
  grid_begin();
  thread_each(count, [&](std::uint64_t i) {
    const UInt128 key = map.to_ordered(keys[order == nullptr ? i : order[i]]);
    words[i] = static_cast<std::uint64_t>(key >> shift);
  });
}

template <class Index>
__global__ void __launch_bounds__(kThreads)
    gather_wide_keys_kernel(const TwoArrays<UInt128> keys, const Index* order, std::uint64_t count,
                            const WideMaps maps, UInt128* to) {
  grid_begin();
  thread_each(count, [&](std::uint64_t i) {
    to[i] = maps.store.to_raw(maps.load.to_ordered(keys[order == nullptr ? i : order[i]]));
  });
}

template <class Value, class Index>
__global__ void __launch_bounds__(kThreads)
    gather_values_kernel(const TwoArrays<Value> values, const Index* order, std::uint64_t count,
                         Value* to) {
  grid_begin();
  thread_each(count, [&](std::uint64_t i) { to[i] = values[order[i]]; });
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

template <class Index>
void launch_read_halves(const TwoArrays<UInt128>& keys, const Index* order, std::uint64_t count,
                        const KeyMap<UInt128>& map, unsigned shift, std::uint64_t* words,
                        cudaStream_t stream) {
  if (count == 0) return;
  launch_kernel(read_halves_kernel<Index>, shape_for(count, stream), "launching read_halves_kernel",
                keys, order, count, map, shift, words);
}

template <class Index>
void launch_gather_wide_keys(const TwoArrays<UInt128>& keys, const Index* order,
                             std::uint64_t count, const WideMaps& maps, UInt128* to,
                             cudaStream_t stream) {
  if (count == 0) return;
  launch_kernel(gather_wide_keys_kernel<Index>, shape_for(count, stream),
                "launching gather_wide_keys_kernel", keys, order, count, maps, to);
}

template <class Value, class Index>
void launch_gather_values(const TwoArrays<Value>& values, const Index* order, std::uint64_t count,
                          Value* to, cudaStream_t stream) {
  if (count == 0) return;
  launch_kernel(gather_values_kernel<Value, Index>, shape_for(count, stream),
                "launching gather_values_kernel", values, order, count, to);
}

#define GSORT_NARROW(Key)                                                                    \
  template void launch_widen(const Key*, std::uint64_t, const KeyMap<Key>&, std::uint32_t*,  \
                             cudaStream_t);                                                  \
  template void launch_narrow(const std::uint32_t*, std::uint64_t, const KeyMap<Key>&, Key*, \
                              cudaStream_t)
GSORT_NARROW(std::uint8_t);
GSORT_NARROW(std::uint16_t);
#undef GSORT_NARROW

#define GSORT_WIDE(Index)                                                                          \
  template void launch_read_halves(const TwoArrays<UInt128>&, const Index*, std::uint64_t,         \
                                   const KeyMap<UInt128>&, unsigned, std::uint64_t*,               \
                                   cudaStream_t);                                                  \
  template void launch_gather_wide_keys(const TwoArrays<UInt128>&, const Index*, std::uint64_t,    \
                                        const WideMaps&, UInt128*, cudaStream_t);                  \
  template void launch_gather_values(const TwoArrays<std::uint32_t>&, const Index*, std::uint64_t, \
                                     std::uint32_t*, cudaStream_t);                                \
  template void launch_gather_values(const TwoArrays<std::uint64_t>&, const Index*, std::uint64_t, \
                                     std::uint64_t*, cudaStream_t)
GSORT_WIDE(std::uint32_t);
GSORT_WIDE(std::uint64_t);
#undef GSORT_WIDE

}  // namespace gsort::gpu
