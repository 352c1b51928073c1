// UniqueSink: passes on one of each key, of records the first one. For -u.
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
// Records with equal keys come in the order of the input, so the first one is the first of the
// input. Keys repeat in runs, too, but are dropped only here: packed runs take almost no space for
// a repeated key (packed_keys.hpp), and a run keeps its planned size.
//
// Dropped keys are added to the proof as they are dropped: a key is dropped only because it equals
// the one before it. The first of several equal floats with different bits is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "element/element.hpp"
#include "engine/passing_sink.hpp"
#include "pipeline/output/unique_turns.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort {

// Thread-safe. Calls are held back until all earlier pieces have been counted. `proof` and `next`
// outlive it.
class UniqueSink final : public PassingSink {
 public:
  // Elements come from position `begin` on, and are put from there on; `before` is the element
  // before them; empty if there is none.
  UniqueSink(const ElementFormat& format, Proof& proof, PieceSink& next, std::uint64_t begin = 0,
             ConstByteSpan before = {});

  // Throws: Error(kOutput) after abandon(); what `next` throws.
  void put(std::uint64_t position, ConstByteSpan elements) override;
  void abandon() noexcept override;

 private:
  // Where a piece is put.
  struct Place {
    std::uint64_t position = 0;  // in the output
    std::uint64_t elements = 0;  // that stay
    bool repeats_last = false;   // whether the first element has been put already
  };
  struct Scratch {
    std::vector<std::byte> kept;
    std::vector<std::byte> repeats;
  };

  // `distinct` elements of the piece differ from the one before them, including the first one.
  // Equal elements have equal texts `first` and `last`.
  Place take_turn(std::uint64_t position, std::uint64_t elements, std::uint64_t distinct,
                  const std::string& first, std::string last);
  template <class Key>
  void put_keys(std::uint64_t position, std::span<const Key> keys);
  template <class Key>
  void put_some(Place place, std::span<const Key> keys);
  void put_records(std::uint64_t position, ConstByteSpan records);
  void put_some_records(Place place, ConstByteSpan records);
  // Requires: there is a record before it.
  [[nodiscard]] bool repeats(const std::byte* record) const;
  std::unique_ptr<Scratch> take_scratch();
  void give_back(std::unique_ptr<Scratch> scratch);

  const KeyFormat key_;
  std::optional<RecordOrder> order_;  // of records
  Proof& proof_;

  PieceTurns turns_;
  // For the thread that has the turn:
  std::uint64_t next_place_;         // in the output
  std::optional<std::string> last_;  // element of the piece before, if there was one

  std::mutex mutex_;  // guards the members below
  std::vector<std::unique_ptr<Scratch>> spare_;
};

}  // namespace gsort
