// The input in blocks of raw keys, in whatever order workers come for them; proven to be read.
#pragma once

#include <cstdint>
#include <functional>

#include "io/input/reader.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort {

// Reads the next block of `worker` and returns its bytes; 0 when there is nothing left for it.
using BlockReader = std::function<std::size_t(unsigned worker, ByteSpan block)>;

// All inputs as one sequence. `meter` may be null; all arguments outlive the result.
[[nodiscard]] BlockReader blocks_of(io::Reader& reader, Proof& proof, Meter* meter);

// Every input by itself, checked to be sorted (sorted_input.hpp).
[[nodiscard]] BlockReader blocks_of_sorted(io::Reader& reader, const KeyFormat& format,
                                           Proof& proof, Meter* meter, unsigned workers);

}  // namespace gsort
