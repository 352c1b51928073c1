// One part: its slices are loaded into a lane, which merges them.
#pragma once

#include <cstdint>
#include <span>

#include "base/meter.hpp"
#include "engine/engine.hpp"
#include "io/runs/run_store.hpp"
#include "pipeline/part_queue.hpp"

namespace gsort {

// The state that the parts of one merge share.
struct PartMerge {
  std::span<const io::Run> runs;
  std::uint64_t element_bytes = 0;
  KeyForm form = KeyForm::kRaw;
  Meter* meter = nullptr;  // may be null
};

// Loads the slices of the part, from at most as many threads as there are buffers in `scratch`, and
// puts the merged elements into `sink`, at their positions in the whole output. Requires: the part
// fits the lane's input(); scratch as for io::Run. Throws: Error from reading runs, or from the
// sink; all threads have ended by then.
void merge_part(const PartMerge& merge, const Part& part, MergeLane& lane,
                std::span<const ByteSpan> scratch, PieceSink& sink);

}  // namespace gsort
