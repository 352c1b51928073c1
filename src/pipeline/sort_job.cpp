#include "pipeline/sort_job.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "io/runs/run_store.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/memory.hpp"
#include "io/system/space.hpp"
#include "pipeline/compare_inputs.hpp"
#include "pipeline/count_keys.hpp"
#include "pipeline/form_runs.hpp"
#include "pipeline/merge_inputs.hpp"
#include "pipeline/merge_runs.hpp"
#include "pipeline/output/output_chain.hpp"
#include "pipeline/output/sinks.hpp"
#include "pipeline/proof/damage_hint.hpp"
#include "pipeline/proof/proof.hpp"
#include "pipeline/select_top.hpp"
#include "pipeline/sort_arrays.hpp"
#include "plan/rounds.hpp"

namespace gsort {
namespace {

OrderKind order_of(const Plan& plan) {
  return plan.job.unique ? OrderKind::kStrict : OrderKind::kAscending;
}

std::span<io::Output> outputs_of(const SortJob& job) {
  return job.parts.empty() ? std::span(&job.output, 1) : job.parts;
}

// One sort, with what its stages share.
class Sort {
 public:
  // `losses`: null where a device that fails ends the sort.
  Sort(const SortJob& job, DeviceLosses* losses)
      : job_(job),
        plan_(job.plan),
        losses_(losses),
        meter_(job.meter != nullptr ? *job.meter : own_meter_),
        proof_(job.plan.job.proven_element(), job.verify, &meter_, order_of(job.plan),
               job.plan.job.top),
        output_(job.plan, outputs_of(job), proof_, &meter_) {}

  Outcome run() {
    const std::uint64_t begin_ns = meter_.now_ns();
    require_space();
    if (plan_.output.makes_room_early) job_.output.make_room_early(plan_.output.least_bytes);
    job_.reader.limit_decoders(plan_.decoding.limit);
    if (plan_.elements > 0 || !job_.reader.known_size()) {
      sort_into_output();
    } else {
      output_.begin(0, job_.reader.header());
    }
    job_.reader.check_unchanged();
    require_all_read();
    output_.end();
    proof_.finish();
    if (job_.resumption != nullptr) job_.resumption->expect_commit();
    begin_phase(Phase::kSync, 0);
    commit();
    outcome_.seconds = static_cast<double>(meter_.now_ns() - begin_ns) * 1e-9;
    take_totals();
    try {
      if (job_.resumption != nullptr) finish_resumption();
      take_phases_and_notes();
    } catch (const std::bad_alloc&) {  // no sort fails whose output is in place
      outcome_.is_whole = false;
    }
    return std::move(outcome_);
  }

 private:
  void require_space() const {
    std::vector<io::SpaceNeed> needs;
    const std::string& folder = job_.output.folder();
    if (!folder.empty()) {
      needs.push_back({std::span(&folder, 1), plan_.output.least_bytes, "the output"});
    }
    if (plan_.temporary_bytes > 0) {
      needs.push_back({job_.temporary_folders, plan_.temporary_bytes, "runs"});
    }
    io::require_space(needs);
  }

  // Throws unless the proof covers all that the inputs hold or, if their size is not known in
  // advance, all that the reader gave, and the reader is at the end.
  void require_all_read() const {
    const std::uint64_t bytes = job_.reader.known_size().value_or(job_.reader.position());
    const std::uint64_t read = proof_.input().count;
    const bool is_all = bytes == read * plan_.element_bytes;
    if (is_all && job_.reader.at_end()) return;
    const std::string reason =
        is_all ? std::string("the inputs hold more than was sorted")
               : fmt::format("the inputs hold {} elements, but {} were sorted",
                             format_count(bytes / plan_.element_bytes), format_count(read));
    throw Error(ErrorKind::kCorrupt, "verifying what was read", reason).hint(kDefectHint);
  }

  void commit() {
    const Span span(&meter_, Stage::kSync);
    output_.commit([this] {
      if (job_.before_name) job_.before_name();
      // Syncing a large output takes time, during which an input that it replaces may be
      // appended to.
      if (!job_.output.is_stream()) job_.reader.check_unchanged();
    });
  }

