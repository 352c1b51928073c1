// Keys of one and two bytes are counted, not sorted: how often each value occurs is all there is to
// know. One read, one write, memory for the counts only, whatever the size of the input.
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

// The two halves, for a sort of several processes, which add their counts up in between.
//
// How often each key occurs, by ordered key.
using KeyCounts = std::vector<std::uint64_t>;
[[nodiscard]] KeyCounts read_counts(const Plan& plan, const BlockReader& read, Meter* meter,
                                    ByteSpan memory);

// Puts a range of the sorted keys. Requires: it lies in what all counts add up to.
void put_counted(const Plan& plan, const KeyCounts& counts, OutputRange range, Meter* meter,
                 ByteSpan memory, PieceSink& sink);

}  // namespace gsort
