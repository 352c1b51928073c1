// The launches of key_words.cu and counted_keys.cu. Each queues one kernel on `stream` and checks
// the launch. Throws: Error(kDevice) naming the kernel.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "base/host_device.hpp"
#include "element/key.hpp"
#include "gpu/sort/device_sort.hpp"

namespace gsort::gpu {

// Two arrays as one: the elements of the first, then those of the second.
template <class T>
struct TwoArrays {
  const T* first = nullptr;
  std::uint64_t first_count = 0;
  const T* second = nullptr;

  [[nodiscard]] GSORT_HOST_DEVICE const T& operator[](std::uint64_t i) const {
    return i < first_count ? first[i] : second[i - first_count];
  }
};

// The number of different keys.
template <class Key>
inline constexpr unsigned kNumbers = 1U << 8 * sizeof(Key);

// Counts of a sort by counting, in device memory: how often each number occurs, and where it
// begins; after the last number, the count of all keys.
struct NumberCounts {
  std::uint64_t* counts = nullptr;
  std::uint64_t* begins = nullptr;
};

// Does what sort_keys does, for a count > 0; the scratch memory of `sort` is not used.
template <class Key>
void launch_counted_sort(const KeySort<Key>& sort, const NumberCounts& places);

// words[i] = the ordered number of key i.
template <class Key>
void launch_widen(const Key* keys, std::uint64_t count, const KeyMap<Key>& map,
                  std::uint32_t* words, cudaStream_t stream);

// keys[i] = the key of the ordered number words[i].
template <class Key>
void launch_narrow(const std::uint32_t* words, std::uint64_t count, const KeyMap<Key>& map,
                   Key* keys, cudaStream_t stream);

// words[i] = 64 bits of the ordered number of key order[i], from bit `shift` on; of key i, if there
// is no order.
template <class Index>
void launch_read_halves(const TwoArrays<UInt128>& keys, const Index* order, std::uint64_t count,
                        const KeyMap<UInt128>& map, unsigned shift, std::uint64_t* words,
                        cudaStream_t stream);

// From keys as they were given to keys as they leave.
struct WideMaps {
  KeyMap<UInt128> load{};
  KeyMap<UInt128> store{};
};

// to[i] = key order[i], mapped; key i, if there is no order.
template <class Index>
void launch_gather_wide_keys(const TwoArrays<UInt128>& keys, const Index* order,
                             std::uint64_t count, const WideMaps& maps, UInt128* to,
                             cudaStream_t stream);

// to[i] = values[order[i]].
template <class Value, class Index>
void launch_gather_values(const TwoArrays<Value>& values, const Index* order, std::uint64_t count,
                          Value* to, cudaStream_t stream);

}  // namespace gsort::gpu