  void begin_phase(Phase phase, std::uint64_t elements, std::uint64_t later_elements = 0) {
    const std::uint64_t later = capped_sum(later_elements, later_arrays_);
    meter_.begin_phase(phase, elements * plan_.element_bytes,
                       capped_product(later, plan_.element_bytes));
  }

  void sort_into_output() {
    const io::Arena arena(plan_.arena_bytes, "sorting");
    if (plan_.is<BatchPlan>()) {
      begin_phase(Phase::kRead, plan_.elements);
      const OutputMaker output = [this](std::optional<std::uint64_t> elements) -> PieceSink& {
        return output_.begin_unproven(elements, job_.reader.header());
      };
      const auto engine = job_.make_engine(plan_, engine_shape_of(plan_, &meter_), arena.bytes());
      outcome_.elements = sort_arrays(plan_, *engine, job_.reader, proof_, &meter_, output);
    } else if (plan_.job.array_elements > 0) {
      sort_array_by_array(arena.bytes());
    } else {
      const OutputMaker output = [this](std::optional<std::uint64_t> elements) -> PieceSink& {
        return output_.begin(elements, job_.reader.header());
      };
      outcome_.elements = sort_all(arena.bytes(), proof_, output);
    }
  }

  // Each array is a sort with a proof of its own; the output is one.
  void sort_array_by_array(ByteSpan memory) {
    const auto size = job_.reader.known_size();
    const auto all = size ? std::optional(*size / plan_.element_bytes) : std::nullopt;
    PieceSink* whole_output = nullptr;
    std::uint64_t elements = 0;
    do {
      job_.reader.end_at(checked_product(checked_sum(outcome_.elements, plan_.job.array_elements),
                                         plan_.element_bytes));
      Proof proof(plan_.job.element, job_.verify, &meter_);
      if (all) left_ = *all - std::min(*all, outcome_.elements);
      std::optional<OffsetSink> place;
      std::optional<ProvingSink> proving;
      const OutputMaker output = [&](std::optional<std::uint64_t> found) -> PieceSink& {
        if (whole_output == nullptr) {
          whole_output = &output_.begin_unproven(found == 0 ? found : all, job_.reader.header());
        }
        place.emplace(outcome_.elements, *whole_output);
        return proving.emplace(proof, *place);
      };
      elements = sort_all(memory, proof, output);
      proof.finish();
      proof_.add_all_of(proof, outcome_.elements);
      outcome_.elements += elements;
    } while (elements == plan_.job.array_elements && outcome_.elements != all);
  }

  // Returns the elements.
  std::uint64_t sort_all(ByteSpan memory, Proof& proof, const OutputMaker& make_output) {
    const bool merges_inputs = plan_.is<InputMergePlan>() || plan_.is<SetPlan>();
    const OutputMaker output = [&](std::optional<std::uint64_t> elements) -> PieceSink& {
      if (!merges_inputs) begin_phase(Phase::kWrite, elements.value_or(0));
      return make_output(elements);
    };
    const std::uint64_t elements = elements_of_one_sort();
    later_arrays_ = capped_product(left_ - elements, 2 + plan_.run.rounds.size());
    begin_phase(merges_inputs ? Phase::kInputMerge : Phase::kRead,
                elements - std::min(elements, plan_.resumed.elements),
                elements_after_reading(elements));
    const std::size_t first_round = plan_.is<InputMergePlan>() && plan_.run.count > 1 ? 1 : 0;
    if (first_round > 0) meter_.begin_round(first_round, 2 + plan_.run.rounds.size());
    if (plan_.is<CountKeys>()) {
      return count_keys(plan_, blocks(proof), &meter_, memory, output);
    }
    if (plan_.is<SelectPlan>()) {
      return select_top(plan_, job_.reader, proof, &meter_, memory, output);
    }
    if (plan_.is<SetPlan>()) {
      return compare_inputs(plan_, job_.reader, proof, &meter_, memory, output);
    }
    // A folder that cannot keep runs is an error now, not when the first run is ready. And however
    // the process ends from here on, the next one knows whether gsort made the folder.
    if (job_.resumption != nullptr && !plan_.is<OneChunk>()) run_store();
    EngineShape shape = engine_shape_of(plan_, &meter_);
    shape.losses = losses_;
    const auto engine = job_.make_engine(plan_, shape, memory);
    const RunStoreMaker store = [this]() -> io::RunStore& { return run_store(); };
    FormedRuns formed =
        merges_inputs
            ? merge_inputs({plan_, *engine, job_.reader, proof, &meter_, memory}, store, output)
            : form_runs({.plan = plan_,
                         .engine = *engine,
                         .reader = job_.reader,
                         .proof = proof,
                         .meter = &meter_,
                         .resumption = job_.resumption,
                         .losses = losses_},
                        store, output);
    outcome_.runs += formed.runs.size();
    if (!formed.runs.empty()) {
      begin_phase(Phase::kMerge, elements_to_merge(formed));
      merge_runs({plan_, *engine, run_store(), memory, &meter_, job_.resumption, first_round},
                 std::move(formed.runs), make_output(formed.elements));
    }
    return formed.elements;
  }

