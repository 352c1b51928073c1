// The input in blocks of raw keys, in the order in which workers ask for them; the proof covers all
// that is read.
#pragma once

#include <cstdint>
#include <functional>

#include "io/input/reader.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort {

// Reads the next block for `worker` and returns its bytes; 0 if there are no more blocks.
using BlockReader = std::function<std::size_t(unsigned worker, ByteSpan block)>;

// All inputs as one sequence. `meter` may be null; all arguments outlive the result.
[[nodiscard]] BlockReader blocks_of(io::Reader& reader, Proof& proof, Meter* meter);

// Each input separately, checked to be sorted (sorted_input.hpp).
[[nodiscard]] BlockReader blocks_of_sorted(io::Reader& reader, const KeyFormat& format,
                                           Proof& proof, Meter* meter, unsigned workers);

}  // namespace gsort
