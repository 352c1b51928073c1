// Proof that the output is the sorted input. Four things are compared:
//
//   what       a fingerprint of all raw elements read, and one of all raw elements put out
//   order      of what was put out, within pieces and across their borders
//   where      pieces lie at [0, count) of the output, every element exactly once
//   how many   came out: all; or with --top, where any were left out, as many as were wanted
//
// Both sides are taken where the bytes meet the files, so that the proof covers everything between:
// maps, engines, runs, the way through a GPU. Elements that must not come out (-u, --top) are
// fingerprinted where they are dropped: the elements read are those that came out and those that
// were dropped. A key that comes out with its count stands for that many of those read, so that
// counts add up. The output itself proves that bytes reach their offset in the file
// (io/output/output.hpp). The order of equal records is not proven.
//
// Thread-safe. Counts and places are always checked; the rest only if `enabled`.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/meter.hpp"
#include "base/tiling.hpp"
#include "element/counted_keys.hpp"
#include "element/element.hpp"
#include "element/fingerprint.hpp"
#include "engine/passing_sink.hpp"
#include "pipeline/proof/element_order.hpp"
#include "pipeline/proof/order_ledger.hpp"

namespace gsort {

// The sums of a proof, so that several processes can each prove a share of one sort.
struct ProofSummary {
  bool enabled = false;
  Fingerprint input;
  Fingerprint output;
  Fingerprint repeats;
  Fingerprint left_out;
  std::optional<std::string> least_left_out;      // a normalised key
  OrderLedger<std::string>::Stretches stretches;  // where elements were put, or would be

  friend bool operator==(const ProofSummary&, const ProofSummary&) = default;
};

class Proof {
 public:
  // kStrict: only one of equal elements comes out. `top`: the most elements that come out.
  Proof(const ElementFormat& format, bool enabled, Meter* meter = nullptr,
        OrderKind order = OrderKind::kAscending, std::optional<std::uint64_t> top = {});

  // Returns their fingerprint.
  Fingerprint add_input(ConstByteSpan raw_keys);

  // The same for keys with counts, each of which stands for that many keys.
  void add_counted_input(const CountedKeys& keys);

  // Adds elements of the same input that an earlier process has read.
  void add_input_of_before(const Fingerprint& keys);

  // Throws: Error(kCorrupt) if keys are out of order, or their places are taken.
  void add_output(std::uint64_t position, ConstByteSpan raw_keys);

  // Arrays of `array_elements` each, the first one from its beginning, the last one perhaps
  // shorter: first as they were read, and then sorted, with the result of the first call. Elements
  // must stay in their array. Requires: array_elements > 0. Throws: as add_output.
  ArraysFingerprint add_input_arrays(ConstByteSpan raw_keys, std::uint64_t array_elements);
  void add_output_arrays(std::uint64_t position, ConstByteSpan raw_keys,
                         std::uint64_t array_elements, const ArraysFingerprint& read);

  // Adds everything from another, finished proof, which began at element `position` of this one.
  // Not thread-safe. Throws: Error(kCorrupt) if places are taken.
  void add_all_of(const Proof& finished, std::uint64_t position);

  // Adds everything from the proof of a share, which is not finished, because a share writes other
  // elements than it reads. Its places are those of the whole output. After an error this proof
  // must not be used. Throws: Error(kCorrupt) if places are taken, shares are out of order at their
  // borders, or only one of the two proofs is enabled. Requires, as summary() does: there are no
  // arrays.
  void add_share(const ProofSummary& share);
  [[nodiscard]] ProofSummary summary() const;

  // Adds keys that were dropped because they repeat others.
  void add_dropped(ConstByteSpan raw_keys);

  // Gives equal floats among output elements the same bits, adds the difference to the dropped
  // elements, and returns it. Throws: Error(kCorrupt) if more than that changed.
  Fingerprint make_alike(ByteSpan elements);
  // Adds such a difference of another proof.
  void add_difference(const Fingerprint& difference);

