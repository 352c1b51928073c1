#include "gen/worst_merge.hpp"

#include <algorithm>
#include <vector>

namespace gsort {
namespace {

constexpr std::uint32_t kWarp = WorstMerge::kWarp;
constexpr std::uint32_t kPerThread = WorstMerge::kPerThread;

// Tells for each output of one warp whether it is from A. At first, both lists are at multiples of
// the banks.
std::vector<bool> warp_pattern() {
  std::vector<bool> is_from_a;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  const auto take = [&is_from_a](std::uint32_t& list, std::uint32_t count, bool from_a) {
    is_from_a.insert(is_from_a.end(), count, from_a);
    list += count;
  };
  for (std::uint32_t thread = 0; thread < kWarp; ++thread) {
    const std::uint32_t a_to_go = (kWarp - a % kWarp) % kWarp;
    if (a_to_go == 0) {
      take(a, kPerThread, true);
    } else if (b % kWarp == 0) {
      take(b, kPerThread, false);
    } else {
      const std::uint32_t aligning = std::min(a_to_go, kPerThread);
      take(a, aligning, true);
      take(b, kPerThread - aligning, false);
    }
  }
  return is_from_a;
}

}  // namespace

WorstMerge::WorstMerge() {
  const std::vector<bool> pattern = warp_pattern();
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  for (std::uint32_t output = 0; output < kPattern; ++output) {
    const bool first_warp = output < kHalf;
    const bool from_a = pattern[output % kHalf] == first_warp;
    if (from_a) {
      from_a_[a++] = output;
    } else {
      from_b_[b++] = output;
    }
  }
}

std::uint64_t WorstMerge::rank_of(std::uint64_t position, std::uint64_t count) const {
  const std::uint64_t tile_start = position - position % kTile;
  const std::uint64_t tile_count = std::min<std::uint64_t>(kTile, count - tile_start);
  std::uint64_t rank = tile_start + (tile_count - 1 - (position - tile_start));
  for (std::uint64_t run = kTile; run < count; run *= 2) {
    const std::uint64_t start = rank - rank % (2 * run);
    if (count - start < 2 * run) continue;
    std::uint64_t offset = rank - start;
    const auto& table = offset < run ? from_a_ : from_b_;
    if (offset >= run) offset -= run;
    rank = start + offset / kHalf * kPattern + table[offset % kHalf];
  }
  return rank;
}

}  // namespace gsort
