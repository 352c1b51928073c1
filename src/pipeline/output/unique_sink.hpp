// UniqueSink: passes on one of each key. For -u.
//
// Pieces arrive from many threads. The number of keys that stay is known only after a piece has
// been counted, and its place in the output only after all earlier pieces have been counted. So a
// piece is counted first, at the same time as others, and then waits for its turn, which is short:
// it takes its place in the output, notes its number of keys and its last one, and passes the turn
// on. Pieces are then copied and written at the same time again.
//
//   pieces   3 3 5 | 5 5 | 5 7 7        counted 2, 1, 2
//   turns    3 5   | -   | 7            the first key is dropped if the last one before equals it
//   places   0     | 2   | 2
//
// Keys repeat in runs, too, but are dropped only here: packed runs take almost no space for a
// repeated key (packed_keys.hpp), and a run keeps its planned size.
//
// Dropped keys are added to the proof as they are dropped: a key is dropped only because it equals
// the one before it. The first of several equal floats with different bits is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/passing_sink.hpp"
#include "pipeline/output/unique_turns.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort {

// Thread-safe. Calls are held back until all earlier pieces have been counted. `proof` and `next`
// outlive it.
class UniqueSink final : public PassingSink {
 public:
  // Keys come from position `begin` on, and are put from there on; `before` is the key before them.
  UniqueSink(const KeyFormat& key, Proof& proof, PieceSink& next, std::uint64_t begin = 0,
             std::optional<UInt128> before = {});

  // Throws: Error(kOutput) after abandon(); what `next` throws.
  void put(std::uint64_t position, ConstByteSpan keys) override;
  void abandon() noexcept override;

 private:
  using Turns = UniqueTurns<UInt128>;
  struct Scratch {
    std::vector<std::byte> kept;
    std::vector<std::byte> repeats;
  };

  template <class Key>
  void put_keys(std::uint64_t position, std::span<const Key> keys);
  template <class Key>
  void put_some(Turns::Place place, std::span<const Key> keys);
  std::unique_ptr<Scratch> take_scratch();
  void give_back(std::unique_ptr<Scratch> scratch);

  const KeyFormat key_;
  Proof& proof_;

  Turns turns_;
  std::mutex mutex_;  // guards the members below
  std::vector<std::unique_ptr<Scratch>> spare_;
};

}  // namespace gsort
