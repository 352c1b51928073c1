// UniqueRecordSink: passes on the first record of each key. For -u; see unique_sink.hpp for how
// pieces find their places. Records that share a key come in the order of the input, so the first
// one is the first of the input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "element/record.hpp"
#include "engine/passing_sink.hpp"
#include "pipeline/output/unique_turns.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort {

// Thread-safe. Calls are held back until all earlier pieces have been counted. `proof` and `next`
// outlive it.
class UniqueRecordSink final : public PassingSink {
 public:
  // Records come from position `begin` on, and are put from there on; `before` is the normalised
  // key before them.
  UniqueRecordSink(const RecordFormat& format, Proof& proof, PieceSink& next,
                   std::uint64_t begin = 0, std::optional<std::string> before = {})
      : PassingSink(next),
        order_(in_classes(format)),
        proof_(proof),
        turns_(begin, std::move(before)) {}

  // Throws: Error(kOutput) after abandon(); what `next` throws.
  void put(std::uint64_t position, ConstByteSpan records) override;
  void abandon() noexcept override;

 private:
  using Turns = UniqueTurns<std::string>;

  [[nodiscard]] bool repeats(const std::byte* record) const;
  void put_some(Turns::Place place, ConstByteSpan records);

  const RecordOrder order_;
  Proof& proof_;
  Turns turns_;
};

}  // namespace gsort
