#include "cluster/job_progress.hpp"

#include <algorithm>
#include <utility>

#include "cluster/message.hpp"

namespace gsort::cluster {
namespace {

// The stage that moves a phase on.
Stage stage_of(Phase phase) {
  return phase == Phase::kRead ? Stage::kRead : Stage::kWrite;
}

RankProgress progress_of(const PhaseRecord& phase) {
  return {phase.phase, phase.stages[stage_of(phase.phase)].bytes, phase.total_bytes};
}

std::uint64_t left_of(const RankProgress& rank) {
  return rank.total_bytes - std::min(rank.total_bytes, rank.bytes);
}

double share_done(const RankProgress& rank) {
  const auto total = static_cast<double>(std::max<std::uint64_t>(rank.total_bytes, 1));
  return 1 - static_cast<double>(left_of(rank)) / total;
}

}  // namespace

void JobProgress::begin(std::vector<std::string> names, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  names_ = std::move(names);
  bytes_ = bytes;
  ranks_.assign(names_.size(), {Phase::kRead, 0, bytes / names_.size()});
}

void JobProgress::note(unsigned rank, const RankProgress& progress) {
  const std::scoped_lock lock(mutex_);
  ranks_.at(rank) = progress;
}

void JobProgress::follow(const Meter* meter) {
  const std::scoped_lock lock(mutex_);
  meter_ = meter;
}

Phase JobProgress::last_phase() const {
  const auto last = std::ranges::min_element(ranks_, {}, &RankProgress::phase);
  return last == ranks_.end() ? Phase::kRead : last->phase;
}

PhaseRecord JobProgress::phase(std::uint64_t now_ns) {
  const std::scoped_lock lock(mutex_);
  PhaseRecord all;
  if (meter_ != nullptr) all = meter_->current_phase();
  if (meter_ == nullptr) all.phase = last_phase();
  all.begin_ns = begun_ns_.try_emplace(all.phase, now_ns).first->second;
  if (meter_ != nullptr || all.phase == Phase::kSync) return all;
  all.total_bytes = bytes_;
  all.later_bytes = all.phase == Phase::kRead ? bytes_ : 0;
  std::uint64_t left = 0;
  for (const RankProgress& rank : ranks_) {
    if (rank.phase == all.phase) left += left_of(rank);
  }
  all.stages[stage_of(all.phase)].bytes = bytes_ - std::min(bytes_, left);
  return all;
}

std::optional<SlowestProcess> JobProgress::slowest() const {
  const std::scoped_lock lock(mutex_);
  const Phase phase = last_phase();
  std::optional<SlowestProcess> slowest;
  if (ranks_.size() < 2 || phase == Phase::kSync) return slowest;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const double percent = 100 * share_done(ranks_[rank]);
    if (ranks_[rank].phase != phase || (slowest && slowest->percent <= percent)) continue;
    slowest = SlowestProcess{names_[rank], percent};
  }
  return slowest;
}

ProgressReports::ProgressReports(Team& team, const Meter& meter, std::uint64_t bytes,
                                 JobProgress& progress)
    : team_(team), progress_(progress) {
  std::vector<std::string> names;
  for (unsigned rank = 0; rank < team.count(); ++rank) names.push_back(team.name_of(rank));
  progress.begin(std::move(names), bytes);
  team.set_reports(
      [&meter] {
        MessageWriter writer;
        writer.put(progress_of(meter.current_phase()));
        return writer.take();
      },
      [&progress](unsigned from, ConstByteSpan report) {
        progress.note(from, MessageReader(report).take<RankProgress>());
      });
}

ProgressReports::~ProgressReports() {
  team_.set_reports({}, {});
  progress_.follow(nullptr);
}

}  // namespace gsort::cluster
