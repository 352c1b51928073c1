#include "gpu/engine/packed_elements.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/merge/device_arrays.hpp"

namespace gsort::gpu {

void require_possible_sizes(const PackedElements& packed) {
  const BlockShape& shape = packed.shape;
  for (std::uint64_t block = 0; block < shape.blocks(); ++block) {
    const std::uint64_t count =
        std::min(shape.block_elements, shape.count - block * shape.block_elements);
    const std::uint32_t bytes = packed.block_bytes[block];
    if (bytes > 0 && bytes <= count * shape.key_bytes) continue;
    throw Error(ErrorKind::kCorrupt, "packing keys",
                fmt::format("{} keys take {} bytes", count, bytes))
        .path("the device's memory")
        .hint("data changed on the GPU or on its bus; use --engine cpu");
  }
}

std::span<const std::uint32_t> PackedElements::sizes_of(std::uint64_t group) const {
  const std::uint64_t begin = group * shape.group_blocks;
  const std::uint64_t end = std::min(begin + shape.group_blocks, shape.blocks());
  return std::span(block_bytes).subspan(begin, end - begin);
}

std::uint64_t PackedElements::keys_of(std::uint64_t group) const {
  const std::uint64_t all = shape.group_blocks * shape.block_elements;
  return std::min(all, shape.count - group * all);
}

ConstByteSpan PackedElements::place_of(std::uint64_t group) const {
  std::uint64_t bytes = 0;
  for (const std::uint32_t size : sizes_of(group)) bytes += round_up(size, kPayloadAlignment);
  return {memory + group * shape.group_bytes(), bytes};
}

std::optional<PackedElements> pack_elements(const SortedElements& sorted,
                                            std::uint64_t element_bytes, const BlockSink& sink,
                                            std::uint64_t group_bytes, const Stream& stream) {
  if (sorted.count == 0 || sorted.room.empty() || sink.packing() == Packing::kOff) return {};
  PackedElements packed;
  BlockShape& shape = packed.shape;
  shape.count = sorted.count;
  shape.block_elements = sink.block_elements();
  shape.key_bytes = element_bytes;
  shape.group_blocks = group_bytes / shape.slot_bytes();
  shape.packing = sink.packing();
  if (shape.group_blocks == 0) return {};
  ScratchCutter room(sorted.room.data());
  auto* const block_bytes = room.take<std::uint32_t>(shape.blocks());
  auto* const memory = room.take<std::byte>(shape.packed_bytes());
  if (room.used_bytes() > sorted.room.size()) return {};

  const auto launch = [&](const auto* keys) {
    launch_pack_blocks(keys, shape, block_bytes, memory, current_architecture(), stream.get());
  };
  if (element_bytes == sizeof(std::uint32_t)) {
    launch(reinterpret_cast<const std::uint32_t*>(sorted.elements));
  } else if (element_bytes == sizeof(UInt128)) {
    launch(reinterpret_cast<const UInt128*>(sorted.elements));
  } else {
    launch(reinterpret_cast<const std::uint64_t*>(sorted.elements));
  }
  packed.memory = memory;
  packed.block_bytes.resize(shape.blocks());
  check_cuda(cudaMemcpyAsync(packed.block_bytes.data(), block_bytes,
                             packed.block_bytes.size() * sizeof(std::uint32_t),
                             cudaMemcpyDeviceToHost, stream.get()),
             CudaCall::kCopy, "copying the sizes of packed blocks from the device");
  stream.wait("sorting and packing keys");
  require_possible_sizes(packed);
  return packed;
}

}  // namespace gsort::gpu
