// TierGroup: the memories of several devices as one. Buffers go round: the first one is in the
// first memory, the next one in the second, so that the buses to all devices carry what is kept, in
// equal shares, whichever device a run was sorted on and will be merged on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/tier_memory.hpp"

namespace gsort::io {

class TierGroup final : public TierMemory {
 public:
  // Memories of the same size, a multiple of `buffer_bytes` at least. Requires: there is one.
  TierGroup(std::vector<std::unique_ptr<TierMemory>> members, std::uint64_t buffer_bytes);

  // Offsets count through the buffers of all memories. Throws: what the memory throws.
  void put(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void get(std::uint64_t offset, std::span<std::byte> bytes) override;

 private:
  // Calls copy(member, offset there, bytes) for each stretch of the range that is in one buffer.
  template <class Byte, class Copy>
  void for_each_stretch(std::uint64_t offset, std::span<Byte> bytes, const Copy& copy);

  std::vector<std::unique_ptr<TierMemory>> members_;
  std::uint64_t buffer_bytes_;
};

}  // namespace gsort::io
