// Where pieces go: the output file or stream, a run, or a buffer that waits for its turn.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/meter.hpp"
#include "engine/engine.hpp"
#include "io/run_store.hpp"
#include "io/writer.hpp"

namespace gsort {

class OutputSink final : public PieceSink {
 public:
  OutputSink(io::Writer& writer, Meter* meter) : writer_(writer), meter_(meter) {}
  void put(std::uint64_t position, ConstByteSpan keys) override {
    Span span(meter_, Stage::kWrite);
    span.add_bytes(keys.size());
    writer_.put(position, keys);
  }
  void abandon() noexcept override { writer_.cancel(); }

 private:
  io::Writer& writer_;
  Meter* meter_;
};

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
    span.add_bytes(blocks.count * writer_.key_bytes());
    writer_.put_blocks(position, blocks);
  }

 private:
  io::RunWriter& writer_;
  Meter* meter_;
};

// Collects one part and passes it on whole. For streams: while one lane waits to write its part,
// the others go on merging.
class StagingSink final : public PieceSink {
 public:
  StagingSink(ByteSpan buffer, std::uint64_t key_bytes, PieceSink& next)
      : buffer_(buffer), key_bytes_(key_bytes), next_(next) {}

  // The next part begins at element `position`.
  void begin(std::uint64_t position) {
    begin_ = position;
    filled_ = 0;
  }
  void put(std::uint64_t position, ConstByteSpan keys) override {
    std::memcpy(buffer_.data() + (position - begin_) * key_bytes_, keys.data(), keys.size());
    filled_ += keys.size();
  }
  void abandon() noexcept override { next_.abandon(); }
  void flush() { next_.put(begin_, buffer_.first(filled_)); }

 private:
  ByteSpan buffer_;
  std::uint64_t key_bytes_;
  PieceSink& next_;
  std::uint64_t begin_ = 0;
  std::atomic<std::size_t> filled_{0};
};

}  // namespace gsort
