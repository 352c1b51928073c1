// RunFences: the part of a run that is always in memory: the first key and the position of each
// block. They tell which blocks hold a key or a position without reading.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "io/runs/block_entry.hpp"

namespace gsort::io {

// A view: the run's index outlives it. Thread-safe.
class RunFences {
 public:
  RunFences() = default;  // of no elements
  RunFences(std::span<const BlockEntry> blocks, std::uint64_t elements)
      : blocks_(blocks), elements_(elements) {}

  [[nodiscard]] std::uint64_t elements() const { return elements_; }
  [[nodiscard]] std::size_t block_count() const { return blocks_.size(); }
  [[nodiscard]] std::uint64_t first_key(std::size_t block) const {
    return blocks_[block].first_key;
  }
  [[nodiscard]] std::uint64_t first_position(std::size_t block) const {
    return blocks_[block].position;
  }
  // The position behind the last key of the block.
  [[nodiscard]] std::uint64_t end_position(std::size_t block) const {
    return block + 1 < blocks_.size() ? blocks_[block + 1].position : elements_;
  }

  // The block that holds the key at `position`.
  // Requires: position < elements().
  [[nodiscard]] std::size_t block_of(std::uint64_t position) const {
    const auto behind = std::ranges::upper_bound(blocks_, position, {}, &BlockEntry::position);
    return static_cast<std::size_t>(behind - blocks_.begin()) - 1;
  }

  // How many blocks begin with a key <= value.
  [[nodiscard]] std::size_t blocks_up_to(std::uint64_t value) const {
    const auto behind = std::ranges::upper_bound(blocks_, value, {}, &BlockEntry::first_key);
    return static_cast<std::size_t>(behind - blocks_.begin());
  }

  // How many blocks hold [begin, end), and the most bytes that their payloads take.
  [[nodiscard]] std::size_t blocks_of(std::uint64_t begin, std::uint64_t end) const {
    return begin == end ? 0 : block_of(end - 1) + 1 - block_of(begin);
  }
  [[nodiscard]] std::uint64_t stored_bytes(std::uint64_t begin, std::uint64_t end) const {
    if (begin == end) return 0;
    std::uint64_t bytes = 0;
    for (std::size_t block = block_of(begin); block <= block_of(end - 1); ++block) {
      bytes += blocks_[block].stored_bytes;
    }
    return bytes;
  }

 private:
  std::span<const BlockEntry> blocks_;
  std::uint64_t elements_ = 0;
};

}  // namespace gsort::io
