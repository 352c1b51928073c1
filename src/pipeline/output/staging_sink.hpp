// A buffer in which a part waits for its turn, if the output takes parts in order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "engine/engine.hpp"
#include "plan/plan.hpp"

namespace gsort {

// Collects one part and passes it on in its turn: while one lane waits to write its part, the
// others continue merging. Elements outside the part are an error, and so is an incomplete part:
// threads that wait for later positions would wait forever.
//
// If the next sink can prove elements ahead of their turn, the thread that puts them proves them as
// soon as they are in the buffer, and still in the processor's cache. When the turn comes, they are
// only written. The proof sees the memory that is written, and every element of the part once: an
// element that is put twice is an error, so no proven element is overwritten before it is written.
// If the proof depends on earlier elements (-u), the part is proven in its turn. Several threads
// pass it on in pieces, because a device merges faster than one thread passes elements on.
class StagingSink final : public PieceSink {
 public:
  // At most `threads` threads pass a part on; a single one passes it on in one piece.
  StagingSink(ByteSpan buffer, std::uint64_t element_bytes, unsigned threads, PieceSink& next);

  // Begins the next part: `elements` elements from `position` on. Requires: `elements` is not 0,
  // and they fit the buffer.
  void begin(std::uint64_t position, std::uint64_t elements);
  // Throws: Error(kCorrupt) for elements outside the part, or if the proof fails.
  void put(std::uint64_t position, ConstByteSpan keys) override;
  void abandon() noexcept override { next_.abandon(); }
  // Passes the part on and returns when all of it has been put. Throws: Error(kCorrupt) if elements
  // are missing.
  void flush();

 private:
  void take_in(ByteSpan place, ConstByteSpan keys);
  void put_piece(std::uint64_t number, std::uint64_t bytes);

  ByteSpan buffer_;
  std::uint64_t element_bytes_;
  unsigned threads_;
  PieceSink& next_;
  ProofSink* proof_;  // of next_; null: the part is proven in its turn
  std::uint64_t begin_ = 0;
  ByteSpan part_;
  std::atomic<std::size_t> filled_{0};
};

// Whether the parts of a merge wait for their turn in a buffer: parts of the output do, if they
// must come in order.
[[nodiscard]] inline bool is_staged(const Plan& plan, KeyForm form) {
  return form == KeyForm::kRaw && plan.output.needs_order;
}

// The number of threads of a StagingSink. If there are enough lanes to keep all threads busy, each
// lane passes on its own parts. So does a lane if elements become text or are compressed: the
// writer has its own threads for each piece, and memory for a few pieces.
[[nodiscard]] inline unsigned staging_threads(const Plan& plan, unsigned lanes) {
  const bool is_encoded = !plan.job.output_form.is_plain();
  return is_encoded || plan.threads <= lanes ? 1 : std::min(plan.threads, 8U);
}

}  // namespace gsort
