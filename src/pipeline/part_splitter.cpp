#include "pipeline/part_splitter.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "element/kway_split.hpp"
#include "pipeline/proof/damage_hint.hpp"
#include "pipeline/record_ties.hpp"

namespace gsort {
namespace {

// Records as an array of their prefixes.
struct PrefixesOf {
  const RecordOrder& order;
  const std::byte* records;

  std::uint64_t operator[](std::uint64_t i) const {
    return order.prefix_of(records + i * order.record_bytes());
  }
};

std::uint64_t sum_of(const std::vector<std::uint64_t>& cuts) {
  return std::accumulate(cuts.begin(), cuts.end(), std::uint64_t{0});
}

// Blocks that say other keys than the fences, or than they said before, could give slices of more
// elements than there is room for.
void require_reached(std::uint64_t position, std::uint64_t least, std::uint64_t most) {
  if (least <= position && position <= most) return;
  throw Error(ErrorKind::kCorrupt, fmt::format("splitting at element {}", position),
              "the runs are not in order")
      .hint(kDamageHint);
}

}  // namespace

PartSplitter::PartSplitter(RunViewSpan runs, std::uint64_t element_bytes, std::uint64_t block_bytes,
                           std::uint64_t scratch_bytes, const std::optional<RecordFormat>& records)
    : runs_(runs),
      records_(records),
      element_bytes_(element_bytes),
      block_bytes_(round_up(block_bytes, sizeof(std::uint64_t))),
      memory_(runs.size() * block_bytes_ + scratch_bytes + kBufferAlignment),
      cache_(runs.size()),
      low_(runs.size(), 0),
      high_(runs.size(), 0),
      probe_(runs.size(), 0) {
  for (const auto& run : runs) fences_.push_back(run->fences());
  const auto base = reinterpret_cast<std::uintptr_t>(memory_.data());
  scratch_ = ByteSpan(memory_).subspan(round_up(base, kBufferAlignment) - base, scratch_bytes);
}

std::vector<std::uint64_t> PartSplitter::cuts_at(std::uint64_t position) {
  if (position == 0) return low_;
  std::uint64_t total = 0;
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    high_[run] = fences_[run].elements();
    total += high_[run];
  }
  if (position == total) {
    low_ = high_;
    return low_;
  }
  const std::uint64_t greatest = records_ || element_bytes_ == 8
                                     ? ~std::uint64_t{0}
                                     : (std::uint64_t{1} << (8 * element_bytes_)) - 1;
  Range range = bracket_by_fences(position, {0, greatest});
  narrow_by_guess(position, range);
  const auto run_count = static_cast<std::uint32_t>(runs_.size());
  const auto count = [this](std::uint64_t value, const std::uint64_t* low,
                            const std::uint64_t* high,
                            std::uint64_t* counts) { count_all(value, low, high, counts); };
  if (!records_ || records_->prefix_is_whole()) {
    kway_split<std::uint64_t, std::uint64_t>(position, run_count, range.low, range.high,
                                             low_.data(), high_.data(), probe_.data(), count);
    require_reached(position, sum_of(low_), sum_of(low_));
    return low_;
  }
  const auto below = kway_ties<std::uint64_t, std::uint64_t>(
      position, run_count, range.low, range.high, low_.data(), high_.data(), probe_.data(), count);
  require_reached(position, below, sum_of(high_));
  take_ties(*records_, position - below, low_, high_,
            [this](std::uint32_t run, std::uint64_t at) { return record_at(run, at); });
  return low_;
}

