#include "io/runs/tier_group.hpp"

#include <algorithm>
#include <utility>

namespace gsort::io {

TierGroup::TierGroup(std::vector<std::unique_ptr<TierMemory>> members, std::uint64_t buffer_bytes)
    : members_(std::move(members)), buffer_bytes_(buffer_bytes) {}

template <class Byte, class Copy>
void TierGroup::for_each_stretch(std::uint64_t offset, std::span<Byte> bytes, const Copy& copy) {
  while (!bytes.empty()) {
    const std::uint64_t buffer = offset / buffer_bytes_;
    const std::uint64_t begin = offset % buffer_bytes_;
    const std::size_t here = std::min<std::uint64_t>(bytes.size(), buffer_bytes_ - begin);
    copy(*members_[buffer % members_.size()], buffer / members_.size() * buffer_bytes_ + begin,
         bytes.first(here));
    offset += here;
    bytes = bytes.subspan(here);
  }
}

void TierGroup::put(std::uint64_t offset, std::span<const std::byte> bytes) {
  for_each_stretch(offset, bytes, [](TierMemory& member, std::uint64_t place, auto stretch) {
    member.put(place, stretch);
  });
}

void TierGroup::get(std::uint64_t offset, std::span<std::byte> bytes) {
  for_each_stretch(offset, bytes, [](TierMemory& member, std::uint64_t place, auto stretch) {
    member.get(place, stretch);
  });
}

}  // namespace gsort::io