  [[nodiscard]] BlockReader blocks(Proof& proof) {
    return plan_.job.merged_inputs > 0 ? blocks_of_sorted(job_.reader, plan_.job.element.key, proof,
                                                          &meter_, plan_.chunk.readers)
                                       : blocks_of(job_.reader, proof, &meter_);
  }

  // The elements of all inputs, or of the next array; 0 if the size is not known.
  [[nodiscard]] std::uint64_t elements_of_one_sort() const {
    return plan_.job.array_elements == 0 ? left_ : std::min(left_, plan_.job.array_elements);
  }

  // The number of elements that are merged and written after reading `elements`, as planned.
  [[nodiscard]] std::uint64_t elements_after_reading(std::uint64_t elements) const {
    const bool writes_while_reading =
        plan_.is<SetPlan>() || (plan_.is<InputMergePlan>() && plan_.run.count <= 1);
    if (writes_while_reading) return 0;
    if (plan_.is<SelectPlan>()) return std::min(elements, *plan_.job.top);
    return capped_product(elements, 1 + plan_.run.rounds.size());
  }

  // The number of elements that all rounds of merging put into longer runs or the output.
  [[nodiscard]] std::uint64_t elements_to_merge(const FormedRuns& formed) const {
    std::vector<std::uint64_t> sizes;
    for (const io::Run& run : formed.runs) sizes.push_back(run.elements());
    return totals_of_rounds(sizes, plan_.run.fan_in).merged + formed.elements;
  }

  io::RunStore& run_store() {
    if (!run_store_) {
      io::RunStoreOptions options = run_store_options(plan_, job_.packing, job_.direct_io);
      add_device_tier(plan_, job_.make_tier, tier_, options, outcome_.notes);
      if (job_.resumption != nullptr) {
        options.persistent = job_.resumption->begin(options.block_elements);
      }
      run_store_.emplace(job_.temporary_folders, plan_.element_bytes, options);
    }
    return *run_store_;
  }

  void take_totals() noexcept {
    outcome_.bytes = outcome_.elements * plan_.job.input_element().bytes();
    outcome_.verified = job_.verify;
    outcome_.fingerprint = proof_.input();
    outcome_.output_elements = proof_.output().count;
    outcome_.lost_nan_payloads = output_.lost_nan_payloads();
    outcome_.resumed_runs = plan_.resumed.runs;
    outcome_.resumed_elements = plan_.resumed.elements;
    outcome_.elements_read = outcome_.elements - plan_.resumed.elements;
    if (run_store_) take_run_totals(*run_store_, outcome_);
  }

  // The files of the runs are closed before they are removed: NFS and FUSE rename an open file
  // to a hidden name, and so keep the folder.
  void finish_resumption() {
    if (run_store_) take_notes(run_store_->notes());
    run_store_.reset();
    job_.resumption->finish();
  }

  void take_notes(const std::vector<std::string>& notes) {
    outcome_.notes.insert(outcome_.notes.end(), notes.begin(), notes.end());
  }

