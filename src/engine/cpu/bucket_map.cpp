#include "engine/cpu/bucket_map.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/units.hpp"
#include "engine/cpu/cache_sort.hpp"

namespace gsort::cpu {
namespace {

// A few keys far from all others would make every cell too wide: this share of the sample at either
// end is left to the outermost cells.
constexpr std::size_t kOutlierShare = 512;

// In how many steps the sample is gone through for what lies between its keys: as many as the
// places that a chunk's sample is drawn from.
constexpr std::size_t kSteps = 64;

}  // namespace

template <class Key>
void BucketMap<Key>::set_range(Key least, Key greatest) {
  constexpr auto kCellBits = static_cast<unsigned>(std::countr_zero(kCells));
  const unsigned width = bit_width_of(static_cast<Key>(greatest - least));
  base_ = least;
  shift_ = width > kCellBits ? width - kCellBits : 0;
}

template <class Key>
BucketMap<Key> BucketMap<Key>::even(Key least, Key greatest, std::size_t buckets) {
  BucketMap map(buckets);
  map.set_range(least, greatest);
  const auto used = static_cast<std::size_t>(static_cast<Key>(greatest - least) >> map.shift_) + 1;
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    map.table_[cell] = static_cast<std::uint16_t>(std::min(cell * buckets / used, buckets - 1));
  }
  map.table_[used - 1] = static_cast<std::uint16_t>(buckets - 1);
  return map;
}

// Every cell weighs a little of its own, so that a sample that saw nothing of a range still leaves
// buckets there; half of the sample keys that fell into it; and its share of the other half, which
// is spread evenly from one key to that a step further. For keys that are near each other in a
// sorted input are drawn together, and most of the others lie between such clusters. Where either
// half is misled, the other one still leaves buckets of twice the size wanted.
template <class Key>
std::vector<double> BucketMap<Key>::weigh_cells(std::span<const Key> sorted_sample) const {
  const std::size_t keys = sorted_sample.size();
  std::vector<double> weight(kCells, (1.0 + static_cast<double>(keys) / 16) / kCells);
  for (const Key key : sorted_sample) weight[cell_of(key)] += 0.5;
  const std::size_t step = div_up(keys, kSteps);
  for (std::size_t at = 0; at < keys; at += step) {
    const std::size_t end = std::min(at + step, keys);
    const std::size_t first = cell_of(sorted_sample[at]);
    const std::size_t last = cell_of(sorted_sample[std::min(end, keys - 1)]);
    const double each = 0.5 * static_cast<double>(end - at) / static_cast<double>(last - first + 1);
    for (std::size_t cell = first; cell <= last; ++cell) weight[cell] += each;
  }
  return weight;
}

template <class Key>
BucketMap<Key>::BucketMap(std::span<Key> sample, std::size_t buckets) : BucketMap(buckets) {
  std::vector<Key> scratch(sample.size());
  cache_sort(sample, scratch);
  const std::size_t outliers = sample.size() / kOutlierShare;
  if (sample.empty()) {
    set_range(0, static_cast<Key>(~Key{0}));
  } else {
    set_range(sample[outliers], sample[sample.size() - 1 - outliers]);
  }

  const std::vector<double> weight = weigh_cells(sample);
  double total = 0;
  for (const double w : weight) total += w;
  double before = 0;
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    const double middle = before + weight[cell] / 2;
    table_[cell] = static_cast<std::uint16_t>(std::min(
        buckets - 1, static_cast<std::size_t>(middle / total * static_cast<double>(buckets))));
    before += weight[cell];
  }
}

template class BucketMap<std::uint32_t>;
template class BucketMap<std::uint64_t>;
template class BucketMap<UInt128>;

}  // namespace gsort::cpu
