// Sorted elements that a run will keep, packed on the device in the blocks of the run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/engine/device_work.hpp"
#include "gpu/engine/packed_blocks.hpp"

namespace gsort::gpu {

// They lie in the room of the elements they were made of.
struct PackedElements {
  BlockShape shape;
  const std::byte* memory = nullptr;
  std::vector<std::uint32_t> block_bytes;  // of each block

  // The packed size of each block of a group, and the place of the blocks on the device.
  [[nodiscard]] std::span<const std::uint32_t> sizes_of(std::uint64_t group) const;
  [[nodiscard]] ConstByteSpan place_of(std::uint64_t group) const;
  [[nodiscard]] std::uint64_t keys_of(std::uint64_t group) const;
};

// Copies to the host are as long as these sizes say, which come from the device.
// Throws: Error(kCorrupt) if one cannot be.
void require_possible_sizes(const PackedElements& packed);

// Packs as `sink` wants them; groups take at most `group_bytes` on the device. Nothing if they stay
// plain: by their kind, because the sink keeps all plain, or for want of room. Waits for the work
// queued on `stream` before. Throws: Error(kDevice); Error(kCorrupt) if sizes come from the device
// that cannot be.
[[nodiscard]] std::optional<PackedElements> pack_elements(const SortedElements& sorted,
                                                          std::uint64_t element_bytes,
                                                          const BlockSink& sink,
                                                          std::uint64_t group_bytes,
                                                          const Stream& stream);

}  // namespace gsort::gpu
