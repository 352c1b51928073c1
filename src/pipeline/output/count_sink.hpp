// CountSink: puts one of each key with its number of occurrences. For -u --count; see
// unique_sink.hpp for how pieces find their places. Equal floats come out with the same bits
// (form/equal_floats.hpp).
//
// The last key of a piece may continue in the next one. So its count is held back until a piece
// with another key has its turn, and that piece puts both; end() puts the last one of all.
//
//   pieces   3 3 5 | 5 5 | 5 7 7
//   turns    3 x2  | -   | 5 x4      then 7 x2
//   places   0     | 1   | 1              2
//
// With -m --count, elements are keys with counts; the counts of equal keys are added. The proof
// takes each element as that many keys.
//
// With --min-count, keys that occur less often are dropped. The order of the written keys says
// nothing about the dropped ones, so a second proof covers all keys and counts. Without it, a key
// in the wrong place could be counted as two keys, each too rare to be written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "element/counted_keys.hpp"
#include "element/element.hpp"
#include "engine/passing_sink.hpp"
#include "pipeline/output/unique_turns.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort {

// Thread-safe, except end(). Calls are held back until all earlier pieces have been counted.
// `proof` and `next` outlive it. It adds the elements that it puts to the proof.
class CountSink final : public PassingSink {
 public:
  // Elements are keys of `format`, or records that are keys of bytes (bytesN); adds_counts: each is
  // followed by its count. `next` takes keys with their counts. Equal keys with counts must have
  // equal bits.
  CountSink(const ElementFormat& format, bool adds_counts, std::uint64_t min_count, Proof& proof,
            PieceSink& next);

  // Throws: Error(kOutput) after abandon(); Error(kCorrupt); Error(kInput) if a sum of counts has
  // more than 64 bits; what `next` throws.
  void put(std::uint64_t position, ConstByteSpan elements) override;
  void abandon() noexcept override;

  // Puts the key that is held back. Call it once, when all keys have been put and read. Throws: as
  // put(); Error(kCorrupt) if the counts do not add up.
  void end();

 private:
  // Equal keys: the bytes of the key as in a file, followed by zeros, and the number of keys.
  struct Group {
    std::array<std::byte, RecordFormat::kMostKeyBytes> key{};
    std::uint64_t count = 0;  // 0: there is none
  };
  // The groups at the ends of a piece, for its neighbours. A piece of one group has no last one.
  struct Ends {
    Group first;
    Group last;
    std::uint64_t between = 0;        // groups between these two
    std::uint64_t often_between = 0;  // the number of these that come out
  };
  // The groups that a piece puts, and their place.
  struct Turn {
    std::uint64_t number = 0;  // of the first group among all
    std::uint64_t place = 0;   // in the output
    std::uint64_t end = 0;     // of its places
    Group before;              // held back until now
    Group first;               // including the group held back before; none if the piece is held
                               // back, too
  };
  class Batch;

  template <class Key>
  void put_alike(std::uint64_t position, std::span<const Key> keys);
  template <class Key>
  void put_keys(std::uint64_t position, std::span<const Key> keys);
  void put_one_by_one(std::uint64_t position, ConstByteSpan elements);
  template <class Use>
  void for_each_group(ConstByteSpan elements, const Use& use) const;
  template <class Key>
  [[nodiscard]] static Group group_of(Key key, std::uint64_t count);
  [[nodiscard]] Group joined(const Group& a, const Group& b) const;
  template <class Key>
  [[nodiscard]] Ends ends_of(std::span<const Key> keys) const;
  [[nodiscard]] Ends ends_one_by_one(ConstByteSpan elements) const;
  [[nodiscard]] Turn take_turn(const Ends& ends);
  void count_groups(std::uint64_t groups, std::uint64_t often);
  [[nodiscard]] bool is_often(const Group& group) const { return group.count >= min_count_; }

  const ElementFormat format_;  // of keys
  const std::size_t key_bytes_;
  const bool adds_counts_;
  const std::size_t element_bytes_;
  const std::uint64_t min_count_;
  Proof& proof_;
  std::optional<Proof> proof_of_all_;  // also of keys that do not come out

  PieceTurns turns_;
  // For the thread that has the turn:
  Group held_;
  std::uint64_t next_number_ = 0;
  std::uint64_t next_place_ = 0;
};

}  // namespace gsort
