// OnceSink: passes each element of a part on once, although an engine puts some of them twice: a
// lane whose device failed midway merges the part again, into the same elements in other pieces.
//
//   put at first    0-9   10-19       30-39     then the device failed
//   put again       0-24        25-49
//   passed on       20-24       25-29 40-49
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "base/tiling.hpp"
#include "engine/engine.hpp"

namespace gsort {

// Thread-safe. It does not pass on abandon(): the caller abandons `next` if the part is not merged
// again. `next` outlives it, and holds no call back.
class OnceSink final : public PieceSink, public BlockSink {
 public:
  OnceSink(std::uint64_t element_bytes, PieceSink& next)
      : element_bytes_(element_bytes), next_(next), blocks_(next.block_sink()) {}

  // Call it before the same elements come again. Requires: all calls have returned, and none has
  // thrown.
  void begin_again() { again_ = true; }

  // Whether a call has thrown: missing elements are then not the engine's fault.
  [[nodiscard]] bool has_failed() const { return has_failed_; }

  void put(std::uint64_t position, ConstByteSpan elements) override {
    const std::uint64_t end = position + elements.size() / element_bytes_;
    for (const auto& [from, to] : missing(position, end)) {
      pass_on(from, to, [&, first = from, last = to] {
        next_.put(first, elements.subspan((first - position) * element_bytes_,
                                          (last - first) * element_bytes_));
      });
    }
  }

  // Only at first: the second merge does not pack or unpack keys.
  [[nodiscard]] BlockSink* block_sink() override {
    return blocks_ == nullptr || again_ ? nullptr : this;
  }
  [[nodiscard]] std::uint64_t block_elements() const override { return blocks_->block_elements(); }
  [[nodiscard]] Packing packing() const override { return blocks_->packing(); }
  void put_blocks(std::uint64_t position, const StoredBlocks& blocks) override {
    pass_on(position, position + blocks.count, [&] { blocks_->put_blocks(position, blocks); });
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> missing(std::uint64_t begin,
                                                               std::uint64_t end) {
    if (!again_) return {{begin, end}};
    const std::scoped_lock lock(mutex_);
    return passed_on_.gaps(begin, end);
  }

  template <class Put>
  void pass_on(std::uint64_t begin, std::uint64_t end, const Put& put) {
    try {
      put();
    } catch (...) {
      has_failed_ = true;
      throw;
    }
    const std::scoped_lock lock(mutex_);
    // The proof detects elements that come twice.
    static_cast<void>(passed_on_.add(begin, end));
  }

  std::uint64_t element_bytes_;
  PieceSink& next_;
  BlockSink* blocks_;
  bool again_ = false;
  std::atomic<bool> has_failed_{false};
  std::mutex mutex_;
  Tiling passed_on_;
};

}  // namespace gsort
