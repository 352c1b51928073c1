// Packing and unpacking the blocks of runs (element/packed_keys.hpp) on the device, so that the bus
// carries packed keys, and the host's cores have to pack and unpack few of them: where blocks or
// parts do not fit, and at the ends of parts.
//
// Keys on their way to a run: each block of them is measured and packed by a block of threads, into
// a slot that it would fill if it stayed plain. Slots in groups: in each the packed blocks lie one
// behind the other, so that one copy brings them all.
//
//   keys     | block 0  | block 1  | block 2  | block 3  | block 4 |
//   packed   | 0  | 1    | 2 |          | 3 | 4   |         groups of three slots
//   bytes    | of 0 | of 1 | of 2 | of 3 | of 4 |
//
// Slices on their way to a merge: each piece of a part, some keys of a stored block, is unpacked by
// a block of threads to where a merge expects it.
//
// Cost. On an H200, 522 MB of sorted random keys are measured in 0.14 ms (u32) and 0.12 (u64) and
// packed in 0.27 and 0.28; a part that has 106 MB written to memory is unpacked in 0.06 and 0.09.
// So packing is more than twenty times as fast as the bus.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "base/units.hpp"
#include "element/packing.hpp"
#include "element/stored_keys.hpp"

namespace gsort::gpu {

// How the keys are cut, and where their blocks go.
struct BlockShape {
  std::uint64_t count = 0;           // of keys, > 0
  std::uint64_t block_elements = 0;  // of each block but the last, > 0
  std::uint64_t group_blocks = 0;    // slots of a group, > 0
  std::uint64_t key_bytes = 0;       // 4, 8 or 16
  Packing packing = Packing::kAuto;

  [[nodiscard]] constexpr std::uint64_t blocks() const { return div_up(count, block_elements); }
  [[nodiscard]] constexpr std::uint64_t groups() const { return div_up(blocks(), group_blocks); }
  [[nodiscard]] constexpr std::uint64_t slot_bytes() const {
    return round_up(block_elements * key_bytes, kPayloadAlignment);
  }
  [[nodiscard]] constexpr std::uint64_t group_bytes() const { return group_blocks * slot_bytes(); }
  [[nodiscard]] constexpr std::uint64_t packed_bytes() const { return blocks() * slot_bytes(); }
};

// Queues the packing of ordered, ascending keys. Ensures: block_bytes[i] is what block i takes,
// which is packed if that is less than its keys take; it begins behind those of its group in
// `packed`, each at a multiple of kPayloadAlignment. `packed` holds shape.packed_bytes(), apart
// from the keys. Throws: Error(kDevice) naming the kernel.
template <class Key>
void launch_pack_blocks(const Key* keys, const BlockShape& shape, std::uint32_t* block_bytes,
                        std::byte* packed, unsigned architecture, cudaStream_t stream);

// Queues the unpacking of `piece_count` > 0 pieces, of payloads in `stored`, to `keys`.
// Requires: payloads as check_block() in io/runs/run_format.hpp has found them right.
// Throws: Error(kDevice) naming the kernel.
template <class Key>
void launch_unpack_blocks(const std::byte* stored, const StoredKeys* pieces,
                          std::uint64_t piece_count, Key* keys, unsigned architecture,
                          cudaStream_t stream);

}  // namespace gsort::gpu
