#include "pipeline/split/run_counter.hpp"

#include <algorithm>
#include <cstring>

#include "base/units.hpp"
#include "element/kway_split.hpp"

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

}  // namespace

RunCounter::RunCounter(const RunsToCut& runs, std::size_t most_blocks)
    : runs_(runs.runs),
      records_(runs.records),
      element_bytes_(runs.element_bytes),
      block_bytes_(round_up(runs.block_bytes, sizeof(UInt128))),
      memory_(std::min(runs_.size(), most_blocks) * block_bytes_ +
              round_up(runs.scratch_bytes, sizeof(UInt128)) + kBufferAlignment),
      cache_(std::min(runs_.size(), most_blocks)) {
  for (const io::Run& run : runs_) fences_.push_back(run.fences());
  const auto base = reinterpret_cast<std::uintptr_t>(memory_.data());
  scratch_ = ByteSpan(memory_).subspan(round_up(base, kBufferAlignment) - base,
                                       round_up(runs.scratch_bytes, sizeof(UInt128)));
}

std::uint64_t RunCounter::greatest_value() const {
  return records_ || element_bytes_ == 8 ? ~std::uint64_t{0}
                                         : (std::uint64_t{1} << (8 * element_bytes_)) - 1;
}

// In a run, take the last block whose first key is <= v: this key and all blocks before it are <=
// v; no block after it is.
RunCounter::Bounds RunCounter::bounds_by_fences(std::size_t run, std::uint64_t value) const {
  const std::size_t blocks = fences_[run].blocks_up_to(value);
  if (blocks == 0) return {};
  return {fences_[run].first_position(blocks - 1) + 1, fences_[run].end_position(blocks - 1)};
}

double RunCounter::expected_in(std::size_t run, std::uint64_t value) const {
  const std::size_t blocks = fences_[run].blocks_up_to(value);
  if (blocks == 0) return 0;
  const std::size_t block = blocks - 1;
  const std::uint64_t first = fences_[run].first_key(block);
  const auto begin = static_cast<double>(fences_[run].first_position(block));
  const auto elements = static_cast<double>(fences_[run].end_position(block)) - begin;
  double width = 0;
  if (blocks < fences_[run].block_count()) {
    width = static_cast<double>(fences_[run].first_key(blocks) - first);
  } else if (block > 0) {  // after the last fence, keys are assumed to be as far apart as before it
    const auto before = begin - static_cast<double>(fences_[run].first_position(block - 1));
    width = static_cast<double>(first - fences_[run].first_key(block - 1)) / before * elements;
  }
  const double share = std::min(1.0, static_cast<double>(value - first) / std::max(1.0, width));
  return begin + share * elements;
}

double RunCounter::expected_up_to(std::uint64_t value) const {
  double sum = 0;
  for (std::size_t run = 0; run < runs_.size(); ++run) sum += expected_in(run, value);
  return sum;
}

std::uint64_t RunCounter::count_up_to(std::size_t run, std::uint64_t value, std::uint64_t low,
                                      std::uint64_t high) {
  if (low == high) return low;
  const std::size_t blocks = fences_[run].blocks_up_to(value);
  if (blocks == 0) return low;
  const std::size_t block = blocks - 1;
  const std::uint64_t begin = fences_[run].first_position(block);
  const std::uint64_t end = fences_[run].end_position(block);
  if (end <= low) return low;
  if (begin >= high) return high;
  return begin + count_in_block(block_of(run, block), std::max(low, begin) - begin,
                                std::min(high, end) - begin, value);
}

std::uint64_t RunCounter::count_in_block(ConstByteSpan block, std::uint64_t from, std::uint64_t to,
                                         std::uint64_t value) const {
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

const std::byte* RunCounter::element_at(std::size_t run, std::uint64_t position) {
  const std::size_t block = fences_[run].block_of(position);
  const std::uint64_t at = position - fences_[run].first_position(block);
  return block_of(run, block).data() + at * element_bytes_;
}

std::uint64_t RunCounter::value_at(std::size_t run, std::uint64_t position) {
  const std::byte* const element = element_at(run, position);
  if (records_) return records_->prefix_of(element);
  return with_key_of_width(element_bytes_, [&](auto width) -> std::uint64_t {
    decltype(width) key;
    std::memcpy(&key, element, sizeof key);
    return static_cast<std::uint64_t>(key);
  });
}

ConstByteSpan RunCounter::block_of(std::size_t run, std::size_t block) {
  const std::size_t place = run % cache_.size();
  CachedBlock& cached = cache_[place];
  if (cached.run != run || cached.block != block) {
    const ByteSpan blocks =
        ByteSpan(scratch_.data() + scratch_.size(), cache_.size() * block_bytes_);
    cached.block = ~std::size_t{0};
    cached.keys =
        runs_[run].read_block(block, blocks.subspan(place * block_bytes_, block_bytes_), scratch_);
    cached.run = run;
    cached.block = block;
  }
  return cached.keys;
}

}  // namespace gsort
