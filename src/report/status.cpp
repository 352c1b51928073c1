#include "report/status.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/units.hpp"
#include "plan/rates.hpp"
#include "report/plan_object.hpp"

namespace gsort {
namespace {

using Json = nlohmann::ordered_json;

// The bytes of its total that the phase has moved.
std::uint64_t moved_bytes(const PhaseRecord& phase) {
  switch (phase.phase) {
    case Phase::kRead:
    case Phase::kInputMerge:  // not all elements need come out
      return phase.stages[Stage::kRead].bytes;
    case Phase::kMerge:
      return phase.stages[Stage::kSpill].bytes + phase.stages[Stage::kWrite].bytes;
    case Phase::kWrite:
      return phase.stages[Stage::kWrite].bytes;
    case Phase::kSync:
      break;
  }
  return 0;
}

std::string_view verb_of(Phase phase) {
  constexpr std::array<std::string_view, kPhases> kVerbs = {"reading", "merging", "merging",
                                                            "writing", "syncing"};
  return kVerbs[static_cast<std::size_t>(phase)];
}

std::string duration(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

Status StatusTracker::look(const PhaseRecord& phase, double now_seconds) {
  Status status;
  status.phase = phase.phase;
  status.seconds = now_seconds;
  const double begin_seconds = static_cast<double>(phase.begin_ns) * 1e-9;
  status.phase_seconds = std::max(now_seconds - begin_seconds, 0.0);
  status.bytes = moved_bytes(phase);
  status.round = phase.round;
  status.rounds = phase.rounds;
  if (phase.total_bytes > 0) status.total_bytes = phase.total_bytes;
  if (samples_.empty() || phase.begin_ns != phase_begin_ns_) {
    phase_begin_ns_ = phase.begin_ns;
    samples_ = {{begin_seconds, 0}};
  }
  samples_.push_back({now_seconds, status.bytes});
  while (samples_.size() > 2 && samples_[1].seconds <= now_seconds - kRateSeconds) {
    samples_.pop_front();
  }
  const double passed = now_seconds - samples_.front().seconds;
  if (passed > 0) {
    status.bytes_per_second = static_cast<double>(status.bytes - samples_.front().bytes) / passed;
  }
  if (status.total_bytes && status.bytes_per_second > 0) {
    const std::uint64_t left = *status.total_bytes - std::min(*status.total_bytes, status.bytes);
    status.seconds_left = static_cast<double>(left + phase.later_bytes) / status.bytes_per_second;
  }
  return status;
}

std::string status_line(const Status& status) {
  if (status.phase == Phase::kSync) {
    return fmt::format("{}: {}", verb_of(status.phase), duration(status.phase_seconds));
  }
  std::string text(verb_of(status.phase));
  if (status.rounds > 0) text += fmt::format(", round {} of {}", status.round, status.rounds);
  text += ": " + format_bytes(status.bytes);
  if (status.total_bytes) {
    const auto total = static_cast<double>(*status.total_bytes);
    const double percent = std::min(100 * static_cast<double>(status.bytes) / total, 100.0);
    text += fmt::format(" of {} ({:.0f}%)", format_bytes(*status.total_bytes), percent);
  }
  if (status.bytes > 0) text += ", " + rate_words(status.bytes_per_second);
  if (status.seconds_left) text += fmt::format(", {} left", duration(*status.seconds_left));
  if (status.slowest) {
    text += fmt::format(", slowest: {} ({:.0f}%)", status.slowest->name, status.slowest->percent);
  }
  return text;
}

std::string status_json(const Status& status) {
  Json json = {{"phase", name_of(status.phase)},
               {"seconds", status.seconds},
               {"phase_seconds", status.phase_seconds},
               {"bytes", status.bytes},
               {"total_bytes", or_null(status.total_bytes)},
               {"bytes_per_second", status.bytes_per_second},
               {"seconds_left", or_null(status.seconds_left)}};
  if (status.rounds > 0) {
    json["round"] = status.round;
    json["rounds"] = status.rounds;
  }
  if (status.slowest) {
    json["slowest"] = {{"process", status.slowest->name}, {"percent", status.slowest->percent}};
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string done_line(double seconds, std::uint64_t bytes) {
  return fmt::format("done: {} in {}", format_bytes(bytes), duration(seconds));
}

std::string done_json(double seconds, std::uint64_t bytes) {
  return Json{{"phase", "done"}, {"seconds", seconds}, {"bytes", bytes}}.dump();
}

}  // namespace gsort
