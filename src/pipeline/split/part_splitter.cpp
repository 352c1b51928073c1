#include "pipeline/split/part_splitter.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "element/kway_split.hpp"
#include "pipeline/proof/damage_hint.hpp"
#include "pipeline/split/record_ties.hpp"

namespace gsort {
namespace {

std::uint64_t sum_of(const std::vector<std::uint64_t>& cuts) {
  return std::accumulate(cuts.begin(), cuts.end(), std::uint64_t{0});
}

// Blocks with other keys than the fences, or than at an earlier read, could give slices with more
// elements than there is room for.
void require_reached(std::uint64_t position, std::uint64_t least, std::uint64_t most) {
  if (least <= position && position <= most) return;
  throw Error(ErrorKind::kCorrupt, fmt::format("splitting at element {}", position),
              "the runs are not in order")
      .hint(kDamageHint);
}

}  // namespace

PartSplitter::PartSplitter(const RunsToCut& runs, std::size_t most_blocks)
    : runs_(runs, most_blocks),
      low_(runs.runs.size(), 0),
      high_(runs.runs.size(), 0),
      probe_(runs.runs.size(), 0) {}

std::vector<std::uint64_t> PartSplitter::cuts_at(std::uint64_t position) {
  if (position == 0) return low_;
  std::uint64_t total = 0;
  for (std::size_t run = 0; run < runs_.runs(); ++run) {
    high_[run] = runs_.elements(run);
    total += high_[run];
  }
  if (position == total) {
    low_ = high_;
    return low_;
  }
  Range range = bracket_by_fences(position, {0, runs_.greatest_value()});
  narrow_by_guess(position, range);
  const auto run_count = static_cast<std::uint32_t>(runs_.runs());
  const auto count = [this](std::uint64_t value, const std::uint64_t* low,
                            const std::uint64_t* high,
                            std::uint64_t* counts) { count_all(value, low, high, counts); };
  const std::optional<RecordOrder>& records = runs_.records();
  if (!records || records->prefix_is_whole()) {
    kway_split<std::uint64_t, std::uint64_t>(position, run_count, range.low, range.high,
                                             low_.data(), high_.data(), probe_.data(), count);
    require_reached(position, sum_of(low_), sum_of(low_));
    return low_;
  }
  const auto below = kway_ties<std::uint64_t, std::uint64_t>(
      position, run_count, range.low, range.high, low_.data(), high_.data(), probe_.data(), count);
  require_reached(position, below, sum_of(high_));
  take_ties(*records, position - below, low_, high_,
            [this](std::uint32_t run, std::uint64_t at) { return runs_.element_at(run, at); });
  return low_;
}

std::vector<std::uint64_t> PartSplitter::cuts_behind_ties_at(std::uint64_t position,
                                                             const LastEqual& last_equal) {
  if (position <= sum_of(low_)) return low_;  // the last cuts were moved as far
  (void)cuts_at(position);
  const std::optional<RecordOrder>& records = runs_.records();
  if (records && !records->prefix_is_whole()) {
    move_behind_records(*records);
    return low_;
  }
  std::uint64_t last = 0;
  for (std::size_t run = 0; run < runs_.runs(); ++run) {
    if (low_[run] > 0) last = std::max(last, runs_.value_at(run, low_[run] - 1));
  }
  for (std::size_t run = 0; run < runs_.runs(); ++run) {
    low_[run] = runs_.count_up_to(run, last_equal(last), low_[run], runs_.elements(run));
  }
  return low_;
}

void PartSplitter::move_behind_records(const RecordOrder& order) {
  std::vector<std::byte> last;
  for (std::size_t run = 0; run < runs_.runs(); ++run) {
    if (low_[run] == 0) continue;
    const std::byte* const record = runs_.element_at(run, low_[run] - 1);
    if (!last.empty() && order.compare(record, last.data()) <= 0) continue;
    last.assign(record, record + order.record_bytes());
  }
  for (std::size_t run = 0; run < runs_.runs(); ++run) {
    std::uint64_t& begin = low_[run];
    std::uint64_t end =
        runs_.count_up_to(run, order.prefix_of(last.data()), begin, runs_.elements(run));
    while (begin < end) {
      const std::uint64_t probe = begin + (end - begin) / 2;
      if (order.compare(runs_.element_at(run, probe), last.data()) <= 0) {
        begin = probe + 1;
      } else {
        end = probe;
      }
    }
  }
}

// Each probe has a lower and an upper bound for every run; it decides unless the position falls
// between their sums.
PartSplitter::Range PartSplitter::bracket_by_fences(std::uint64_t position, Range range) {
  std::vector<std::uint64_t> least(runs_.runs());
  std::vector<std::uint64_t> most(runs_.runs());
  while (range.low < range.high) {
    const std::uint64_t value = range.low + (range.high - range.low) / 2;
    std::uint64_t least_total = 0;
    std::uint64_t most_total = 0;
    for (std::size_t i = 0; i < runs_.runs(); ++i) {
      const RunCounter::Bounds bounds = runs_.bounds_by_fences(i, value);
      least[i] = std::clamp(bounds.least, low_[i], high_[i]);
      most[i] = std::clamp(bounds.most, low_[i], high_[i]);
      least_total += least[i];
      most_total += most[i];
    }
    if (least_total >= position) {
      range.high = value;
      high_ = most;
    } else if (most_total < position) {
      range.low = value + 1;
      low_ = least;
    } else {
      break;
    }
  }
  return range;
}

std::uint64_t PartSplitter::expected_at(double position, Range range) const {
  while (range.low < range.high) {
    const std::uint64_t value = range.low + (range.high - range.low) / 2;
    if (runs_.expected_up_to(value) < position) {
      range.low = value + 1;
    } else {
      range.high = value;
    }
  }
  return range.low;
}

std::uint64_t PartSplitter::narrow_at(std::uint64_t value, std::uint64_t position, Range& range) {
  count_all(value, low_.data(), high_.data(), probe_.data());
  const std::uint64_t total = sum_of(probe_);
  if (total >= position) {
    range.high = value;
    high_ = probe_;
  } else {
    range.low = value + 1;
    low_ = probe_;
  }
  return total;
}

// The second count aims at the other side of the position: it corrects by the error of the first
// one and a little more.
void PartSplitter::narrow_by_guess(std::uint64_t position, Range& range) {
  constexpr double kMargin = 0.25;
  if (range.low >= range.high) return;
  const auto wanted = static_cast<double>(position);
  const std::uint64_t guess = std::min(expected_at(wanted, range), range.high - 1);
  const double expected = runs_.expected_up_to(guess);
  const auto total = static_cast<double>(narrow_at(guess, position, range));
  if (range.low >= range.high) return;
  const double distance = (wanted - total) * (1 + kMargin) +
                          (total < wanted ? 1 : -1) * static_cast<double>(runs_.runs());
  const std::uint64_t other = expected_at(expected + distance, range);
  narrow_at(std::min(other, range.high - 1), position, range);
}

void PartSplitter::count_all(std::uint64_t value, const std::uint64_t* low,
                             const std::uint64_t* high, std::uint64_t* counts) {
  for (std::size_t run = 0; run < runs_.runs(); ++run) {
    counts[run] = runs_.count_up_to(run, value, low[run], high[run]);
  }
}

}  // namespace gsort
