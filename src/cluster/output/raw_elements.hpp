// Elements of this process's runs as they were read from the input.
#pragma once

#include <cstdint>

#include "base/bytes.hpp"
#include "base/meter.hpp"
#include "element/element.hpp"
#include "pipeline/run_view.hpp"

namespace gsort::cluster {

// Elements [begin, end) of the run. `out` has room for them and no more; `scratch` is as of
// RunView. Throws: Error(kTemporary), Error(kCorrupt) from reading.
void read_raw(const RunView& run, std::uint64_t begin, std::uint64_t end,
              const ElementFormat& format, ByteSpan out, ByteSpan scratch);

// As many of elements [begin, end) as a frame has, loaded into `scratch`, which is as of
// exchange_scratch_bytes(). Throws: as read_raw().
[[nodiscard]] ConstByteSpan load_frame(const RunView& run, std::uint64_t begin, std::uint64_t end,
                                       const ElementFormat& format, ByteSpan scratch, Meter* meter);

}  // namespace gsort::cluster
