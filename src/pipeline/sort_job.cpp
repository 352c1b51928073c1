#include "pipeline/sort_job.hpp"

#include <algorithm>
#include <chrono>
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
#include "pipeline/select/select_top.hpp"
#include "pipeline/sort_arrays.hpp"
#include "plan/rounds.hpp"

namespace gsort {
namespace {

// One sort, with the objects that all its stages use.
class Sort {
 public:
  Sort(SortContext context, std::span<io::Output> outputs, const std::function<void()>& before_name)
      : context_(std::move(context)),
        plan_(context_.plan),
        reader_(*context_.reader),
        outputs_(outputs),
        before_name_(before_name),
        meter_(*context_.meter),
        proof_(proof_of(plan_.job, &meter_)),
        output_(plan_, outputs, proof_, &meter_, [this] { return reader_.trailer(); }) {
    context_.store = [this]() -> io::RunStore& { return run_store(); };
  }

  Outcome run() {
    require_space();
    if (plan_.output.makes_room_early) {
      outputs_.front().make_room_early(plan_.output.least_bytes, plan_.output.windows.bytes);
    }
    reader_.limit_decoders(plan_.decoding.limit);
    if (plan_.elements > 0 || !reader_.known_size()) {
      sort_into_output();
    } else {
      output_.begin(0, reader_.header());
    }
    reader_.check_unchanged();
    require_all_read();
    output_.end();
    proof_.finish();
    if (context_.run_folder != nullptr) context_.run_folder->expect_commit();
    begin_phase(Phase::kSync, 0);
    commit();
    take_totals();
    try {
      if (context_.run_folder != nullptr) finish_run_folder();
      take_notes();
    } catch (const std::bad_alloc&) {  // a sort does not fail when its output is in place
      outcome_.is_whole = false;
    }
    return std::move(outcome_);
  }

  // Only forms runs.
  Outcome form() {
    reader_.limit_decoders(plan_.decoding.limit);
    const io::Arena arena(plan_.arena_bytes, "sorting");
    outcome_.elements = sort_all(arena.bytes(), proof_, nullptr);
    reader_.check_unchanged();
    require_all_read();  // form_runs() has compared each chunk
    take_totals();
    take_notes();
    outcome_.output_elements = outcome_.elements;
    return std::move(outcome_);
  }

 private:
  void require_space() const {
    std::vector<io::SpaceNeed> needs;
    const std::string& folder = outputs_.front().folder();
    // The plan has checked this for early pages, some of which are allocated by now.
    if (!folder.empty() && !plan_.output.makes_room_early) {
      needs.push_back({std::span(&folder, 1), plan_.output.least_bytes, "the output"});
    }
    if (plan_.temporary_bytes > 0) {
      needs.push_back({plan_.temporary_folders, plan_.temporary_bytes, "runs"});
    }
    io::require_space(needs);
  }

  // Throws unless the proof covers all elements of the inputs or, if their size is not known in
  // advance, all elements from the reader, and the reader is at the end.
  void require_all_read() const {
    const std::uint64_t bytes = reader_.known_size().value_or(reader_.position()) - begin_;
    // The proof counts a key with its count as that many keys. Runs that stay are not compared with
    // an output.
    const bool counts_sorted = plan_.job.adds_counts() || plan_.job.forms_share;
    const std::uint64_t read = counts_sorted ? outcome_.elements : proof_.input().count;
    const bool is_all = bytes == read * plan_.element_bytes;
    if (is_all && reader_.at_end()) return;
    const std::string reason =
        is_all ? std::string("the inputs hold more than was sorted")
               : fmt::format("the inputs hold {} elements, but {} were sorted",
                             format_count(bytes / plan_.element_bytes), format_count(read));
    throw Error(ErrorKind::kCorrupt, "verifying what was read", reason).hint(kDefectHint);
  }

  void commit() {
    const Span span(&meter_, Stage::kSync);
    output_.commit([this] {
      if (before_name_) before_name_();
      // Syncing a large output takes time, during which another program may change an input.
      if (outputs_.front().keeps_bytes()) reader_.check_unchanged();
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
        return output_.begin_unproven(elements, reader_.header());
      };
      context_.proof = &proof_;
      const auto engine = start_engine(context_, arena.bytes());
      outcome_.elements = sort_arrays(context_, output);
    } else if (plan_.job.array_elements > 0) {
      sort_array_by_array(arena.bytes());
    } else {
      const OutputMaker output = [this](std::optional<std::uint64_t> elements) -> PieceSink& {
        return output_.begin(elements, reader_.header());
      };
      outcome_.elements = sort_all(arena.bytes(), proof_, output);
    }
  }

