// Sinks that put pieces into a run, or into another sink at another position.
#pragma once

#include <cstdint>

#include "base/meter.hpp"
#include "engine/passing_sink.hpp"
#include "io/runs/run_store.hpp"

namespace gsort {

// Adds `begin` to all positions. The sum wraps, so `begin` may stand for a negative number.
class OffsetSink final : public PassingSink, public BlockSink, public ProofSink {
 public:
  OffsetSink(std::uint64_t begin, PieceSink& next)
      : PassingSink(next), begin_(begin), blocks_(next.block_sink()), proof_(next.proof_sink()) {}
  void put(std::uint64_t position, ConstByteSpan keys) override {
    next_.put(begin_ + position, keys);
  }

  [[nodiscard]] BlockSink* block_sink() override { return blocks_ != nullptr ? this : nullptr; }
  [[nodiscard]] std::uint64_t block_elements() const override { return blocks_->block_elements(); }
  [[nodiscard]] Packing packing() const override { return blocks_->packing(); }
  void put_blocks(std::uint64_t position, const StoredBlocks& blocks) override {
    blocks_->put_blocks(begin_ + position, blocks);
  }

  [[nodiscard]] ProofSink* proof_sink() override { return proof_ != nullptr ? this : nullptr; }
  void prove(std::uint64_t position, ConstByteSpan keys) override {
    proof_->prove(begin_ + position, keys);
  }
  void put_proven(std::uint64_t position, ConstByteSpan keys) override {
    proof_->put_proven(begin_ + position, keys);
  }

 private:
  std::uint64_t begin_;
  BlockSink* blocks_;  // null if the next sink has none
  ProofSink* proof_;
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

}  // namespace gsort
