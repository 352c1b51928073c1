#include "engine/cpu/bucket_map.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "engine/cpu/piece_sort.hpp"

namespace gsort::cpu {
namespace {

// A few keys far from all others would make every cell too wide: this share of the sample at either
// end is left to the outermost cells.
constexpr std::size_t kOutlierShare = 512;

}  // namespace

template <class Key>
void BucketMap<Key>::set_range(Key least, Key greatest) {
  constexpr auto kCellBits = static_cast<unsigned>(std::countr_zero(kCells));
  const auto width = static_cast<unsigned>(std::bit_width(static_cast<Key>(greatest - least)));
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

template <class Key>
BucketMap<Key>::BucketMap(std::span<Key> sample, std::size_t buckets) : BucketMap(buckets) {
  std::vector<Key> scratch(sample.size());
  piece_sort(sample, scratch);
  const std::size_t outliers = sample.size() / kOutlierShare;
  if (sample.empty()) {
    set_range(0, static_cast<Key>(~Key{0}));
  } else {
    set_range(sample[outliers], sample[sample.size() - 1 - outliers]);
  }

  // Every cell weighs as many sample keys as fell into it, and a little of its own, so that a
  // sample that saw nothing of a range still leaves buckets there.
  std::vector<double> weight(kCells, (1.0 + static_cast<double>(sample.size()) / 16) / kCells);
  for (const Key key : sample) {
    const Key distance = key > base_ ? static_cast<Key>(key - base_) : Key{0};
    weight[static_cast<std::size_t>(
        std::min<Key>(static_cast<Key>(distance >> shift_), static_cast<Key>(kCells - 1)))] += 1;
  }
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

}  // namespace gsort::cpu
