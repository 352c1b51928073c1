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
using Starts = std::vector<std::uint64_t>;
[[nodiscard]] Starts starts_of_distinct(const KeyCounts& counts, const KeyFormat& key);

struct CountedResult {
  const Plan& plan;
  const KeyCounts& counts;
  Proof& proof;
  PieceSink& output;
  ByteSpan memory;  // as of put_counted()

  // Puts the range of this process, in elements of the result: distinct keys or, without `starts`,
  // all. With job.unique and no starts, repeated elements are dropped, and positions are those in
  // its own file. Requires: job.top is not set.
  void put(const Job& job, const Starts& starts, OutputRange own) const;
  // Proves this process's share of the elements after the first `result`.
  void leave_out(Job job, const Starts& starts, std::uint64_t result, unsigned rank,
                 unsigned ranks) const;
  // Puts elements in the order of all.
  void put_range(OutputRange range, PieceSink& sink) const;
};

}  // namespace gsort::cluster
