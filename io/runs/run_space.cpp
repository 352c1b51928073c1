#include "io/runs/run_space.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <tuple>

#include "base/units.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {

WriteBufferSizes RunSpace::buffer_sizes(const RunStoreOptions& options, std::size_t element_bytes) {
  WriteBufferSizes sizes;
  sizes.buffer_bytes = round_up(
      std::max(options.write_buffer_bytes, most_block_bytes(options.block_elements, element_bytes)),
      kDirectAlignment);
  sizes.open_buffers = std::max(options.write_buffers, 1U);
  sizes.kept_buffers = options.persistent ? 0 : options.kept_buffers;
  return sizes;
}

RunSpace::RunSpace(const std::vector<std::string>& folders, std::size_t element_bytes_in,
                   const RunStoreOptions& options)
    : id(options.persistent ? options.persistent->store : sys::random_number()),
      is_persistent(options.persistent.has_value()),
      element_bytes(element_bytes_in),
      records(options.records),
      block_elements(options.block_elements),
      block_bytes(most_block_bytes(options.block_elements, element_bytes_in)),
      packing(options.packing),
      next_run(options.persistent ? options.persistent->next_run : 0),
      files(folders, options),
      tier_memory(options.tier),
      tier(tier_memory.get(), is_persistent || !tier_memory ? 0 : options.tier_buffers,
           buffer_sizes(options, element_bytes_in).buffer_bytes),
      write_buffers(files, tier, buffer_sizes(options, element_bytes_in)) {}

BlockIdentity RunSpace::identity_of(std::uint64_t run, const BlockEntry& entry,
                                    std::uint64_t count) const {
  return {id,
          run,
          entry.position,
          entry.first_key,
          static_cast<std::uint32_t>(count),
          static_cast<std::uint32_t>(element_bytes),
          records.has_value()};
}

std::uint64_t RunSpace::fence_of(ConstByteSpan elements) const {
  return records ? records->prefix_of(elements.data()) : first_key_of(elements, element_bytes);
}

ConstByteSpan RunSpace::stored(const BlockEntry& first, std::size_t bytes, ByteSpan scratch,
                               std::uint64_t run) {
  if (first.folder == kInMemory) return write_buffers.kept(first.offset, bytes);
  if (first.folder == kInTier) return tier.read(first.offset, bytes, scratch);
  return files.read(first.folder, first.offset, bytes, scratch, run);
}

void RunSpace::release(const std::vector<BlockEntry>& blocks, std::size_t begin,
                       std::size_t end) noexcept {
  if (!is_persistent) release_for_good(blocks, begin, end);
}

void RunSpace::release_for_good(const std::vector<BlockEntry>& blocks, std::size_t begin,
                                std::size_t end) noexcept {
  try {
    const std::vector<std::size_t> order = storage_order(blocks, begin, end);
    for (std::size_t at = 0; at < order.size();) {
      const Extent extent = extent_at(blocks, order, at, UINT64_MAX);
      give_back(blocks[order[at]], extent.bytes);
      at += extent.count;
    }
  } catch (const std::bad_alloc&) {
    // No memory to sort them: gives back one by one, which keeps the pages that neighbours share.
    for (std::size_t at = begin; at < end; ++at) give_back(blocks[at], blocks[at].stored_bytes);
  }
}

void RunSpace::give_back(const BlockEntry& first, std::uint64_t bytes) noexcept {
  if (first.folder == kInMemory) {
    write_buffers.release(first.offset, bytes);
  } else if (first.folder == kInTier) {
    tier.release(first.offset, bytes);
  } else {
    files.release(first.folder, first.offset, bytes);
  }
}

std::vector<std::size_t> storage_order(const std::vector<BlockEntry>& blocks, std::size_t begin,
                                       std::size_t end) {
  std::vector<std::size_t> order(end - begin);
  std::iota(order.begin(), order.end(), begin);
  const auto place = [&](std::size_t block) {
    return std::tuple(blocks[block].folder, blocks[block].offset);
  };
  std::ranges::sort(order, {}, place);
  return order;
}

Extent extent_at(const std::vector<BlockEntry>& blocks, const std::vector<std::size_t>& order,
                 std::size_t first, std::uint64_t most_bytes) {
  const BlockEntry& start = blocks[order[first]];
  Extent extent{first, 1, start.stored_bytes};
  while (start.folder != kInMemory && first + extent.count < order.size()) {
    const BlockEntry& next = blocks[order[first + extent.count]];
    if (next.folder != start.folder || next.offset != start.offset + extent.bytes ||
        extent.bytes + next.stored_bytes > most_bytes) {
      break;
    }
    extent.bytes += next.stored_bytes;
    ++extent.count;
  }
  return extent;
}

}  // namespace gsort::io
