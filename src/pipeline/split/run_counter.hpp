// RunCounter: counts the elements of sorted runs that are at most a value: bounds from the fences,
// which are in memory, an estimate, and the exact count, which reads one block of a run. Searches
// for cuts use them (part_splitter.hpp); counts of several processes, each with its own runs, can
// be added up.
//
// Records, and keys of 16 bytes, are counted by their prefixes (ElementFormat::cut_by_prefix()).
// The last block read of each run is kept, since the next count is mostly close to it; if memory
// has no room for a block of each, runs share the room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "element/record.hpp"
#include "engine/engine.hpp"
#include "io/runs/run_store.hpp"

namespace gsort {

// The runs of a merge, which outlive this, and how they are stored.
struct RunsToCut {
  std::span<const io::Run> runs;
  std::uint64_t element_bytes = 0;
  std::uint64_t block_bytes = 0;             // of the elements of a block, at most
  std::uint64_t scratch_bytes = 0;           // the least scratch for reading any run
  std::optional<RecordFormat> records = {};  // if these are cut by their prefixes
};

inline constexpr std::size_t kABlockOfEach = std::numeric_limits<std::size_t>::max();

// Not thread-safe. Movable. The runs outlive it.
class RunCounter {
 public:
  // The least and the greatest possible number of elements.
  struct Bounds {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
  };

  // Takes memory for one block of each run, but at most `most_blocks` blocks, and for the scratch.
  // Requires: most_blocks > 0.
  explicit RunCounter(const RunsToCut& runs, std::size_t most_blocks = kABlockOfEach);

  [[nodiscard]] std::size_t runs() const { return runs_.size(); }
  [[nodiscard]] std::uint64_t elements(std::size_t run) const { return fences_[run].elements(); }
  // None if elements are keys of up to eight bytes.
  [[nodiscard]] const std::optional<RecordOrder>& records() const { return records_; }
  // The greatest value of a key, or of a prefix.
  [[nodiscard]] std::uint64_t greatest_value() const;

  // The bounds, by the fences, of the number of elements of a run that are <= value.
  [[nodiscard]] Bounds bounds_by_fences(std::size_t run, std::uint64_t value) const;

  // The estimated number of elements <= value, in a run and in all; keys are assumed to be spread
  // evenly between fences.
  [[nodiscard]] double expected_in(std::size_t run, std::uint64_t value) const;
  [[nodiscard]] double expected_up_to(std::uint64_t value) const;

  // The number of elements of a run that are <= value, limited to [low, high]. Throws:
  // Error(kTemporary), Error(kCorrupt) from reading a block.
  [[nodiscard]] std::uint64_t count_up_to(std::size_t run, std::uint64_t value, std::uint64_t low,
                                          std::uint64_t high);

  // An element, valid until the next call that reads. Throws: as count_up_to.
  [[nodiscard]] const std::byte* element_at(std::size_t run, std::uint64_t position);
  // Its key, or its prefix. Throws: as count_up_to.
  [[nodiscard]] std::uint64_t value_at(std::size_t run, std::uint64_t position);

 private:
  struct CachedBlock {
    std::size_t run = 0;
    std::size_t block = ~std::size_t{0};
    ConstByteSpan keys;
  };

  // The number of elements <= value in [from, to) of a block, counted from its start.
  [[nodiscard]] std::uint64_t count_in_block(ConstByteSpan block, std::uint64_t from,
                                             std::uint64_t to, std::uint64_t value) const;
  [[nodiscard]] ConstByteSpan block_of(std::size_t run, std::size_t block);

  std::span<const io::Run> runs_;
  std::vector<io::RunFences> fences_;
  std::optional<RecordOrder> records_;
  std::uint64_t element_bytes_;
  std::uint64_t block_bytes_;
  std::vector<std::byte> memory_;
  ByteSpan scratch_;                // of memory_; the blocks are behind it
  std::vector<CachedBlock> cache_;  // runs take its places in turn
};

}  // namespace gsort