// Of a run's elements, all blocks before the last one whose first key is <= v are <= v, and that
// first key itself; none behind that block are. So each probe knows a least and a most; it decides
// as long as the position does not fall between their sums.
PartSplitter::Range PartSplitter::bracket_by_fences(std::uint64_t position, Range range) {
  std::vector<std::uint64_t> least(runs_.size());
  std::vector<std::uint64_t> most(runs_.size());
  while (range.low < range.high) {
    const std::uint64_t value = range.low + (range.high - range.low) / 2;
    std::uint64_t least_total = 0;
    std::uint64_t most_total = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const std::size_t blocks = fences_[i].blocks_up_to(value);
      least[i] = blocks == 0 ? 0 : fences_[i].first_position(blocks - 1) + 1;
      most[i] = blocks == 0 ? 0 : fences_[i].end_position(blocks - 1);
      least[i] = std::clamp(least[i], low_[i], high_[i]);
      most[i] = std::clamp(most[i], low_[i], high_[i]);
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

double PartSplitter::expected_in(std::size_t run, std::uint64_t value) const {
  const std::size_t blocks = fences_[run].blocks_up_to(value);
  if (blocks == 0) return 0;
  const std::size_t block = blocks - 1;
  const std::uint64_t first = fences_[run].first_key(block);
  // Behind the last fence keys are taken to be as far apart as before it.
  const std::uint64_t width = blocks < fences_[run].block_count()
                                  ? fences_[run].first_key(blocks) - first
                                  : first - fences_[run].first_key(block > 0 ? block - 1 : 0);
  const double share =
      std::min(1.0, static_cast<double>(value - first) / std::max(1.0, static_cast<double>(width)));
  const auto begin = static_cast<double>(fences_[run].first_position(block));
  const auto end = static_cast<double>(fences_[run].end_position(block));
  return begin + share * (end - begin);
}

double PartSplitter::expected_up_to(std::uint64_t value) const {
  double sum = 0;
  for (std::size_t run = 0; run < runs_.size(); ++run) sum += expected_in(run, value);
  return sum;
}

std::uint64_t PartSplitter::expected_at(double position, Range range) const {
  while (range.low < range.high) {
    const std::uint64_t value = range.low + (range.high - range.low) / 2;
    if (expected_up_to(value) < position) {
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

// The second count aims at the other side of the position, by what the first one was wrong and a
// little more.
void PartSplitter::narrow_by_guess(std::uint64_t position, Range& range) {
  constexpr double kMargin = 0.25;
  if (range.low >= range.high) return;
  const auto wanted = static_cast<double>(position);
  const std::uint64_t guess = std::min(expected_at(wanted, range), range.high - 1);
  const double expected = expected_up_to(guess);
  const auto total = static_cast<double>(narrow_at(guess, position, range));
  if (range.low >= range.high) return;
  const double distance = (wanted - total) * (1 + kMargin) +
                          (total < wanted ? 1 : -1) * static_cast<double>(runs_.size());
  const std::uint64_t other = expected_at(expected + distance, range);
  narrow_at(std::min(other, range.high - 1), position, range);
}

void PartSplitter::count_all(std::uint64_t value, const std::uint64_t* low,
                             const std::uint64_t* high, std::uint64_t* counts) {
  for (std::uint32_t run = 0; run < runs_.size(); ++run) {
    counts[run] = count_up_to(run, value, low[run], high[run]);
  }
}

std::uint64_t PartSplitter::count_up_to(std::uint32_t run, std::uint64_t value, std::uint64_t low,
                                        std::uint64_t high) {
  const std::size_t blocks = fences_[run].blocks_up_to(value);
  if (blocks == 0 || low == high) return low;
  const std::size_t block = blocks - 1;
  const std::uint64_t begin = fences_[run].first_position(block);
  const std::uint64_t end = fences_[run].end_position(block);
  if (end <= low) return low;
  if (begin >= high) return high;
  return begin + count_in_block(block_of(run, block), std::max(low, begin) - begin,
                                std::min(high, end) - begin, value);
}

std::uint64_t PartSplitter::count_in_block(ConstByteSpan block, std::uint64_t from,
                                           std::uint64_t to, std::uint64_t value) const {
  if (records_) {
    const PrefixesOf prefixes{*records_, block.data()};
    return upper_bound_in(prefixes, from, to, value);
  }
  return with_key_of_width(element_bytes_, [&](auto width) {
    using Key = decltype(width);
    const auto* const keys = reinterpret_cast<const Key*>(block.data());
    return upper_bound_in(keys, from, to, static_cast<Key>(value));
  });
}

const std::byte* PartSplitter::record_at(std::uint32_t run, std::uint64_t position) {
  const std::size_t block = fences_[run].block_of(position);
  const std::uint64_t at = position - fences_[run].first_position(block);
  return block_of(run, block).data() + at * element_bytes_;
}

ConstByteSpan PartSplitter::block_of(std::uint32_t run, std::size_t block) {
  CachedBlock& cached = cache_[run];
  if (cached.block != block) {
    const ByteSpan blocks =
        ByteSpan(scratch_.data() + scratch_.size(), runs_.size() * block_bytes_);
    cached.block = ~std::size_t{0};
    cached.keys =
        runs_[run]->read_block(block, blocks.subspan(run * block_bytes_, block_bytes_), scratch_);
    cached.block = block;
  }
  return cached.keys;
}

}  // namespace gsort
