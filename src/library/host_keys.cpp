// The functions of device_keys.hpp for keys in host memory.
#include "gpu/sort/host_array_sort.hpp"
#include "library/device_bits.hpp"

namespace gsort {

using library::Bits;
using library::bits_at;
using library::complete;

template <DeviceKeyOf32Or64Bits Key>
std::size_t host_sort_scratch_bytes(std::uint64_t count) {
  return gpu::sort_host_array_scratch_bytes<Bits<Key>>(count);
}

template <DeviceKeyOf32Or64Bits Key>
void sort_host_keys(const Key* input, Key* output, std::uint64_t count, Order order,
                    const DeviceScratch& scratch, DeviceStream stream) {
  gpu::KeySort<Bits<Key>> sort{.input = bits_at(input), .output = bits_at(output), .count = count};
  complete<Key>(sort, order, scratch, stream);
  gpu::sort_host_array(sort);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define GSORT_FOR_KEY(Key)                                                                   \
  template std::size_t host_sort_scratch_bytes<Key>(std::uint64_t);                          \
  template void sort_host_keys(const Key*, Key*, std::uint64_t, Order, const DeviceScratch&, \
                               DeviceStream);
GSORT_FOR_KEYS_OF_32_AND_64_BITS(GSORT_FOR_KEY)
#undef GSORT_FOR_KEY
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace gsort
