#include "library/device_shares.hpp"

#include <vector>

#include "gpu/shares/shares_sort.hpp"
#include "library/device_bits.hpp"

namespace gsort {

using library::Bits;
using library::bits_at;
using library::map_of;

template <DeviceKey Key>
std::size_t device_share_scratch_bytes(std::uint64_t count, unsigned shares) {
  return gpu::sort_shares_scratch_bytes<Bits<Key>>(count, shares);
}

template <DeviceKey Key>
void sort_device_shares(std::span<const DeviceShare<Key>> shares, Order order) {
  std::vector<gpu::DeviceShare<Bits<Key>>> of_bits;
  for (const DeviceShare<Key>& share : shares) {
    of_bits.push_back({share.device,
                       bits_at(share.keys),
                       share.count,
                       {share.scratch.memory, share.scratch.bytes}});
  }
  gpu::sort_shares<Bits<Key>>(of_bits, map_of<Key>(order));
}

template <DeviceKey Key>
std::size_t host_sort_scratch_bytes(std::uint64_t count, unsigned devices) {
  return gpu::sort_host_shares_scratch_bytes<Bits<Key>>(count, devices);
}

template <DeviceKey Key>
void sort_host_keys(const Key* input, Key* output, std::uint64_t count, Order order,
                    std::span<const HostSortDevice> devices) {
  std::vector<gpu::SharingDevice> sharing;
  for (const HostSortDevice& device : devices) {
    sharing.push_back({device.device, {device.scratch.memory, device.scratch.bytes}});
  }
  gpu::sort_host_shares<Bits<Key>>({bits_at(input), bits_at(output), count, map_of<Key>(order)},
                                   sharing);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define GSORT_FOR_KEY(Key)                                                       \
  template std::size_t device_share_scratch_bytes<Key>(std::uint64_t, unsigned); \
  template void sort_device_shares(std::span<const DeviceShare<Key>>, Order);    \
  template std::size_t host_sort_scratch_bytes<Key>(std::uint64_t, unsigned);    \
  template void sort_host_keys(const Key*, Key*, std::uint64_t, Order,           \
                               std::span<const HostSortDevice>);
GSORT_FOR_DEVICE_KEYS(GSORT_FOR_KEY)
#undef GSORT_FOR_KEY
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace gsort
