// SortContext: what the stages of a sort work with, whichever door asks for it. All sizes and
// switches are in its plan; the functions below make of a plan what every door needs: proof,
// engine, options for runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/meter.hpp"
#include "base/tier_memory.hpp"
#include "engine/device_losses.hpp"
#include "engine/engine.hpp"
#include "io/input/reader.hpp"
#include "io/runs/run_store.hpp"
#include "io/runs/tier_group.hpp"
#include "pipeline/proof/proof.hpp"
#include "pipeline/resumption.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"

namespace gsort {

// Makes the plan's engine, to work in `memory`, which outlives it.
using EngineMaker =
    std::function<std::unique_ptr<Engine>(const Plan&, const EngineShape&, ByteSpan memory)>;

// Allocates `bytes` for runs on a device of the plan.
// Throws: Error(kResource) when the device has less.
using TierMaker =
    std::function<std::unique_ptr<TierMemory>(const DevicePlan&, std::uint64_t bytes)>;

// The run store is made when the first run needs it: most sorts need none.
using RunStoreMaker = std::function<io::RunStore&()>;

// Is told of every run that is whole, in the order of the input's elements that it holds, with
// their fingerprint. Chunks are then filled one after the other. Requires: one thread spills
// (plan.chunk.spillers).
using RunKeeper = std::function<void(const io::Run& run, const Fingerprint& elements)>;

// The output is prepared when its size is known: for a pipe, after everything has been read. Who
// puts elements while others are still being read may not know their number (and then must know
// that there are any).
using OutputMaker = std::function<PieceSink&(std::optional<std::uint64_t> elements)>;

struct SortContext {
  // A door sets these.
  const Plan& plan;                                 // may change between two attempts
  io::Reader* reader = nullptr;                     // null where runs are all of the input
  std::vector<std::string> temporary_folders = {};  // for runs
  EngineMaker make_engine = nullptr;
  TierMaker make_tier = nullptr;     // called for each device if the plan has a tier there
  Meter* meter = nullptr;            // is told of all phases and stages; may be null
  Resumption* resumption = nullptr;  // keeps runs, which else are gone with the process
  RunKeeper keep = nullptr;          // may be null

  // The sort sets these for its stages.
  Proof* proof = nullptr;  // of what is read
  Engine* engine = nullptr;
  ByteSpan memory = {};  // the engine's; stages take buffers of their own from its end
  RunStoreMaker store = nullptr;
  DeviceLosses* losses = nullptr;  // null: a device that fails ends the sort
};

// The proof of a sort by the plan. The meter, which may be null, outlives it.
[[nodiscard]] Proof proof_of(const Plan& plan, Meter* meter);

// The shape of the plan's engine.
[[nodiscard]] EngineShape engine_shape_of(const Plan& plan, Meter* meter);

// Makes the engine that the context then names, to work in `memory`. The caller keeps it while
// stages use it.
[[nodiscard]] std::unique_ptr<Engine> start_engine(SortContext& context, ByteSpan memory);

// The options for the plan's runs, without a tier.
[[nodiscard]] io::RunStoreOptions run_store_options(const Plan& plan);

// Makes the tier in the memory of the plan's devices, as far as it plans one, and gives it to
// `options`. A device that has less than it said when the plan was made costs time alone: a note
// says so. Requires: the tier outlives the store.
void add_device_tier(const Plan& plan, const TierMaker& make_tier,
                     std::optional<io::TierGroup>& tier, io::RunStoreOptions& options,
                     std::vector<std::string>& notes);

// Copies the totals that a store of runs has measured.
void take_run_totals(const io::RunStore& store, Statistics& statistics);

}  // namespace gsort