  // Each array is a sort with its own proof; they have one output.
  void sort_array_by_array(ByteSpan memory) {
    const auto size = reader_.known_size();
    const auto all = size ? std::optional(*size / plan_.element_bytes) : std::nullopt;
    PieceSink* whole_output = nullptr;
    std::uint64_t elements = 0;
    do {
      reader_.end_at(checked_product(checked_sum(outcome_.elements, plan_.job.array_elements),
                                     plan_.element_bytes));
      Proof proof = proof_of(plan_.job, &meter_);
      if (all) left_ = *all - std::min(*all, outcome_.elements);
      std::optional<OffsetSink> place;
      std::optional<Result> result;
      const OutputMaker output = [&](std::optional<std::uint64_t> found) -> PieceSink& {
        if (whole_output == nullptr) {
          whole_output = &output_.begin_unproven(found == 0 ? found : all, reader_.header());
        }
        place.emplace(outcome_.elements, *whole_output);
        return result.emplace(plan_.job, proof, *place).sink();
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
    if (earlier_rounds(plan_) > 0) meter_.begin_round(1, 2 + plan_.run.rounds.size());
    context_.proof = &proof;
    context_.memory = memory;
    if (plan_.is<CountKeys>()) {
      return count_keys(plan_, blocks(proof), &meter_, memory, output);
    }
    if (plan_.is<SelectPlan>()) return select_top(context_, output);
    if (plan_.is<SetPlan>()) return compare_inputs(context_, output);
    // A folder that cannot keep runs is an error now, not when the first run is ready. And if the
    // process is killed from here on, the next one knows whether gsort made the folder.
    if (context_.run_folder != nullptr && !plan_.is<OneChunk>()) run_store();
    const auto engine = start_engine(context_, memory);
    FormedRuns formed =
        merges_inputs ? merge_inputs(context_, output) : form_runs(context_, output);
    outcome_.runs += formed.runs.size();
    if (!formed.runs.empty() && !plan_.job.forms_share) {
      begin_phase(Phase::kMerge, elements_to_merge(formed));
      merge_runs(context_, std::move(formed.runs), make_output(formed.elements));
    }
    return formed.elements;
  }

  [[nodiscard]] BlockReader blocks(Proof& proof) {
    return plan_.job.merged_inputs > 0 ? blocks_of_sorted(reader_, plan_.job.element.key, proof,
                                                          &meter_, plan_.chunk.readers)
                                       : blocks_of(reader_, proof, &meter_);
  }

  // The elements of all inputs, or of the next array; 0 if the size is not known.
  [[nodiscard]] std::uint64_t elements_of_one_sort() const {
    return plan_.job.array_elements == 0 ? left_ : std::min(left_, plan_.job.array_elements);
  }

  // The number of elements that are merged and written after reading `elements`, as planned.
  [[nodiscard]] std::uint64_t elements_after_reading(std::uint64_t elements) const {
    const bool writes_while_reading =
        plan_.is<SetPlan>() || (plan_.is<InputMergePlan>() && plan_.run.count <= 1);
    if (writes_while_reading || plan_.job.forms_share) return 0;
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
    if (!run_store_) make_run_store(context_, run_store_, outcome_.notes);
    return *run_store_;
  }

  void take_totals() noexcept {
    outcome_.bytes = outcome_.elements * plan_.job.input_bytes();
    outcome_.verified = proof_.enabled();
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
  void finish_run_folder() {
    if (run_store_) outcome_.add_notes(run_store_->notes());
    run_store_.reset();
    context_.run_folder->finish();
  }

  void take_notes() {
    outcome_.add_notes(reader_.notes());
    if (run_store_) outcome_.add_notes(run_store_->notes());
    for (const io::Output& output : outputs_) outcome_.add_notes(output.notes());
    if (context_.run_folder != nullptr) outcome_.add_notes(context_.run_folder->notes());
  }

  SortContext context_;
  const Plan& plan_;
  io::Reader& reader_;
  const std::span<io::Output> outputs_;
  const std::function<void()>& before_name_;
  Meter& meter_;
  Proof proof_;
  OutputChain output_;
  std::optional<io::RunStore> run_store_;
  Outcome outcome_;
  const std::uint64_t begin_ = reader_.position();  // the beginning of the share, in bytes
  std::uint64_t left_ = plan_.elements;             // of the inputs; 0 if the size is unknown
  std::uint64_t later_arrays_ = 0;                  // elements to move after the current array
};

// Returns input and output to their state before the sort; false if that is impossible.
bool begin_again(const SortContext& context, std::span<io::Output> outputs) {
  if (context.run_folder != nullptr) return false;
  if (context.reader != nullptr && !context.reader->rewind()) return false;
  return std::ranges::all_of(outputs, [](io::Output& output) { return output.restart(); });
}

// The kind of repetition by the plan that was made after a device failed.
DoneAgain done_again(const DeviceError& failure, const Plan& plan) {
  const bool is_used = std::ranges::any_of(
      plan.devices, [&](const DevicePlan& device) { return device.ordinal == failure.ordinal(); });
  return is_used ? DoneAgain::kSortWithLess : DoneAgain::kSort;
}

}  // namespace

Outcome run_sort(const SortContext& door, std::span<io::Output> outputs,
                 const std::function<void()>& before_name) {
  return run_attempts(door, outputs, [&](const SortContext& context) {
    return Sort(context, outputs, before_name).run();
  });
}

Outcome form_kept_runs(const SortContext& context) {
  return Sort(context, {}, nullptr).form();
}

Outcome run_attempts(const SortContext& door, std::span<io::Output> outputs,
                     const Attempt& attempt) {
  const auto begin = std::chrono::steady_clock::now();
  DeviceLosses losses;
  Meter own_meter;  // used if the caller does not measure
  SortContext context = door;
  Meter& meter = door.meter != nullptr ? *door.meter : own_meter;
  context.meter = &meter;
  const bool may_lose = door.again == Planned::kAfterFailures;
  if (door.plan_without && may_lose) context.losses = &losses;
  for (;;) {
    try {
      Outcome outcome = attempt(context);
      const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
      outcome.seconds = all.count();
      try {
        meter.end_phase();
        outcome.phases = meter.phases();
        outcome.lost_devices = losses.all();
      } catch (const std::bad_alloc&) {  // a sort does not fail when its output is in place
        outcome.is_whole = false;
      }
      outcome.peak_resident_bytes = io::peak_resident_bytes();
      return outcome;
    } catch (const DeviceError& failure) {
      const bool is_lack = failure.kind() == ErrorKind::kResource;
      if (!door.plan_without || !(may_lose || is_lack) || !begin_again(context, outputs)) throw;
      door.plan_without(failure);
      losses.add(failure, done_again(failure, context.plan));
    }
  }
}

}  // namespace gsort
