// RunSpace: the files and buffers common to the runs of one store, for run_store.cpp and run.cpp,
// and the order in which blocks lie in them.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/runs/run_files.hpp"
#include "io/runs/run_format.hpp"
#include "io/runs/run_store.hpp"
#include "io/runs/run_tier.hpp"
#include "io/runs/write_buffers.hpp"

namespace gsort::io {

struct RunSpace {
  RunSpace(const std::vector<std::string>& folders, std::size_t element_bytes_in,
           const RunStoreOptions& options);

  [[nodiscard]] static WriteBufferSizes buffer_sizes(const RunStoreOptions& options,
                                                     std::size_t element_bytes);

  // The identity of a block of this store.
  [[nodiscard]] BlockIdentity identity_of(std::uint64_t run, const BlockEntry& entry,
                                          std::uint64_t count) const;

  // The first key of elements, or its prefix: the entry of a block in a run's index.
  [[nodiscard]] std::uint64_t fence_of(ConstByteSpan elements) const;

  // The stored bytes of an extent that begins with the block `first`; none if they could not all be
  // read. They lie in memory, or in `scratch`, which holds bytes + RunFiles::kReadSlack. Throws:
  // Error(kTemporary), Error(kDevice).
  [[nodiscard]] ConstByteSpan stored(const BlockEntry& first, std::size_t bytes, ByteSpan scratch,
                                     std::uint64_t run);

  // Gives the space of the blocks [begin, end) back. Requires: earlier blocks of the same write
  // buffer have been given back before, or are among them. Does nothing for runs of a persistent
  // store, which stay.
  void release(const std::vector<BlockEntry>& blocks, std::size_t begin, std::size_t end) noexcept;
  void release_for_good(const std::vector<BlockEntry>& blocks, std::size_t begin,
                        std::size_t end) noexcept;

  const std::uint64_t id;
  const bool is_persistent;
  const std::size_t element_bytes;
  const std::optional<RecordOrder> records;
  const std::uint64_t block_elements;
  const std::uint64_t block_bytes;  // the most a block takes
  const Packing packing;
  std::atomic<std::uint64_t> next_run;
  std::atomic<std::uint64_t> key_bytes_put{0};
  RunFiles files;
  const std::shared_ptr<TierMemory> tier_memory;
  RunTier tier;
  WriteBuffers write_buffers;

 private:
  // A stretch that begins with the block `first`.
  void give_back(const BlockEntry& first, std::uint64_t bytes) noexcept;
};

// Blocks that lie one after the other in one place: `count` blocks of a storage order, from number
// `first` on.
struct Extent {
  std::size_t first = 0;
  std::size_t count = 0;
  std::uint64_t bytes = 0;
};

// The numbers of the blocks [begin, end) in the order in which they are stored.
[[nodiscard]] std::vector<std::size_t> storage_order(const std::vector<BlockEntry>& blocks,
                                                     std::size_t begin, std::size_t end);

// The extent that begins with number `first` of the order, of at most `most_bytes`, but at least
// one block. A block in host memory is an extent of its own.
[[nodiscard]] Extent extent_at(const std::vector<BlockEntry>& blocks,
                               const std::vector<std::size_t>& order, std::size_t first,
                               std::uint64_t most_bytes);

}  // namespace gsort::io
