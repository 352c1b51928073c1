// Proof that nothing was lost: a fingerprint of all raw keys read, a fingerprint of all raw keys
// written, and the order of what was written, within pieces and across them. Both sides are taken
// where the bytes meet the files, so that everything between is covered: maps, engines, runs, the
// way through a GPU. Elements that shall not come out (-u, --top) are fingerprinted where they are
// dropped: what was read is what came out and what was dropped.
//
// Thread-safe. Counts are always kept; the rest only if `enabled`.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "base/element.hpp"
#include "base/fingerprint.hpp"
#include "base/meter.hpp"
#include "engine/engine.hpp"
#include "pipeline/element_order.hpp"
#include "pipeline/order_ledger.hpp"

namespace gsort {

class Proof {
 public:
  Proof(const ElementFormat& format, bool enabled, Meter* meter = nullptr,
        OrderKind order = OrderKind::kAscending);

  // Returns their fingerprint.
  Fingerprint add_input(ConstByteSpan raw_keys);

  // What an earlier process has read of the same input.
  void add_input_of_before(const Fingerprint& keys);

  // Throws: Error(kCorrupt) when keys are out of order.
  void add_output(std::uint64_t position, ConstByteSpan raw_keys);

  // Sorted arrays of `array_elements` each, the first one from its beginning.
  // Throws: as add_output.
  void add_arrays(std::uint64_t position, ConstByteSpan raw_keys, std::uint64_t array_elements);

  // All that another proof has seen, which was finished. Not thread-safe.
  void add_all_of(const Proof& finished);

  // Keys that were dropped because they repeat others.
  void add_dropped(ConstByteSpan raw_keys);

  // Keys that were left out because they come after all that will be put; `least` is the first of
  // them as an ordered number.
  void add_left_out(const Fingerprint& keys, std::uint64_t least);

  // Keys that would stand at `position` if the output did not end before. Throws: as add_output.
  void add_beyond(std::uint64_t position, ConstByteSpan raw_keys);

  // The fingerprint of keys, or only their count if not enabled.
  [[nodiscard]] Fingerprint look(ConstByteSpan raw_keys) const;

  // To be called after the last output, before the output is made real.
  // Throws: Error(kCorrupt) when what was written is not what was read.
  void finish() const;

  [[nodiscard]] Fingerprint input() const;
  [[nodiscard]] Fingerprint output() const;
  [[nodiscard]] bool enabled() const { return enabled_; }

 private:
  void add_ordered(Fingerprint& side, std::uint64_t position, ConstByteSpan raw_keys);
  // The index in front of the first element that is out of order; the count if there is none.
  [[nodiscard]] std::size_t first_disorder_in(ConstByteSpan elements) const;
  std::uint64_t note_borders(std::uint64_t position, ConstByteSpan elements);

  const ElementOrder order_;
  std::size_t key_bytes_;  // of an element
  bool enabled_;
  Meter* meter_;
  OrderKind kind_;
  mutable std::mutex mutex_;
  Fingerprint input_;
  Fingerprint output_;
  Fingerprint dropped_;
  OrderLedger<std::uint64_t> ledger_;
  OrderLedger<std::string> record_ledger_;
  std::uint64_t least_left_out_ = ~std::uint64_t{0};
};

// A sink that proves what passes through it.
class ProvingSink final : public PieceSink {
 public:
  ProvingSink(Proof& proof, PieceSink& next) : proof_(proof), next_(next) {}
  void put(std::uint64_t position, ConstByteSpan keys) override {
    proof_.add_output(position, keys);
    next_.put(position, keys);
  }
  void abandon() noexcept override { next_.abandon(); }

 private:
  Proof& proof_;
  PieceSink& next_;
};

}  // namespace gsort
