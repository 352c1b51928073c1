// Elements of this process's runs as they were read from the input.
#pragma once

#include <cstdint>

#include "base/bytes.hpp"
#include "base/meter.hpp"
#include "element/element.hpp"
#include "io/runs/run_store.hpp"

namespace gsort::cluster {

// Elements [begin, end) of the run. `out` has room for them and no more; `scratch` is as of
// io::Run. Throws: Error(kTemporary), Error(kCorrupt) from reading.
void read_raw(const io::Run& run, std::uint64_t begin, std::uint64_t end,
              const ElementFormat& format, ByteSpan out, ByteSpan scratch);

// Loads elements [begin, end), or the first of them if a frame does not have room for all. Returns
// them; they lie in `scratch`, which has exchange_scratch_bytes(). Throws: as read_raw().
[[nodiscard]] ConstByteSpan load_frame(const io::Run& run, std::uint64_t begin, std::uint64_t end,
                                       const ElementFormat& format, ByteSpan scratch, Meter* meter);

}  // namespace gsort::cluster
