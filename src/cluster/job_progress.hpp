// JobProgress: how far all processes of a job are, in rank 0. Each tells it with its beats; the
// phase of all is that of the last one.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/meter.hpp"
#include "cluster/team.hpp"
#include "report/status.hpp"

namespace gsort::cluster {

// How far one process is, as it is sent.
struct RankProgress {
  Phase phase = Phase::kRead;
  std::uint64_t bytes = 0;        // that it has moved in this phase
  std::uint64_t total_bytes = 0;  // that it must
};

// Thread-safe.
class JobProgress {
 public:
  // The processes by rank, and the bytes of the whole input.
  void begin(std::vector<std::string> names, std::uint64_t bytes);

  void note(unsigned rank, const RankProgress& progress);

  // From now on, phase() is that of this meter, which also has rounds: for a sort of one process.
  // null ends this.
  void follow(const Meter* meter);

  // The phase of all, as if one process moved all bytes, from when it was first looked at.
  [[nodiscard]] PhaseRecord phase(std::uint64_t now_ns);

  // The process that has the largest part of its share still to do, if several are in that phase
  // and bytes move.
  [[nodiscard]] std::optional<SlowestProcess> slowest() const;

 private:
  [[nodiscard]] Phase last_phase() const;

  mutable std::mutex mutex_;
  std::vector<std::string> names_;
  std::vector<RankProgress> ranks_;
  std::uint64_t bytes_ = 0;
  std::map<Phase, std::uint64_t> begun_ns_;
  const Meter* meter_ = nullptr;
};

// While it lives, all processes report to rank 0 how far they are with a sort of `bytes`. All that
// it gets outlives it.
class ProgressReports {
 public:
  ProgressReports(Team& team, const Meter& meter, std::uint64_t bytes, JobProgress& progress);
  ~ProgressReports();
  ProgressReports(const ProgressReports&) = delete;
  ProgressReports& operator=(const ProgressReports&) = delete;

 private:
  Team& team_;
  JobProgress& progress_;
};

}  // namespace gsort::cluster
