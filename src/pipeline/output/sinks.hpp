// Where pieces go: the output file or stream, a run, or a buffer that waits for its turn.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/meter.hpp"
#include "engine/engine.hpp"
#include "io/runs/run_store.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {

// Puts a sequence behind what has been put before it.
class OffsetSink final : public PieceSink {
 public:
  OffsetSink(std::uint64_t begin, PieceSink& next) : begin_(begin), next_(next) {}
  void put(std::uint64_t position, ConstByteSpan keys) override {
    next_.put(begin_ + position, keys);
  }
  void abandon() noexcept override { next_.abandon(); }

 private:
  std::uint64_t begin_;
  PieceSink& next_;
};

class RunSink final : public PieceSink, public BlockSink {
 public:
  RunSink(io::RunWriter& writer, Meter* meter) : writer_(writer), meter_(meter) {}
  void put(std::uint64_t position, ConstByteSpan keys) override {
    Span span(meter_, Stage::kSpill);
    span.add_bytes(keys.size());
    writer_.put(position, keys);
  }

  [[nodiscard]] BlockSink* block_sink() override { return writer_.takes_blocks() ? this : nullptr; }
  [[nodiscard]] std::uint64_t block_elements() const override { return writer_.block_elements(); }
  [[nodiscard]] Packing packing() const override { return writer_.packing(); }
  void put_blocks(std::uint64_t position, const StoredBlocks& blocks) override {
    Span span(meter_, Stage::kSpill);
    span.add_bytes(blocks.count * writer_.element_bytes());
    writer_.put_blocks(position, blocks);
  }

 private:
  io::RunWriter& writer_;
  Meter* meter_;
};

// Collects one part and passes it on whole. For streams: while one lane waits to write its part,
// the others go on merging. What does not lie in the part is not taken, and a part that is not
// whole not passed on: those that wait for what comes behind it would wait for ever.
class StagingSink final : public PieceSink {
 public:
  StagingSink(ByteSpan buffer, std::uint64_t element_bytes, PieceSink& next)
      : buffer_(buffer), element_bytes_(element_bytes), next_(next) {}

  // The next part is of `elements` elements from `position` on. Requires: they fit the buffer.
  void begin(std::uint64_t position, std::uint64_t elements) {
    begin_ = position;
    part_ = buffer_.first(elements * element_bytes_);
    filled_ = 0;
  }
  // Throws: Error(kCorrupt) for elements that are not of the part.
  void put(std::uint64_t position, ConstByteSpan keys) override {
    const std::uint64_t elements = part_.size() / element_bytes_;
    const std::uint64_t at = position - begin_;  // beyond all elements for one in front of the part
    if (at > elements || keys.size() > (elements - at) * element_bytes_) throw not_whole(position);
    std::memcpy(part_.data() + at * element_bytes_, keys.data(), keys.size());
    filled_ += keys.size();
  }
  void abandon() noexcept override { next_.abandon(); }
  // Throws: Error(kCorrupt) where elements are missing.
  void flush() {
    if (filled_ != part_.size()) throw not_whole(begin_);
    next_.put(begin_, part_);
  }

 private:
  static Error not_whole(std::uint64_t position) {
    return Error(ErrorKind::kCorrupt, fmt::format("merging element {} of the output", position),
                 "the engine returned other elements than it was given")
        .hint(kDamageHint);
  }

  ByteSpan buffer_;
  std::uint64_t element_bytes_;
  PieceSink& next_;
  std::uint64_t begin_ = 0;
  ByteSpan part_;
  std::atomic<std::size_t> filled_{0};
};

}  // namespace gsort
