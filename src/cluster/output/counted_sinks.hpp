// Where counted keys go that are not written.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/engine.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort::cluster {

// Proves what is not written.
class BeyondSink final : public PieceSink {
 public:
  explicit BeyondSink(Proof& proof) : proof_(proof) {}
  void put(std::uint64_t position, ConstByteSpan keys) override {
    proof_.add_beyond(position, keys);
  }

 private:
  Proof& proof_;
};

// Keeps the one element that is put.
class LastSink final : public PieceSink {
 public:
  void put(std::uint64_t /*position*/, ConstByteSpan element) override {
    element_.assign(element.begin(), element.end());
  }
  [[nodiscard]] ConstByteSpan element() const { return element_; }

 private:
  std::vector<std::byte> element_;
};

}  // namespace gsort::cluster
