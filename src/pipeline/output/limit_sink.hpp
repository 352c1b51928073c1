// LimitSink: passes on the first elements of the result. For --top. The proof still covers the
// elements after them: they must be there, and in order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/passing_sink.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort {

// Thread-safe. `proof` and `next` outlive it.
class LimitSink final : public PassingSink {
 public:
  LimitSink(std::uint64_t limit, std::uint64_t element_bytes, Proof& proof, PieceSink& next)
      : PassingSink(next), limit_(limit), element_bytes_(element_bytes), proof_(proof) {}

  void put(std::uint64_t position, ConstByteSpan keys) override {
    const std::uint64_t elements = keys.size() / element_bytes_;
    const std::uint64_t stay = std::min(limit_ - std::min(limit_, position), elements);
    if (stay > 0) next_.put(position, keys.first(stay * element_bytes_));
    proof_.add_beyond(position + stay, keys.subspan(stay * element_bytes_));
  }

 private:
  const std::uint64_t limit_;
  const std::uint64_t element_bytes_;
  Proof& proof_;
};

}  // namespace gsort
