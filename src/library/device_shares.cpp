#include "library/device_shares.hpp"

#include <vector>

#include "gpu/shares/shares_sort.hpp"
#include "library/key_types.hpp"

namespace gsort {

template <DeviceKey Key>
std::size_t device_share_scratch_bytes(std::uint64_t count, unsigned shares) {
  return gpu::sort_shares_scratch_bytes<library::Bits<Key>>(count, shares);
}

template <DeviceKey Key>
void sort_device_shares(std::span<const DeviceShare<Key>> shares, Order order) {
  using Bits = library::Bits<Key>;
  std::vector<gpu::DeviceShare<Bits>> of_bits;
  for (const DeviceShare<Key>& share : shares) {
    of_bits.push_back({share.device,
                       reinterpret_cast<Bits*>(share.keys),
                       share.count,
                       {share.scratch.memory, share.scratch.bytes}});
  }
  gpu::sort_shares<Bits>(of_bits, KeyMap<Bits>::of(library::format_of<Key>(order)));
}

template <DeviceKey Key>
std::size_t host_sort_scratch_bytes(std::uint64_t count, unsigned devices) {
  return gpu::sort_host_shares_scratch_bytes<library::Bits<Key>>(count, devices);
}

template <DeviceKey Key>
void sort_host_keys(const Key* input, Key* output, std::uint64_t count, Order order,
                    std::span<const HostSortDevice> devices) {
  using Bits = library::Bits<Key>;
  std::vector<gpu::SharingDevice> sharing;
  for (const HostSortDevice& device : devices) {
    sharing.push_back({device.device, {device.scratch.memory, device.scratch.bytes}});
  }
  gpu::sort_host_shares<Bits>(
      {reinterpret_cast<const Bits*>(input), reinterpret_cast<Bits*>(output), count,
       KeyMap<Bits>::of(library::format_of<Key>(order))},
      sharing);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define GSORT_FOR_KEY(Key)                                                       \
  template std::size_t device_share_scratch_bytes<Key>(std::uint64_t, unsigned); \
  template void sort_device_shares(std::span<const DeviceShare<Key>>, Order);    \
  template std::size_t host_sort_scratch_bytes<Key>(std::uint64_t, unsigned);    \
  template void sort_host_keys(const Key*, Key*, std::uint64_t, Order,           \
                               std::span<const HostSortDevice>);
GSORT_FOR_KEY(std::uint32_t)
GSORT_FOR_KEY(std::int32_t)
GSORT_FOR_KEY(std::uint64_t)
GSORT_FOR_KEY(std::int64_t)
GSORT_FOR_KEY(float)
GSORT_FOR_KEY(double)
#undef GSORT_FOR_KEY
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace gsort
