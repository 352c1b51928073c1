// SortContext: the objects that the stages of a sort use. All sorts use it: those of gsort,
// gsort-mpi, the library and Python. Its plan has all sizes and switches. The functions below make
// from a plan the objects that every sort needs: proof, engine, store of runs, cuts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/device_error.hpp"
#include "base/meter.hpp"
#include "base/tier_memory.hpp"
#include "engine/device_losses.hpp"
#include "engine/engine.hpp"
#include "io/input/reader.hpp"
#include "io/runs/run_store.hpp"
#include "pipeline/proof/proof.hpp"
#include "pipeline/run_folder.hpp"
#include "pipeline/split/run_counter.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"

namespace gsort {

// Makes the plan's engine, which works in `memory`. Requires: the memory outlives the engine.
using EngineMaker =
    std::function<std::unique_ptr<Engine>(const Plan&, const EngineShape&, ByteSpan memory)>;

// Allocates `bytes` for runs on a device of the plan. Throws: Error(kResource) if the device has
// less.
using TierMaker =
    std::function<std::unique_ptr<TierMemory>(const DevicePlan&, std::uint64_t bytes)>;

// Returns the run store; the first call makes it, because most sorts need none.
using RunStoreMaker = std::function<io::RunStore&()>;

// Prepares the output when its size is known: for a pipe, after everything has been read. A caller
// that puts elements while others are still being read may not know their number; then it must know
// that there is at least one.
using OutputMaker = std::function<PieceSink&(std::optional<std::uint64_t> elements)>;

// Called after a device failed: changes the context's plan so that it does not use the device, or
// uses less of its memory. Throws: Error if there is no such plan.
using PlanWithout = std::function<void(const DeviceError&)>;

// The failures after which a sort is planned again, without a device or with less of its memory.
enum class Planned : std::uint8_t { kAfterFailures, kAfterLackOfMemory };

struct SortContext {
  // The caller of a sort sets these.
  const Plan& plan;              // may change between two attempts
  io::Reader* reader = nullptr;  // null if the input consists of runs
  EngineMaker make_engine = nullptr;
  TierMaker make_tier = nullptr;       // called for each device if the plan has a tier there
  Meter* meter = nullptr;              // records all phases and stages; may be null
  RunFolder* run_folder = nullptr;     // keeps runs after the process; may be null
  PlanWithout plan_without = nullptr;  // null: if a device fails, the sort fails
  Planned again = Planned::kAfterFailures;

  // The sort sets these for its stages.
  Proof* proof = nullptr;  // of the elements that are read
  Engine* engine = nullptr;
  ByteSpan memory = {};  // of the engine; stages take their own buffers from its end
  RunStoreMaker store = nullptr;
  DeviceLosses* losses = nullptr;  // null: nothing else redoes the work of a failed device
};

// The proof of a sort. `meter` may be null. Requires: it outlives the proof.
[[nodiscard]] Proof proof_of(const Job& job, Meter* meter);

// Makes the engine, which works in `memory`, and sets it in the context. The caller keeps it while
// stages use it.
[[nodiscard]] std::unique_ptr<Engine> start_engine(SortContext& context, ByteSpan memory);

// Makes the store of the runs that a sort forms, in the plan's temporary folders or in the
// context's run folder, which keeps them; with a tier in the memory of the plan's devices, if the
// plan has one. If a device has less memory than when the plan was made, the sort only takes
// longer; a note says so. Throws: Error.
io::RunStore& make_run_store(const SortContext& context, std::optional<io::RunStore>& store,
                             std::vector<std::string>& notes);

// The runs of the plan's merge, as RunCounter takes them. `scratch_bytes` is the least scratch for
// reading any of them. The runs outlive the result.
[[nodiscard]] RunsToCut runs_to_cut(const Plan& plan, std::span<const io::Run> runs,
                                    std::uint64_t scratch_bytes);

// Copies the totals that a run store has measured into `statistics`.
void take_run_totals(const io::RunStore& store, Statistics& statistics);

}  // namespace gsort
