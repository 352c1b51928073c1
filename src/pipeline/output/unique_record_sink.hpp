// UniqueRecordSink: passes on the first record of each key. For -u; see unique_sink.hpp for how
// pieces find their places. Records that share a key come in the order of the input, so the first
// one is the first of the input.
#pragma once

#include <cstdint>
#include <string>

#include "element/record.hpp"
#include "engine/engine.hpp"
#include "pipeline/output/unique_turns.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort {

// Thread-safe. Calls are held back until all earlier pieces have been counted. `proof` and `next`
// outlive it.
class UniqueRecordSink final : public PieceSink {
 public:
  UniqueRecordSink(const RecordFormat& format, Proof& proof, PieceSink& next)
      : order_(format), proof_(proof), next_(next) {}

  // Throws: Error(kOutput) after abandon(); what `next` throws.
  void put(std::uint64_t position, ConstByteSpan records) override;
  void abandon() noexcept override;

 private:
  using Turns = UniqueTurns<std::string>;

  [[nodiscard]] bool repeats(const std::byte* record) const;
  void put_some(Turns::Place place, ConstByteSpan records);

  const RecordOrder order_;
  Proof& proof_;
  PieceSink& next_;
  Turns turns_;
};

}  // namespace gsort
