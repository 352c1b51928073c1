#include "cluster/runs/own_runs.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "app/prepared_sort.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "cluster/message.hpp"
#include "io/system/memory.hpp"
#include "options/job.hpp"
#include "pipeline/form_runs.hpp"
#include "pipeline/run_folder.hpp"
#include "pipeline/share/share_range.hpp"
#include "pipeline/sort_job.hpp"
#include "pipeline/survey.hpp"
#include "plan/engine_choice.hpp"

namespace gsort::cluster {

void OwnRuns::share_out(const Job& job, std::uint64_t elements, io::Reader& reader) {
  reader_ = &reader;
  element_bytes_ = job.element.bytes();
  OutputRange readable{0, elements};
  ranges_ = {share_of(elements, team_.rank(), team_.count())};
  if (request_.inputs_here) {  // they follow each other by rank
    const std::uint64_t own = *reader.known_size() / element_bytes_;
    before_ = own;
    team_.sum_before(std::span(&before_, 1));
    readable = {before_, before_ + own};
    ranges_ = {readable};
  }
  if (request_.resume && !is_counted(job)) {
    io::Manifest wanted;
    team_.work([&] {
      wanted = manifest_of(resumable_job(job, request_.input_form), element_bytes_, reader);
    });
    wanted.has_places = true;
    kept_.emplace(team_, request_, std::move(wanted), readable);
    ranges_ = kept_->agree();
  }
  to_read_ = 0;
  for (const OutputRange& range : ranges_) to_read_ += range.elements();
  hold_reader(ranges_.empty() ? OutputRange{before_, before_} : ranges_.front());
}

void OwnRuns::hold_reader(const OutputRange& range) {
  reader_->end_at((range.end - before_) * element_bytes_);
  reader_->begin_at((range.begin - before_) * element_bytes_);
}

// Not the folder of the output, which is on a disk that all hosts share.
std::vector<std::string> OwnRuns::folders() const {
  if (kept_) return {kept_->existing_folder()};
  return request_.temporary_folders("");
}

io::RunStore& OwnRuns::store(const Plan& plan) {
  if (store_) return *store_;
  std::vector<std::string> notes;  // --stats says what the devices hold
  SortContext context{.plan = plan, .make_tier = make_tier};
  if (kept_) context.run_folder = &kept_->begin(*reader_);
  return make_run_store(context, store_, notes);
}

void OwnRuns::form(const SortContext& door, std::optional<Proof>& proof) {
  static_cast<void>(run_attempts(door, {}, [&](const SortContext&) {
    placed_.clear();
    firsts_.clear();
    store_.reset();
    form_all(door.plan, *proof);
    return Outcome();
  }));
}

// A local sort, but for the merge.
void OwnRuns::form_all(const Plan& plan, Proof& proof) {
  if (kept_) placed_ = kept_->take_up(plan, proof);
  if (to_read_ > 0) {
    const io::Arena arena(plan.chunk.arena_bytes, "sorting");
    for (const OutputRange& range : ranges_) form(plan, proof, arena.bytes(), range);
  }
  require_all_read(proof);
  std::ranges::sort(placed_, {}, &PlacedRun::first);
  for (PlacedRun& placed : placed_) {
    firsts_.push_back(placed.first);
    runs_.push_back(std::move(placed.run));
  }
  placed_.clear();
}

void OwnRuns::form(const Plan& plan, Proof& proof, ByteSpan memory, OutputRange range) {
  if (range.elements() == 0) return;
  hold_reader(range);
  SortContext context{.plan = plan,
                      .reader = reader_,
                      .make_engine = make_engine,
                      .meter = &meter_,
                      .proof = &proof};
  const auto engine = start_engine(context, memory);
  context.store = [&]() -> io::RunStore& { return store(plan); };
  if (kept_) {
    (void)store(plan);  // a folder that cannot keep runs is an error now, not when one is ready
    context.run_folder = &kept_->own();
    context.run_folder->begin_at(range.begin - before_);
  }
  std::uint64_t begin = range.begin;
  for (io::Run& run : form_runs(context, nullptr).runs) {
    const std::uint64_t elements = run.elements();
    placed_.push_back({begin, std::move(run)});
    begin += elements;
  }
}

void OwnRuns::require_all_read(const Proof& proof) const {
  reader_->check_unchanged();
  const std::uint64_t read = proof.input().count;
  if (read == elements()) return;
  throw Error(ErrorKind::kCorrupt, "verifying what was read",
              fmt::format("the share of this host has {} elements, but {} were sorted",
                          format_count(elements()), format_count(read)));
}

RunOrder OwnRuns::order(const Job& job) {
  if (!kept_ || !job.element.records) return {};
  std::vector<std::uint64_t> all;
  MessageWriter writer;
  for (const Message& some : team_.gather(std::as_bytes(std::span(firsts_)))) {
    std::ranges::copy(MessageReader(some).take_rest<std::uint64_t>(), std::back_inserter(all));
  }
  if (!std::ranges::is_sorted(all)) {
    std::vector<std::uint64_t> runs(all.size());
    std::iota(runs.begin(), runs.end(), 0);
    std::ranges::sort(runs, {}, [&](std::uint64_t run) { return all[run]; });
    writer.put_bytes(std::as_bytes(std::span(runs)));
  }
  const Message message = team_.broadcast(writer.take());
  std::uint64_t first = firsts_.size();
  team_.sum_before(std::span(&first, 1));
  RunOrder order;
  order.places.resize(message.empty() ? 0 : firsts_.size());
  for (const std::uint64_t run : MessageReader(message).take_rest<std::uint64_t>()) {
    const std::uint64_t own = run - first;  // wraps for runs before these
    if (own < order.places.size()) order.places[own] = order.runs.size();
    order.runs.push_back(run);
  }
  return order;
}

std::uint64_t OwnRuns::scratch_bytes() const {
  const io::RunStore* const kept = kept_ ? kept_->stores().largest() : nullptr;
  return std::max(store_ ? store_->scratch_bytes() : 0,
                  kept != nullptr ? kept->scratch_bytes() : 0);
}

void OwnRuns::report(RankReport& report) const {
  report.elements_read = to_read_;
  report.resumed_runs = resumed().runs;
  report.resumed_elements = resumed().elements;
  if (store_) take_run_totals(*store_, report);
  if (kept_) report.loaded_bytes += kept_->stores().bytes_read();
}

void OwnRuns::expect_commit() {
  if (kept_) kept_->expect_commit();
}

std::string OwnRuns::remove() {
  if (!kept_) return {};
  clear();
  store_.reset();
  return kept_->remove();
}

}  // namespace gsort::cluster
