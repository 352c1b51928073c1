// Run formation: the input is read chunk by chunk; each chunk is sorted and becomes a run in the
// store, while the next one is being read into another lane. If the first chunk turns out to be all
// there is, it goes straight to the output, unless runs are all that is wanted. Runs that an
// earlier process has left come first.
//
// If the device of a lane fails, the lane takes no more chunks, and its chunk is read again and
// sorted in another lane at the end. This needs inputs of known size, no runs in device memory (a
// lost device takes something of each of them with it), and a lane that is left.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/meter.hpp"
#include "engine/device_losses.hpp"
#include "engine/engine.hpp"
#include "io/input/reader.hpp"
#include "io/runs/run_store.hpp"
#include "pipeline/proof/proof.hpp"
#include "pipeline/resumption.hpp"
#include "plan/plan.hpp"

namespace gsort {

struct FormedRuns {
  std::vector<io::Run> runs;  // empty if the chunk went straight to the output
  std::uint64_t elements = 0;
};

// The run store is made when the first run needs it: most sorts need none.
using RunStoreMaker = std::function<io::RunStore&()>;

// The output is prepared when its size is known: for a pipe, after everything has been read. Who
// puts elements while others are still being read may not know their number (and then must know
// that there are any).
using OutputMaker = std::function<PieceSink&(std::optional<std::uint64_t> elements)>;

// Is told of every run that is whole, in the order of the input's elements that it holds, with
// their fingerprint. Chunks are then filled one after the other. Requires: one thread spills
// (plan.chunk.spillers).
using RunKeeper = std::function<void(const io::Run& run, const Fingerprint& elements)>;

// What run formation works with.
struct FormContext {
  const Plan& plan;
  Engine& engine;
  io::Reader& reader;
  Proof& proof;
  Meter* meter;                    // may be null
  Resumption* resumption;          // may be null: runs are then gone with the process
  bool always_runs = false;        // the only chunk becomes a run, too, and none of no elements
  RunKeeper keep = nullptr;        // may be null
  DeviceLosses* losses = nullptr;  // null: a device that fails ends the sort
};

// Throws: Error from reading, sorting, writing, or the proof; all threads have ended by then.
[[nodiscard]] FormedRuns form_runs(const FormContext& context, const RunStoreMaker& run_store,
                                   const OutputMaker& output);

}  // namespace gsort