  // Adds keys that come out with their counts (-u --count), each of which stands for that many keys
  // read, at least `min_count`. Throws: as add_output; Error(kCorrupt) for an unwanted count, also
  // of keys that do not come out.
  void add_counted_output(std::uint64_t position, const CountedKeys& keys, std::uint64_t min_count);
  void add_counted_dropped(const CountedKeys& keys, std::uint64_t min_count);

  // Adds keys that were left out because they come after all that will be put; `least` is the first
  // of them as an ordered number. If the proof is not enabled, only their count is used, also for
  // records.
  void add_left_out(const Fingerprint& keys, UInt128 least);
  // The same for elements; `least` is the first of them, in raw form.
  void add_left_out(const Fingerprint& elements, const std::byte* least);

  // The same for elements that are in order, but not those of all shares together. Throws:
  // Error(kCorrupt) if they are not.
  void add_left_out(ConstByteSpan raw_keys);

  // Adds keys that would be at `position` if the output did not end before. Throws: as add_output.
  void add_beyond(std::uint64_t position, ConstByteSpan raw_keys);

  // The fingerprint of keys, or only their count if not enabled.
  [[nodiscard]] Fingerprint look(ConstByteSpan raw_keys) const;

  // Call it after the last output, before the output gets its name. Throws: Error(kCorrupt) if the
  // written elements are not those that were read, leave gaps, or are more or fewer than wanted.
  void finish() const;

  [[nodiscard]] Fingerprint input() const;
  [[nodiscard]] Fingerprint output() const;
  [[nodiscard]] bool enabled() const { return enabled_; }

 private:
  [[nodiscard]] Fingerprint look_at_counted(const CountedKeys& keys, std::uint64_t but) const;
  void add_repeats(const CountedKeys& keys, std::uint64_t but);
  void add_ordered(Fingerprint& side, std::uint64_t position, ConstByteSpan raw_keys);
  [[nodiscard]] ArraysFingerprint look_at_arrays(ConstByteSpan raw_keys,
                                                 std::uint64_t array_elements) const;
  void note_left_out(const std::optional<std::string>& least);
  void place(std::uint64_t position, std::uint64_t elements);
  void require_places() const;
  void require_wanted_count() const;
  [[nodiscard]] Fingerprint look_in_order(std::uint64_t position, ConstByteSpan elements) const;
  // The index before the first element that is out of order; the count if there is none.
  [[nodiscard]] std::size_t first_disorder_in(ConstByteSpan elements) const;
  std::uint64_t note_borders(std::uint64_t position, ConstByteSpan elements);

  const ElementOrder order_;
  const std::vector<KeyField> floats_;  // in numeric order
  std::size_t element_bytes_;
  bool enabled_;
  Meter* meter_;
  OrderKind kind_;
  std::optional<std::uint64_t> top_;
  mutable std::mutex mutex_;
  Fingerprint input_;
  Fingerprint output_;
  Fingerprint repeats_;
  Fingerprint left_out_;             // after the last wanted element
  Tiling placed_;                    // elements that were put out, or would come after them
  OrderLedger<std::string> ledger_;  // of normalised keys
  std::optional<std::string> least_left_out_;  // its normalised key
};

// A sink that adds the elements that pass through it to the proof.
class ProvingSink final : public PassingSink, public ProofSink {
 public:
  ProvingSink(Proof& proof, PieceSink& next) : PassingSink(next), proof_(proof) {}
  void put(std::uint64_t position, ConstByteSpan keys) override {
    prove(position, keys);
    put_proven(position, keys);
  }
  [[nodiscard]] ProofSink* proof_sink() override { return this; }
  void prove(std::uint64_t position, ConstByteSpan keys) override {
    proof_.add_output(position, keys);
  }
  void put_proven(std::uint64_t position, ConstByteSpan keys) override {
    next_.put(position, keys);
  }

 private:
  Proof& proof_;
};

}  // namespace gsort