  void take_phases_and_notes() {
    meter_.end_phase();
    outcome_.phases = meter_.phases();
    outcome_.peak_resident_bytes = io::peak_resident_bytes();
    take_notes(job_.reader.notes());
    if (run_store_) take_notes(run_store_->notes());
    for (const io::Output& output : outputs_of(job_)) take_notes(output.notes());
    if (job_.resumption != nullptr) take_notes(job_.resumption->notes());
  }

  const SortJob& job_;
  const Plan& plan_;
  DeviceLosses* losses_;
  Meter own_meter_;  // where nobody else measures
  Meter& meter_;
  Proof proof_;
  OutputChain output_;
  std::optional<io::TierGroup> tier_;
  std::optional<io::RunStore> run_store_;
  Outcome outcome_;
  std::uint64_t left_ = plan_.elements;  // of the inputs; 0 where the size is not known
  std::uint64_t later_arrays_ = 0;       // elements to move after the array at hand
};

// Whether input and output are as they were before the sort.
bool begin_again(const SortJob& job) {
  if (job.resumption != nullptr || !job.reader.rewind()) return false;
  return std::ranges::all_of(outputs_of(job), [](io::Output& output) { return output.restart(); });
}

}  // namespace

EngineShape engine_shape_of(const Plan& plan, Meter* meter) {
  EngineShape shape;
  shape.format = plan.job.element.key;
  shape.records = plan.job.element.records;
  shape.threads = std::max(plan.threads, plan.chunk.readers);
  shape.block_bytes = plan.chunk.block_bytes;
  shape.chunk_elements = plan.chunk.chunk_elements;
  shape.chunk_lanes = plan.chunk.lanes;
  shape.shares_chunk = plan.chunk.is_shared;
  shape.device_bytes = plan.device_budget_bytes();
  shape.meter = meter;
  return shape;
}

void take_run_totals(const io::RunStore& store, Statistics& statistics) {
  statistics.run_key_bytes = store.key_bytes_put();
  statistics.kept_bytes = store.bytes_kept();
  statistics.device_bytes = store.bytes_in_tier();
  statistics.spilled_bytes = store.bytes_written();
  statistics.loaded_bytes = store.bytes_read();
  statistics.peak_spilled_bytes = store.peak_bytes_in_use();
}

io::RunStoreOptions run_store_options(const Plan& plan, Packing packing, io::DirectIo direct_io) {
  io::RunStoreOptions options;
  options.block_elements = plan.run.block_elements;
  options.write_buffer_bytes = plan.run.write_buffer_bytes;
  options.write_buffers = plan.run.write_buffers;
  options.kept_buffers = plan.run.kept_buffers;
  options.packing = packing;
  if (plan.job.element.records) options.records.emplace(*plan.job.element.records);
  options.direct_io = direct_io;
  options.left_in_page_cache = plan.run.through_page_cache && direct_io == io::DirectIo::kAuto;
  return options;
}

void add_device_tier(const Plan& plan, const TierMaker& make_tier,
                     std::optional<io::TierGroup>& tier, io::RunStoreOptions& options,
                     std::vector<std::string>& notes) {
  std::vector<io::TierGroup::Member> tiers;
  for (const DevicePlan& device : plan.devices) {
    const std::uint64_t buffers = plan.run.device_buffers + device.more_buffers;
    if (buffers == 0) continue;
    try {
      tiers.push_back({make_tier(device, plan.run.device_bytes(device.more_buffers)), buffers});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kResource) throw;
      notes.push_back(fmt::format("no runs stay on device {}: {}", device.ordinal, error.what()));
    }
  }
  if (tiers.empty()) return;
  tier.emplace(std::move(tiers), plan.run.write_buffer_bytes);
  options.tier_buffers = tier->buffers();
  options.tier = &*tier;
}

Outcome run_sort(const SortJob& job) {
  const auto begin = std::chrono::steady_clock::now();
  DeviceLosses losses;
  for (;;) {
    try {
      Outcome outcome = Sort(job, job.plan_without ? &losses : nullptr).run();
      outcome.lost_devices = losses.all();
      const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
      outcome.seconds = all.count();
      return outcome;
    } catch (const DeviceError& failure) {
      if (!job.plan_without || !begin_again(job)) throw;
      job.plan_without(failure);
      losses.add(failure, DoneAgain::kSort);
    }
  }
}

}  // namespace gsort
