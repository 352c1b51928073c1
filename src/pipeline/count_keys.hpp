// Keys of one and two bytes are counted, not sorted: the number of times that each value occurs
// determines the result. One read, one write, and memory only for the counts, whatever the size of
// the input.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/input/block_reader.hpp"
#include "pipeline/part_queue.hpp"
#include "pipeline/sort_context.hpp"

namespace gsort {

// Reads everything, then puts the sorted keys. `memory` holds plan.chunk.arena_bytes. `meter`
// may be null. Returns the elements. Throws: Error from reading or from the output.
std::uint64_t count_keys(const Plan& plan, const BlockReader& read, Meter* meter, ByteSpan memory,
                         const OutputMaker& output);

// The two halves, for a sort by several processes, which add up their counts in between.
//
// The number of times that each key occurs, by ordered key.
using KeyCounts = std::vector<std::uint64_t>;
[[nodiscard]] KeyCounts read_counts(const Plan& plan, const BlockReader& read, Meter* meter,
                                    ByteSpan memory);

// Puts a range of the sorted keys. Requires: it ends at or before the sum of all counts.
void put_counted(const Plan& plan, const KeyCounts& counts, OutputRange range, Meter* meter,
                 ByteSpan memory, PieceSink& sink);

}  // namespace gsort
