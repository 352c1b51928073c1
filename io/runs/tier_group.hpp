// TierGroup: the memories of several devices as one. Buffers go round: the first one is in the
// first memory, the next one in the second, so that the buses to all devices share the transfers,
// whichever device a run is sorted and merged on. Full memories are skipped.
//
// Example. Memories of 1, 3 and 2 buffers hold the buffers 0 | 1 3 5 | 2 4: a first level of one
// buffer in each, a second of one in the last two, a third of one in the second.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/tier_memory.hpp"

namespace gsort::io {

class TierGroup final : public TierMemory {
 public:
  struct Member {
    std::unique_ptr<TierMemory> memory;
    std::uint64_t buffers = 0;  // the most that it holds
  };

  // Requires: there is a member.
  TierGroup(std::vector<Member> members, std::uint64_t buffer_bytes);

  // The number of buffers in all members.
  [[nodiscard]] std::uint64_t buffers() const;

  // Offsets count through the buffers of all memories. Throws: what the memory throws.
  void put(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void get(std::uint64_t offset, std::span<std::byte> bytes) override;

 private:
  // Buffers that go round over the same members.
  struct Level {
    std::uint64_t begin = 0;  // its first buffer
    std::uint64_t place = 0;  // of that buffer in its member
    std::vector<std::size_t> members;
  };

  // Where a buffer is.
  struct Place {
    std::size_t member = 0;
    std::uint64_t offset = 0;  // bytes
  };

  [[nodiscard]] Place place_of(std::uint64_t buffer) const;

  // Calls copy(member, offset there, bytes) for each stretch of the range that is in one buffer.
  template <class Byte, class Copy>
  void for_each_stretch(std::uint64_t offset, std::span<Byte> bytes, const Copy& copy);

  std::vector<Member> members_;
  std::uint64_t buffer_bytes_;
  std::vector<Level> levels_;
};

}  // namespace gsort::io
