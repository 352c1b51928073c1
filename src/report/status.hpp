// The status of a running sort: as a line, and as JSON.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/meter.hpp"

namespace gsort {

// The slowest process of a sort by several processes.
struct SlowestProcess {
  std::string name;
  double percent = 0;  // of its share of the phase
};

struct Status {
  Phase phase = Phase::kRead;
  double seconds = 0;        // since the start
  double phase_seconds = 0;  // since the phase began
  std::uint64_t bytes = 0;   // moved by the phase so far
  std::optional<std::uint64_t> total_bytes;
  double bytes_per_second = 0;         // not known while bytes is 0
  std::optional<double> seconds_left;  // of the sort, at this rate, without the sync
  std::optional<SlowestProcess> slowest;
  std::size_t round = 0;  // of `rounds` of merging, from 1; 0: the phase has no rounds
  std::size_t rounds = 0;
};

// Follows a sort by samples from time to time. The rate is that of the last few seconds, so the
// time left follows the current speed of the phase; later phases are assumed to be as fast.
class StatusTracker {
 public:
  static constexpr double kRateSeconds = 5;

  // `now_seconds` is the time since the start, not less than in the previous call.
  [[nodiscard]] Status look(const PhaseRecord& phase, double now_seconds);

 private:
  struct Sample {
    double seconds;
    std::uint64_t bytes;
  };
  std::uint64_t phase_begin_ns_ = 0;
  std::deque<Sample> samples_;  // of the phase, the oldest first
};

// "merging, round 2 of 3: 512 MiB of 1 GiB (50%), 1.12 GiB/s, 2 s left"; then
// ", slowest: NAME (31%)"
[[nodiscard]] std::string status_line(const Status& status);

// One object on one line, without the newline.
[[nodiscard]] std::string status_json(const Status& status);

// The last of the lines: "done: 1 GiB in 12 s".
[[nodiscard]] std::string done_line(double seconds, std::uint64_t bytes);

// The last of the JSON lines.
[[nodiscard]] std::string done_json(double seconds, std::uint64_t bytes);

}  // namespace gsort
