#include "plan/make_plan.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/page.hpp"
#include "base/units.hpp"
#include "form/equal_floats.hpp"
#include "plan/batch_plan.hpp"
#include "plan/budget.hpp"
#include "plan/disk_space.hpp"
#include "plan/engine_choice.hpp"
#include "plan/merge_plan.hpp"
#include "plan/result_size.hpp"
#include "plan/rounds.hpp"
#include "plan/select_plan.hpp"
#include "plan/sizes.hpp"
#include "plan/too_small.hpp"

namespace gsort {
namespace {

// The amount of data from a pipe is not known. Sizes that depend on it are chosen for the first of
// these multiples of the memory that fits. If more data comes, the sort stays correct, but may be
// slower, and its fences may exceed the memory budget.
constexpr std::array<std::uint64_t, 3> kPipeGuessFactors = {1024, 256, 64};

std::uint64_t pipe_guess(const SizeQuestion& q, std::uint64_t factor) {
  return capped_product(q.host_bytes / q.element.bytes, factor);
}

SizeQuestion question_for(const Plan& plan, std::uint64_t pipe_factor = kPipeGuessFactors.front()) {
  SizeQuestion q = question_of(plan);
  q.size_known = !plan.is<UnknownSize>();
  q.elements = q.size_known ? plan.elements : pipe_guess(q, pipe_factor);
  // Groups of inputs become runs.
  q.spills = plan.job.merged_inputs > 0 || plan.resumed.runs > 0 || plan.job.forms_share;
  q.keeps_tier = !plan.job.resumable;
  q.fixed_block_elements = plan.resumed.block_elements;
  q.most_fan_in = plan.job.resources.batch_size.value_or(0);
  // A sort that can be resumed keeps runs.
  q.may_share =
      !plan.job.resumable && are_alike(links_of(std::span<const DevicePlan>(plan.devices)));
  return q;
}

void take_sizes(Plan& plan, const Sizes& sizes) {
  plan.chunk = sizes.chunk;
  plan.run = sizes.run;
  if (plan.is<UnknownSize>()) return;
  // If there are no elements, a chunk need not hold even one.
  const std::uint64_t chunk_elements = std::max<std::uint64_t>(plan.chunk.chunk_elements, 1);
  plan.run.count =
      plan.resumed.runs + div_up(plan.elements - plan.resumed.elements, chunk_elements);
  plan.strategy = OneChunk{};
  const bool has_runs = plan.resumed.runs > 0 || plan.job.forms_share;
  if (plan.run.count > 1 || has_runs) plan.strategy = Spill{};
  plan.run.rounds = plan_rounds(plan.run.count, plan.run.fan_in);
}

// A merge may need more or less memory for its blocks than run formation: all merges of the plan
// are laid out in one arena.
std::uint64_t merge_arena(const Plan& plan) {
  if (plan.is<UnknownSize>()) {
    constexpr std::uint32_t kLikelyRuns = 64;
    const std::uint32_t runs = std::min(plan.run.fan_in, kLikelyRuns);
    return plan_merge(plan, runs, runs * plan.chunk.chunk_elements).arena_bytes;
  }
  std::uint64_t most = 0;
  std::uint64_t runs = plan.run.count;
  for (const MergeRound& round : plan.run.rounds) {
    for (const std::uint32_t group : round.group_sizes) {
      most = std::max(most, plan_merge(plan, group, plan.elements).arena_bytes);
    }
    runs = round.group_sizes.size();
  }
  return std::max(most,
                  plan_merge(plan, static_cast<std::uint32_t>(runs), plan.elements).arena_bytes);
}

// Counting: a block for each reader, and its four tables of 32-bit counters.
void plan_counting(Plan& plan) {
  plan.strategy = CountKeys{};
  plan.engine_reason = "keys of one and two bytes are counted";
  plan.chunk.block_bytes = 256 * kKiB;
  const std::uint64_t tables = std::uint64_t{4} * sizeof(std::uint32_t) << (8 * plan.element_bytes);
  plan.chunk.readers = static_cast<unsigned>(std::clamp<std::uint64_t>(
      sorting_budget(plan) / (plan.chunk.block_bytes + tables), 1, plan.threads));
  plan.chunk.arena_bytes = plan.chunk.readers * plan.chunk.block_bytes;
  plan.arena_bytes = plan.chunk.arena_bytes;
}

void choose_engine_of(Plan& plan, const Machine& machine) {
  const EngineDecision decision = choose_engine(plan.job, machine);
  plan.engine = decision.cuda ? EngineKind::kCuda : EngineKind::kCpu;
  plan.engine_reason = decision.reason;
  if (!decision.cuda) return;
  for (const GpuFacts& gpu : choose_devices(plan.job, machine)) {
    plan.devices.push_back({.ordinal = gpu.device,
                            .name = gpu.name,
                            .budget_bytes = device_budget(plan.job.resources, gpu),
                            .link_bytes_per_second = gpu.link_bytes_per_second,
                            .node = gpu.node});
  }
}

// A small sort should not start threads without work.
unsigned useful_threads(const Plan& plan, const Machine& machine) {
  constexpr std::uint64_t kLeastKeys = std::uint64_t{1} << 16;
  constexpr std::uint64_t kLeastRecordBytes = 256 * kKiB;
  if (!machine.input_bytes) return plan.threads;
  const std::uint64_t shares = plan.job.element.records ? *machine.input_bytes / kLeastRecordBytes
                                                        : plan.elements / kLeastKeys;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(shares, 1, plan.threads));
}

// Every thread has its own buffers: with little memory, fewer threads may make larger chunks, or
// only fewer may fit. Calls plan_with(Plan) with fewer and fewer threads, which returns the cost of
// its plan, or none if it does not fit, and takes the cheapest. Returns false if none fits.
template <class PlanWith>
bool choose_threads(Plan& plan, const PlanWith& plan_with) {
  std::optional<Plan> best;
  double best_cost = 0;
  Plan tried = plan;
  for (unsigned threads = plan.threads; threads >= 1 && (!best || best_cost > 0); threads /= 2) {
    tried = plan;
    tried.threads = threads;
    const std::optional<double> cost = plan_with(tried);
    if (!cost || (best && best_cost <= *cost)) continue;
    best = std::move(tried);
    best_cost = *cost;
  }
  if (best) plan = std::move(*best);
  return best.has_value();
}

// The same with plan_with(Plan, factor of kPipeGuessFactors); the largest factor that fits.
template <class PlanWith>
bool choose_threads_and_guess(Plan& plan, const PlanWith& plan_with) {
  const std::size_t guesses = plan.is<UnknownSize>() ? kPipeGuessFactors.size() : 1;
  return std::ranges::any_of(
      std::span(kPipeGuessFactors).first(guesses), [&](std::uint64_t factor) {
        return choose_threads(plan, [&](Plan& tried) { return plan_with(tried, factor); });
      });
}

// Lanes have sizes for which the device with the least memory has room; chunks and parts go to any
// free device. The further memory of other devices keeps runs, if there are any.
void keep_more_runs(Plan& plan) {
  if (plan.devices.size() < 2 || plan.is<OneChunk>() || plan.job.resumable) return;
  const std::uint64_t least = least_device_budget(plan);
  const std::uint64_t input = capped_product(plan.elements, plan.element_bytes);
  std::uint64_t wanted =
      plan.is<UnknownSize>() ? UINT64_MAX : capped_sum(input, input / 16);  // with padding
  wanted -= std::min(wanted, plan.device_run_bytes());
  for (DevicePlan& device : plan.devices) {
    const std::uint64_t more =
        round_down(std::min(device.budget_bytes - least, wanted), CudaFootprint::kDevicePageBytes);
    device.more_buffers = more / plan.run.write_buffer_bytes;
    wanted -= device.more_buffers * plan.run.write_buffer_bytes;
  }
}

// All functions below return false if no sizes fit the budgets.
bool plan_chunks_and_runs_for_devices(Plan& plan) {
  const auto plan_with = [](Plan& tried, std::uint64_t pipe_factor) -> std::optional<double> {
    const std::optional<Sizes> sizes = choose_sizes(question_for(tried, pipe_factor));
    if (!sizes) return std::nullopt;
    take_sizes(tried, *sizes);
    return sizes->cost;
  };
  if (!choose_threads_and_guess(plan, plan_with)) return false;
  keep_more_runs(plan);
  plan.temporary_bytes = temporary_need(plan);
  plan.arena_bytes = plan.chunk.arena_bytes;
  if (!plan.is<OneChunk>()) {
    const std::uint64_t chunk_arena = std::exchange(plan.arena_bytes, 0);
    plan.arena_bytes = std::max(chunk_arena, merge_arena(plan));
  }
  return true;
}

// Every device needs lanes, which also take host memory: if there is too little, fewer devices
// sort, unless exactly these were requested.
bool plan_chunks_and_runs(Plan& plan) {
  while (!plan_chunks_and_runs_for_devices(plan)) {
    if (plan.devices.size() < 2 || !plan.job.resources.devices.is_auto()) return false;
    plan.devices.pop_back();
  }
  if (plan.is<OneChunk>() && !plan.chunk.is_shared && plan.devices.size() > 1) {
    plan.devices.resize(1);
  }
  return true;
}

// Windows of all inputs, if need be with fewer threads.
bool plan_merge_at_once(Plan& plan) {
  const std::uint64_t inputs = plan.job.merged_inputs;
  for (unsigned threads = plan.threads; threads >= 1; threads /= 2) {
    Plan tried = plan;
    tried.threads = threads;
    const InputMergePlan merge = input_merge_sizes(question_for(tried), inputs);
    if (merge.fan_in < inputs) continue;
    plan = std::move(tried);
    plan.strategy = merge;
    return true;
  }
  return false;
}

// More inputs than can be merged at once become runs, a group at a time, and these are merged.
bool plan_merge_in_groups(Plan& plan) {
  const auto plan_with = [&](Plan& tried, std::uint64_t pipe_factor) -> std::optional<double> {
    SizeQuestion q = question_for(tried, pipe_factor);
    const std::optional<Sizes> sizes = choose_sizes(q);
    if (!sizes) return std::nullopt;
    take_sizes(tried, *sizes);
    // In addition to the memory of runs that are written at the same time.
    q.host_bytes = question_of(tried).host_bytes;
    q.device_bytes = question_of(tried).device_bytes;
    const std::uint64_t runs =
        tried.run.write_buffers_bytes() + fence_bytes(tried.run, q.elements, q.host_bytes);
    q.host_bytes -= std::min(q.host_bytes, runs);
    const InputMergePlan merge = input_merge_sizes(q, plan.job.merged_inputs);
    if (merge.fan_in < 2) return std::nullopt;
    tried.strategy = merge;
    tried.run.count = div_up(plan.job.merged_inputs, merge.fan_in);
    tried.run.rounds = plan_rounds(tried.run.count, tried.run.fan_in);
    return spill_cost(tried.run.count, tried.run.fan_in, tried.threads, 0);
  };
  return choose_threads_and_guess(plan, plan_with);
}

bool plan_input_merge(Plan& plan) {
  const bool at_once = plan_merge_at_once(plan);
  if (!at_once && !plan_merge_in_groups(plan)) return false;
  plan.temporary_bytes = temporary_need(plan);
  plan.arena_bytes = at_once ? 0 : merge_arena(plan);
  plan.arena_bytes = std::max(plan.arena_bytes, plan.as<InputMergePlan>().arena_bytes);
  return true;
}

// Windows of all inputs, and for each thread a piece, which stays in the cache together with its
// dropped elements. With little memory, fewer threads.
bool plan_set_operation(Plan& plan) {
  constexpr std::uint64_t kPieceBytes = 64 * kKiB;
  constexpr std::uint64_t kLeastWindowBytes = 16 * kKiB;
  constexpr std::uint64_t kUsualWindowBytes = 64 * kKiB;
  constexpr std::uint64_t kMostWindowBytes = 4 * kMiB;
  constexpr std::uint64_t kUsualBytes = 64 * kMiB;  // of all windows
  const std::uint64_t inputs = plan.job.merged_inputs;
  const auto most_bytes = [&] {
    const std::uint64_t budget = sorting_budget(plan);
    return (budget - std::min(budget, plan.threads * kPieceBytes)) / inputs;
  };
  while (plan.threads > 1 && most_bytes() < kUsualWindowBytes) plan.threads /= 2;
  const std::uint64_t wanted =
      std::clamp(kUsualBytes / inputs, kUsualWindowBytes, kMostWindowBytes);
  const std::uint64_t window_bytes = round_down(std::min(wanted, most_bytes()), kMemoryPageBytes);
  if (window_bytes < kLeastWindowBytes) return false;
  plan.strategy = SetPlan{window_bytes, kPieceBytes};
  plan.engine_reason = "sorted inputs are compared on the CPU";
  plan.arena_bytes = inputs * window_bytes + plan.threads * kPieceBytes;
  return true;
}

// Plans each array as a separate sort. The length of a pipe is unknown: an array longer than any
// guess may be the whole, short content of the pipe.
bool plan_array_by_array(Plan& plan, const Machine& machine) {
  const std::uint64_t all = plan.elements;
  const std::uint64_t array = plan.job.array_elements;
  const bool is_known = machine.input_bytes || array <= question_for(plan).elements;
  if (is_known) plan.strategy = Spill{};
  if (is_known) plan.elements = machine.input_bytes ? std::min(all, array) : array;
  if (!plan_chunks_and_runs(plan)) return false;
  plan.elements = all;
  if (!machine.input_bytes) plan.temporary_bytes = 0;
  return true;
}

// Arrays that fit in memory together with others are sorted by one core each, or many at once by
// the device; larger ones are separate sorts, one after the other, all by the plan for one of them.
bool plan_arrays(Plan& plan, const Machine& machine) {
  choose_engine_of(plan, machine);
  if (plan_batches(plan)) return true;
  if (!is_counted(plan.job)) return plan_array_by_array(plan, machine);
  plan_counting(plan);
  return true;
}

bool plan_sort(Plan& plan, const Machine& machine) {
  const bool merges = plan.job.merged_inputs > 0;
  if (plan.job.array_elements > 0) return plan_arrays(plan, machine);
  if (plan.job.compares_inputs()) {
    plan.threads = useful_threads(plan, machine);
    return plan_set_operation(plan);
  }
  if (is_counted(plan.job)) {
    plan_counting(plan);
    return true;
  }
  if (!merges && plan.resumed.runs == 0 && plan_selection(plan)) return true;
  choose_engine_of(plan, machine);
  if (machine.input_bytes) plan.strategy = Spill{};
  plan.threads = useful_threads(plan, machine);
  return merges ? plan_input_merge(plan) : plan_chunks_and_runs(plan);
}

// None if no sizes fit the budgets.
std::optional<Plan> plan_within_budgets(const Job& job, const Machine& machine) {
  Plan plan;
  plan.job = job;
  plan.element_bytes = job.element.bytes();
  plan.threads = job.resources.parallel.value_or(machine.cores);
  plan.host_budget_bytes = host_budget(job.resources, machine);
  const bool takes_any_order = machine.output || machine.output_is_null;
  plan.output.needs_order = !takes_any_order || job.needs_order();
  plan.decoding = plan_decoding(job, machine);
  plan.names_bytes = machine.names_bytes;
  plan.resumed = machine.resumed;
  for (const Folder& folder : machine.temporary) plan.temporary_folders.push_back(folder.path);
  if (machine.input_bytes) plan.elements = *machine.input_bytes / plan.element_bytes;
  refuse_unknown_count(job, machine);
  plan.output.least_bytes = least_output_bytes(job, least_elements(job, plan.elements));
  if (!plan_sort(plan, machine)) return std::nullopt;
  plan.output.encode = plan_encoding(plan);
  plan.output.windows = plan_write_windows(plan);
  return plan;
}

// Without -S: half of the memory that files in memory leave.
std::optional<Plan> plan_beside_files(const Job& job, Machine machine, std::uint64_t bytes) {
  machine.available_bytes -= std::min(machine.available_bytes, bytes);
  return plan_within_budgets(job, machine);
}

// A smaller -S, in MiB, with which files in memory leave enough; 0: none was found.
std::uint64_t size_beside_files(Job job, const Machine& machine, const Plan& plan) {
  for (std::uint64_t bytes = plan.host_budget_bytes / 2; bytes >= kLeastPromise; bytes /= 2) {
    job.resources.buffer_size = fmt::format("{}M", bytes / kMiB);
    const std::optional<Plan> smaller = plan_within_budgets(job, machine);
    if (smaller && files_leave_memory(*smaller, machine)) return bytes / kMiB;
  }
  return 0;
}

Plan plan_of_elements(const Job& job, const Machine& machine, const SuitsPlan& suits) {
  require_asked_engine(job.resources, machine);
  const HasPlan has_plan = [&](const Resources& other) {
    Job tried = job;
    tried.resources = other;
    const std::optional<Plan> plan = plan_within_budgets(tried, machine);
    return plan && (!suits || suits(*plan));
  };
  require_decoding_memory(job, machine, has_plan);
  std::optional<Plan> plan = plan_within_budgets(job, machine);
  if (!plan) throw too_small(job, machine, has_plan);
  if (!job.resources.buffer_size && !files_leave_memory(*plan, machine)) {
    plan = plan_beside_files(job, machine, files_in_memory(*plan, machine)).value_or(*plan);
  }
  if (!files_leave_memory(*plan, machine)) {
    throw no_memory_for_files(*plan, machine, size_beside_files(job, machine, *plan));
  }
  require_disk_space(*plan, machine);
  plan->output.makes_room_early = output_fits_memory(*plan, machine);
  plan->run.through_page_cache = runs_fit_page_cache(*plan, machine);
  return std::move(*plan);
}

// Whether keys with different bits may be equal.
bool has_classes(const Job& job) {
  return !job.element.records && !floats_in_numeric_order(job.element).empty();
}

}  // namespace

// Runs of keys are packed, also of keys of 16 bytes. Runs that another process reads, and elements
// with positions, stay records.
Plan make_plan(Job job, const Machine& machine, const SuitsPlan& suits) {
  const bool has_own_runs = !job.resumable && !job.forms_share && !job.numbered;
  if (has_own_runs) job.element = job.element.as_keys(sizeof(UInt128));
  Plan plan = plan_of_elements(job, machine, suits);
  if (job.merged_inputs == 0 || plan.run.count == 0 || !has_classes(job)) return plan;
  // Inputs have equal floats in any order, which runs of keys cannot have.
  job.shown = job.element;
  const KeyFormat& key = job.element.key;
  const auto bytes = static_cast<std::uint32_t>(job.element.bytes());
  job.element.records =
      RecordFormat{bytes, {{0, bytes, key.type, key.big_endian, key.descending, key.float_order}}};
  return plan_of_elements(job, machine, suits);
}

}  // namespace gsort
