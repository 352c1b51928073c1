// Proof that nothing was lost: a fingerprint of all raw keys read, a fingerprint of all raw keys
// written, and the order of what was written, within pieces and across them. Both sides are taken
// where the bytes meet the files, so that everything between is covered: maps, engines, runs, the
// way through a GPU. Elements that shall not come out (-u, --top) are fingerprinted where they are
// dropped: what was read is what came out and what was dropped.
//
// Thread-safe. Counts are always kept; the rest only if `enabled`.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "base/fingerprint.hpp"
#include "base/meter.hpp"
#include "engine/engine.hpp"

namespace gsort {

// Which order is wanted: with equal neighbours, or without.
enum class OrderKind : std::uint8_t { kAscending, kStrict };

// Remembers the first and last key of stretches that have been seen, joins neighbours, and finds
// where two of them are out of order.
class OrderLedger {
 public:
  explicit OrderLedger(OrderKind kind = OrderKind::kAscending) : kind_(kind) {}

  // Two neighbours that are out of order: the key at `position`, and the one in front of it.
  struct Disorder {
    std::uint64_t position;
    std::uint64_t before;
    std::uint64_t value;
  };

  // Adds a stretch [begin, end) whose keys, as ordered numbers, run from `first` to `last`. Returns
  // the position of a key that comes before the key in front of it, if this stretch shows one at
  // its borders; kInOrder otherwise. Not thread-safe.
  static constexpr std::uint64_t kInOrder = ~std::uint64_t{0};
  std::uint64_t add(std::uint64_t begin, std::uint64_t end, std::uint64_t first,
                    std::uint64_t last);

  // The disorder with the lowest position that has been seen at a border.
  [[nodiscard]] const std::optional<Disorder>& disorder() const { return disorder_; }

  // The last key of the stretch with the highest position; nothing before the first stretch.
  [[nodiscard]] std::optional<std::uint64_t> last_key() const {
    if (stretches_.empty()) return std::nullopt;
    return stretches_.rbegin()->second.last;
  }

  // How many neighbouring stretches met with equal keys.
  [[nodiscard]] std::uint64_t equal_borders() const { return equal_borders_; }

 private:
  struct Stretch {
    std::uint64_t end;
    std::uint64_t first;
    std::uint64_t last;
  };
  std::uint64_t compare(std::uint64_t position, std::uint64_t before, std::uint64_t value);

  OrderKind kind_;
  std::map<std::uint64_t, Stretch> stretches_;
  std::optional<Disorder> disorder_;
  std::uint64_t equal_borders_ = 0;
};

class Proof {
 public:
  Proof(const KeyFormat& format, bool enabled, Meter* meter = nullptr,
        OrderKind order = OrderKind::kAscending);

  // Returns their fingerprint.
  Fingerprint add_input(ConstByteSpan raw_keys);

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

  // The fingerprint of keys, or only their count if not enabled.
  [[nodiscard]] Fingerprint look(ConstByteSpan raw_keys) const;

  // Keys that would stand at `position` if the output did not end before. Throws: as add_output.
  void add_beyond(std::uint64_t position, ConstByteSpan raw_keys);

  // To be called after the last output, before the output is made real.
  // Throws: Error(kCorrupt) when what was written is not what was read.
  void finish() const;

  [[nodiscard]] Fingerprint input() const;
  [[nodiscard]] Fingerprint output() const;
  [[nodiscard]] bool enabled() const { return enabled_; }

 private:
  void add_ordered(Fingerprint& side, std::uint64_t position, ConstByteSpan raw_keys);

  KeyFormat format_;
  std::size_t key_bytes_;
  bool enabled_;
  Meter* meter_;
  OrderKind order_;
  mutable std::mutex mutex_;
  Fingerprint input_;
  Fingerprint output_;
  Fingerprint dropped_;
  OrderLedger ledger_;
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
