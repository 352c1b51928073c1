#include "io/runs/tier_group.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace gsort::io {

TierGroup::TierGroup(std::vector<Member> members, std::uint64_t buffer_bytes)
    : members_(std::move(members)), buffer_bytes_(buffer_bytes) {
  std::set<std::uint64_t> sizes;
  for (const Member& member : members_) sizes.insert(member.buffers);
  std::uint64_t begin = 0;
  std::uint64_t place = 0;
  for (const std::uint64_t size : sizes) {
    Level level{begin, place, {}};
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].buffers > place) level.members.push_back(i);
    }
    begin += (size - place) * level.members.size();
    place = size;
    if (!level.members.empty()) levels_.push_back(std::move(level));
  }
}

std::uint64_t TierGroup::buffers() const {
  std::uint64_t sum = 0;
  for (const Member& member : members_) sum += member.buffers;
  return sum;
}

auto TierGroup::place_of(std::uint64_t buffer) const -> Place {
  const Level& level = *std::prev(std::ranges::upper_bound(levels_, buffer, {}, &Level::begin));
  const std::uint64_t turn = buffer - level.begin;
  return {level.members[turn % level.members.size()],
          (level.place + turn / level.members.size()) * buffer_bytes_};
}

template <class Byte, class Copy>
void TierGroup::for_each_stretch(std::uint64_t offset, std::span<Byte> bytes, const Copy& copy) {
  while (!bytes.empty()) {
    const Place place = place_of(offset / buffer_bytes_);
    const std::uint64_t begin = offset % buffer_bytes_;
    const std::size_t here = std::min<std::uint64_t>(bytes.size(), buffer_bytes_ - begin);
    copy(*members_[place.member].memory, place.offset + begin, bytes.first(here));
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
