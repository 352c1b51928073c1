// take_ties: among records with equal prefixes in K sorted runs, finds the first ones by their
// whole keys; ties go to lower runs.
//
// The middle record of the largest window is the pivot; binary searches find how many records of
// each window come up to it, in the order of key, run and position. Either all of these are among
// the first, or the pivot and all after it are not. Each step halves the largest window, so K
// windows of n records take about K log n steps; a window of one record, the usual case, takes one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "element/record.hpp"

namespace gsort {

// Moves low[i] up so that the windows give `wanted` more records in all. `record_at(run, position)`
// returns a record, valid until the next call. Requires: the windows [low[i], high[i]) hold at
// least `wanted` records. `high` is overwritten.
template <class RecordAt>
void take_ties(const RecordOrder& order, std::uint64_t wanted, std::span<std::uint64_t> low,
               std::span<std::uint64_t> high, const RecordAt& record_at) {
  std::vector<std::byte> pivot(order.record_bytes());
  std::vector<std::uint64_t> up_to(low.size());
  while (wanted > 0) {
    std::uint32_t of = 0;
    for (std::uint32_t run = 1; run < low.size(); ++run) {
      if (high[run] - low[run] > high[of] - low[of]) of = run;
    }
    const std::uint64_t middle = low[of] + (high[of] - low[of]) / 2;
    std::memcpy(pivot.data(), record_at(of, middle), pivot.size());
    std::uint64_t total = 0;
    for (std::uint32_t run = 0; run < low.size(); ++run) {
      std::uint64_t begin = low[run];
      std::uint64_t end = run == of ? begin : high[run];
      while (begin < end) {
        const std::uint64_t probe = begin + (end - begin) / 2;
        const int compared = order.compare(record_at(run, probe), pivot.data());
        if (compared < 0 || (compared == 0 && run < of)) {
          begin = probe + 1;
        } else {
          end = probe;
        }
      }
      up_to[run] = run == of ? middle + 1 : begin;
      total += up_to[run] - low[run];
    }
    if (total <= wanted) {
      std::copy(up_to.begin(), up_to.end(), low.begin());
      wanted -= total;
    } else {
      std::copy(up_to.begin(), up_to.end(), high.begin());
      high[of] = middle;
    }
  }
}

}  // namespace gsort
