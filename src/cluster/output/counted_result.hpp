// Narrow keys do not move: every process knows how often each occurs in all inputs, and writes a
// range of the result from these counts.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "cluster/part_table.hpp"
#include "engine/engine.hpp"
#include "options/job.hpp"
#include "pipeline/count_keys.hpp"
#include "pipeline/proof/proof.hpp"
#include "plan/plan.hpp"

namespace gsort::cluster {

// Where the first element of each distinct key is in the order of all, and behind the last key
// their number.
[[nodiscard]] std::vector<std::uint64_t> starts_of_distinct(const KeyCounts& counts,
                                                            const KeyFormat& key);

class CountedResult {
 public:
  // All outlive it; `memory` is as of put_counted().
  CountedResult(const Plan& plan, const KeyCounts& counts, Proof& proof, PieceSink& output,
                ByteSpan memory)
      : plan_(plan), counts_(counts), proof_(proof), output_(output), memory_(memory) {}

  // The range of this process. With job.unique, elements that repeat are dropped, and positions
  // are those of its own elements.
  void put(const Job& job, OutputRange own) const;
  // The share of this process, for the proof, of what comes behind the first `result` elements.
  void leave_out(std::uint64_t result, unsigned rank, unsigned ranks) const;

  // The same of distinct keys: `own` and `result` count these.
  void put_distinct(const Job& job, const std::vector<std::uint64_t>& starts,
                    OutputRange own) const;
  void leave_out_distinct(const Job& job, const std::vector<std::uint64_t>& starts,
                          std::uint64_t result, unsigned rank, unsigned ranks) const;

 private:
  void put_range(OutputRange range, PieceSink& sink) const;

  const Plan& plan_;
  const KeyCounts& counts_;
  Proof& proof_;
  PieceSink& output_;
  const ByteSpan memory_;
};

}  // namespace gsort::cluster
