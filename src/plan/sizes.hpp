// The sizes of a sort under a budget of memory. make_plan.cpp asks, with a SizeQuestion for each
// number of threads that it tries, and gets Sizes.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/engine_sizes.hpp"
#include "plan/plan.hpp"

namespace gsort {

// One entry of a run's index, with the slack of its vector.
inline constexpr std::uint64_t kFenceBytes = 40;

// The facts from which sizes are chosen.
struct SizeQuestion {
  const EngineSizes* engine = &cpu_sizes();
  ElementSize element;
  unsigned threads = 1;
  std::uint64_t elements = 0;  // of the whole input; a guess that is too large is safe
  bool size_known = true;
  bool spills = false;                     // runs are made even if there is little to sort
  bool keeps_tier = true;                  // runs may stay in memory
  std::uint64_t fixed_block_elements = 0;  // of existing runs; 0: there are none
  bool staged_output = false;              // the output is a stream: lanes collect their parts
  std::uint64_t host_bytes = 0;            // for buffers
  unsigned devices = 1;                    // over which lanes are spread
  bool may_share = false;                  // the devices may hold one chunk together
  std::uint64_t device_bytes = 0;          // of each device
  std::uint64_t most_arena_bytes = 0;      // the memory that is reserved already; 0: none yet
  std::uint32_t most_fan_in = 0;           // --batch-size; 0: no bound
};

struct Sizes {
  ChunkPlan chunk;
  RunPlan run;  // without the number of runs and their rounds
  std::uint64_t fence_bytes = 0;
  double cost = 0;  // see spill_cost(); 0 if everything fits one chunk; for a pipe, a guess
};

[[nodiscard]] const EngineSizes& sizes_of(EngineKind kind);
[[nodiscard]] ElementSize element_size_of(const Plan& plan);

// The least budget of the plan's devices; 0 if it has none.
[[nodiscard]] std::uint64_t least_device_budget(const Plan& plan);

// The part of the host budget that is left for the sort's own buffers.
[[nodiscard]] std::uint64_t sorting_budget(const Plan& plan);

// The facts that all questions about a plan's sizes need.
[[nodiscard]] SizeQuestion question_of(const Plan& plan);

// The cost of forming runs and merging them, in units of the time in which one core sorts one
// element, to compare plans for the same elements. `threads` cores work, and up to the fraction
// `kept_share` of the runs' elements stays in memory.
[[nodiscard]] double spill_cost(std::uint64_t run_count, std::uint32_t fan_in, unsigned threads,
                                double kept_share);

// None if the budgets are too small for any sort of that much data.
[[nodiscard]] std::optional<Sizes> choose_sizes(SizeQuestion question);

// Windows of as many inputs as fit, at most `inputs` and at most question.most_fan_in, if that is
// given. fan_in is less than 2 if memory is too small to merge.
[[nodiscard]] InputMergePlan input_merge_sizes(const SizeQuestion& question, std::uint64_t inputs);

// The largest part, of at most wanted_elements, for which all lanes with their buffers stay within
// host_bytes, and those of a device within device_bytes; 0 if not even one block of each run fits.
[[nodiscard]] MergePlan merge_sizes(const SizeQuestion& question, const RunPlan& run,
                                    std::uint64_t fence_bytes, std::uint32_t runs,
                                    std::uint64_t wanted_elements);

}  // namespace gsort
