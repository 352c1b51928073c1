// RunCounter: how many elements of sorted runs come up to a value: what is known from the fences,
// which are in memory, what is likely, and the exact count, for which one block of a run is read.
// Searches for cuts narrow them by these (part_splitter.hpp); counts of several processes, each
// with its own runs, can be added up.
//
// Records, and keys of 16 bytes, are counted by their prefixes (ElementFormat::cut_by_prefix()).
// The last block read of each run is kept, since the next question is mostly about its
// neighbourhood; if memory has no room for a block of each, runs share the room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "element/record.hpp"
#include "engine/engine.hpp"
#include "pipeline/run_view.hpp"

namespace gsort {

inline constexpr std::size_t kABlockOfEach = std::numeric_limits<std::size_t>::max();

// Not thread-safe. Movable. The runs outlive it.
class RunCounter {
 public:
  // A least and a most number of elements.
  struct Bounds {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
  };

  // As PartSplitter's.
  RunCounter(RunViewSpan runs, std::uint64_t element_bytes, std::uint64_t block_bytes,
             std::uint64_t scratch_bytes, const std::optional<RecordFormat>& records = {},
             std::size_t most_blocks = kABlockOfEach);

  [[nodiscard]] std::size_t runs() const { return runs_.size(); }
  [[nodiscard]] std::uint64_t elements(std::size_t run) const { return fences_[run].elements(); }
  // None where elements are keys of up to eight bytes.
  [[nodiscard]] const std::optional<RecordOrder>& records() const { return records_; }
  // The greatest value of a key, or of a prefix.
  [[nodiscard]] std::uint64_t greatest_value() const;

  // The bounds, by the fences, of the number of elements of a run that are <= value.
  [[nodiscard]] Bounds bounds_by_fences(std::size_t run, std::uint64_t value) const;

  // How many elements are probably <= value, of a run and of all; keys are taken to be spread
  // evenly between fences.
  [[nodiscard]] double expected_in(std::size_t run, std::uint64_t value) const;
  [[nodiscard]] double expected_up_to(std::uint64_t value) const;

  // How many elements of a run are <= value. `low` and `high` bracket what of the answer may be
  // used; it is one of them where it lies beyond.
  // Throws: Error(kTemporary), Error(kCorrupt) from reading a block.
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

  // How many of the elements [from, to) of a block, from its start, are <= value.
  [[nodiscard]] std::uint64_t count_in_block(ConstByteSpan block, std::uint64_t from,
                                             std::uint64_t to, std::uint64_t value) const;
  [[nodiscard]] ConstByteSpan block_of(std::size_t run, std::size_t block);

  RunViewSpan runs_;
  std::vector<io::RunFences> fences_;
  std::optional<RecordOrder> records_;
  std::uint64_t element_bytes_;
  std::uint64_t block_bytes_;
  std::vector<std::byte> memory_;
  ByteSpan scratch_;                // of memory_; the blocks are behind it
  std::vector<CachedBlock> cache_;  // runs have its places in turn
};

}  // namespace gsort
