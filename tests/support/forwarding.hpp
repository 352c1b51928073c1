// Finds the calls other than put() that a sink passes on. A missing call changes no byte, but costs
// speed or makes a thread wait forever.
#pragma once

#include <string>
#include <utility>

#include "engine/engine.hpp"

namespace gsort::test {

// The end of a chain: offers everything, and counts.
class OfferingSink final : public PieceSink, public BlockSink, public ProofSink {
 public:
  void put(std::uint64_t /*position*/, ConstByteSpan /*keys*/) override {}
  [[nodiscard]] BlockSink* block_sink() override { return this; }
  [[nodiscard]] ProofSink* proof_sink() override { return this; }
  void abandon() noexcept override { ++abandoned; }
  void enter() noexcept override { ++entered; }
  void leave() noexcept override { ++left; }

  [[nodiscard]] std::uint64_t block_elements() const override { return 1; }
  [[nodiscard]] Packing packing() const override { return Packing::kOff; }
  void put_blocks(std::uint64_t /*position*/, const StoredBlocks& /*blocks*/) override {}
  void prove(std::uint64_t /*position*/, ConstByteSpan /*keys*/) override {}
  void put_proven(std::uint64_t /*position*/, ConstByteSpan /*keys*/) override {}

  int abandoned = 0;
  int entered = 0;
  int left = 0;
};

// The end of a chain: offers nothing.
class PlainSink final : public PieceSink {
 public:
  void put(std::uint64_t /*position*/, ConstByteSpan /*keys*/) override {}
};

[[nodiscard]] inline std::string offered_by(PieceSink& sink) {
  std::string words;
  if (sink.block_sink() != nullptr) words += "block ";
  if (sink.proof_sink() != nullptr) words += "proof ";
  return words;
}

// Returns what `sink` offers, and which calls arrive at `end`: "block proof enter leave abandon ".
[[nodiscard]] inline std::string forwarded_by(PieceSink& sink, OfferingSink& end) {
  std::string words = offered_by(sink);
  sink.enter();
  if (end.entered == 1) words += "enter ";
  sink.leave();
  if (end.left == 1) words += "leave ";
  sink.abandon();
  if (end.abandoned == 1) words += "abandon ";
  return words;
}

// The same for a Sink that is made of `arguments` and, as the last one, the next sink.
template <class Sink, class... Arguments>
[[nodiscard]] std::string forwarded(Arguments&&... arguments) {
  OfferingSink end;
  Sink sink(std::forward<Arguments>(arguments)..., end);
  return forwarded_by(sink, end);
}

// Returns what such a Sink offers if the next one offers nothing.
template <class Sink, class... Arguments>
[[nodiscard]] std::string offered(Arguments&&... arguments) {
  PlainSink end;
  Sink sink(std::forward<Arguments>(arguments)..., end);
  return offered_by(sink);
}

}  // namespace gsort::test
