// Compiled once for each vector instruction set (Highway's foreach_target), chosen at run time.
#include "engine/cpu/bucket_map.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/units.hpp"
#include "element/key_loops.hpp"
#include "engine/cpu/cache_sort.hpp"

#ifndef GSORT_ENGINE_CPU_CELL_RANGE
#define GSORT_ENGINE_CPU_CELL_RANGE
namespace gsort::cpu {

// How cells divide the range of the keys.
template <class Key>
struct CellRange {
  Key base;
  unsigned shift;
  Key last;  // the number of the last cell
};

}  // namespace gsort::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/bucket_map.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "element/fixed_map-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gsort::cpu::HWY_NAMESPACE {

struct NoMap {
  template <class Key>
  HWY_INLINE Key to_ordered(Key key) const {
    return key;
  }
};

// As BucketMap::cell_of(), without the look-up, so that the compiler makes vector code of it.
// Requires: the arrays do not overlap.
template <class Key, class Map>
HWY_ATTR void cells_loop(const Key* __restrict raw, std::size_t count, Map map,
                         CellRange<Key> range, Key* __restrict ordered,
                         std::uint16_t* __restrict cells) {
  for (std::size_t i = 0; i < count; ++i) {
    const Key key = map.to_ordered(raw[i]);
    const Key distance = static_cast<Key>((key > range.base ? key : range.base) - range.base);
    const Key cell = static_cast<Key>(distance >> range.shift);
    cells[i] = static_cast<std::uint16_t>(cell < range.last ? cell : range.last);
    if constexpr (!std::is_same_v<Map, NoMap>) ordered[i] = key;
  }
}

template <class Key>
void find_cells(std::span<const Key> raw, const KeyMap<Key>& map, const CellRange<Key>& range,
                Key* ordered, std::uint16_t* cells) {
  const auto find = [&](auto fixed) {
    cells_loop(raw.data(), raw.size(), fixed, range, ordered, cells);
  };
  map.is_identity() ? find(NoMap()) : gsort::HWY_NAMESPACE::with_fixed_map(map, find);
}

void cells_u32(std::span<const std::uint32_t> raw, const KeyMap<std::uint32_t>& map,
               const CellRange<std::uint32_t>& range, std::uint32_t* ordered,
               std::uint16_t* cells) {
  find_cells(raw, map, range, ordered, cells);
}
void cells_u64(std::span<const std::uint64_t> raw, const KeyMap<std::uint64_t>& map,
               const CellRange<std::uint64_t>& range, std::uint64_t* ordered,
               std::uint16_t* cells) {
  find_cells(raw, map, range, ordered, cells);
}
void cells_u128(std::span<const UInt128> raw, const KeyMap<UInt128>& map,
                const CellRange<UInt128>& range, UInt128* ordered, std::uint16_t* cells) {
  find_cells(raw, map, range, ordered, cells);
}

}  // namespace gsort::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort::cpu {

HWY_EXPORT(cells_u32);
HWY_EXPORT(cells_u64);
HWY_EXPORT(cells_u128);

namespace {

// A few keys far from all others would make every cell too wide: this fraction of the sample at
// either end is left to the outermost cells. The larger fraction is tried if cells do not divide
// the keys: dealing these keys out again costs less than searching for the bucket of every key.
constexpr std::array<std::size_t, 2> kOutlierShares = {512, 64};

// The number of steps of a pass over the sample for the gaps between its keys: the number of places
// from which a chunk's sample is drawn.
constexpr std::size_t kSteps = 64;

// The table cannot divide a cell of more than this many buckets' weight; the tree is used if such
// cells have more than this fraction of all weight.
constexpr double kFullCell = 3;
constexpr double kLeastFullShare = 1.0 / 16;

// The bounds between buckets, for the tree: the keys at which the weight from the least key on
// reaches that of one bucket, of two, and so on. Each sample key weighs one; half of that is spread
// evenly over its step, as in weigh_cells(). If a key weighs more than a bucket, its bucket holds
// no other keys.
template <class Key>
class BucketBounds {
 public:
  BucketBounds(std::span<const Key> sorted_sample, std::size_t buckets)
      : sample_(sorted_sample),
        step_(div_up(sorted_sample.size(), kSteps)),
        share_(static_cast<double>(sorted_sample.size()) / static_cast<double>(buckets)),
        wanted_(buckets - 1) {}

  [[nodiscard]] std::vector<Key> take() {
    for (std::size_t at = 0; at < sample_.size();) {
      double weight = 0;
      std::size_t end = at;
      for (; end < sample_.size() && sample_[end] == sample_[at]; ++end) {
        weight += step_width(end) == 0 ? 1.0 : 0.5;
      }
      pass_key(sample_[at], weight);
      if (end < sample_.size()) pass_gap(end - 1);
      at = end;
    }
    bounds_.resize(wanted_, static_cast<Key>(~Key{0}));
    return std::move(bounds_);
  }

 private:
  [[nodiscard]] std::size_t step_begin(std::size_t at) const { return at / step_ * step_; }
  [[nodiscard]] std::size_t step_end(std::size_t at) const {
    return std::min(step_begin(at) + step_, sample_.size());
  }
  [[nodiscard]] Key step_width(std::size_t at) const {
    const std::size_t last = std::min(step_end(at), sample_.size() - 1);
    return static_cast<Key>(sample_[last] - sample_[step_begin(at)]);
  }

  [[nodiscard]] double next_weight() const {
    return share_ * static_cast<double>(bounds_.size() + 1);
  }

  void add(Key bound) {
    bounds_.push_back(bounds_.empty() ? bound : std::max(bound, bounds_.back()));
  }

  void pass_key(Key key, double weight) {
    const std::size_t before = bounds_.size();
    passed_ += weight;
    while (bounds_.size() < wanted_ && next_weight() <= passed_) add(key);
    if (bounds_.size() - before > 1 && key != static_cast<Key>(~Key{0})) ++bounds_.back();
  }

  // Passes the weight between the sample key `at` and the next one.
  void pass_gap(std::size_t at) {
    const auto width = static_cast<double>(sample_[at + 1] - sample_[at]);
    const double weight = 0.5 * static_cast<double>(step_end(at) - step_begin(at)) * width /
                          static_cast<double>(step_width(at));
    for (; bounds_.size() < wanted_ && next_weight() <= passed_ + weight;) {
      const double part = std::max(next_weight() - passed_, 0.0) / weight;
      add(part < 1 ? static_cast<Key>(sample_[at] + static_cast<Key>(part * width))
                   : sample_[at + 1]);
    }
    passed_ += weight;
  }

  std::span<const Key> sample_;
  std::size_t step_;
  double share_;
  std::size_t wanted_;
  double passed_ = 0;
  std::vector<Key> bounds_;
};

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

// The weight of a cell is the sum of a small constant, so that ranges without sample keys get
// buckets, too; half of the sample keys in it; and its part of the other half, which is spread
// evenly from each key to the key one step further. The reason for the second half: in a sorted
// input, sample keys are drawn in clusters, and most other keys lie between these clusters. If
// either half is misleading, the other one still gives buckets of twice the wanted size.
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
  for (const std::size_t outlier_share : kOutlierShares) {
    leave_out(sample, sample.size() / outlier_share);
    const std::vector<double> weight = weigh_cells(sample);
    const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
    const double share = total / static_cast<double>(buckets);
    if (weight_of_full_cells(sample, weight, kFullCell * share) <= kLeastFullShare * total) {
      fill_table(weight, total);
      return;
    }
  }
  bounds_ = BucketBounds<Key>(sample, buckets).take();
  tree_ = BucketTree<Key>(bounds_);
  table_.resize(buckets);
  std::iota(table_.begin(), table_.end(), std::uint16_t{0});
}

// Cells divide the range of the sample without this many keys at either end.
template <class Key>
void BucketMap<Key>::leave_out(std::span<const Key> sorted_sample, std::size_t outliers) {
  if (sorted_sample.empty()) return set_range(0, static_cast<Key>(~Key{0}));
  set_range(sorted_sample[outliers], sorted_sample[sorted_sample.size() - 1 - outliers]);
}

template <class Key>
void BucketMap<Key>::fill_table(std::span<const double> weight, double total) {
  double before = 0;
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    const double middle = before + weight[cell] / 2;
    table_[cell] = static_cast<std::uint16_t>(std::min(
        buckets_ - 1, static_cast<std::size_t>(middle / total * static_cast<double>(buckets_))));
    before += weight[cell];
  }
}

// The weight of all cells that weigh more than `most` and hold more than one key.
template <class Key>
double BucketMap<Key>::weight_of_full_cells(std::span<const Key> sorted_sample,
                                            std::span<const double> weight, double most) const {
  double full = 0;
  for (std::size_t at = 0; at < sorted_sample.size();) {
    const std::size_t cell = cell_of(sorted_sample[at]);
    std::size_t end = at + 1;
    while (end < sorted_sample.size() && cell_of(sorted_sample[end]) == cell) ++end;
    const bool is_one_key = sorted_sample[at] == sorted_sample[end - 1];
    if (weight[cell] > most && !is_one_key) full += weight[cell];
    at = end;
  }
  return full;
}

template <class Key>
std::span<const Key> BucketMap<Key>::find_cells(std::span<const Key> raw, const KeyMap<Key>& map,
                                                Key* ordered, std::uint16_t* cells) const {
  const std::span<const Key> keys(map.is_identity() ? raw.data() : ordered, raw.size());
  const CellRange<Key> range{base_, shift_, kCells - 1};
  if (!tree_.is_empty()) {
    if (!map.is_identity()) map_to_ordered<Key>(raw, {ordered, raw.size()}, map);
    tree_.number(keys, cells);
  } else if constexpr (std::is_same_v<Key, std::uint32_t>) {
    HWY_DYNAMIC_DISPATCH(cells_u32)(raw, map, range, ordered, cells);
  } else if constexpr (std::is_same_v<Key, std::uint64_t>) {
    HWY_DYNAMIC_DISPATCH(cells_u64)(raw, map, range, ordered, cells);
  } else {
    HWY_DYNAMIC_DISPATCH(cells_u128)(raw, map, range, ordered, cells);
  }
  return keys;
}

template <class Key>
void BucketMap<Key>::number(std::span<const Key> keys, std::uint16_t* numbers) const {
  (void)find_cells(keys, {}, nullptr, numbers);
  if (!tree_.is_empty()) return;
  const std::uint16_t* const table = table_.data();
  for (std::size_t i = 0; i < keys.size(); ++i) numbers[i] = table[numbers[i]];
}

template <class Key>
bool BucketMap<Key>::holds_one_key(std::size_t bucket) const {
  if (tree_.is_empty()) return false;
  const Key least = bucket == 0 ? Key{0} : bounds_[bucket - 1];
  if (bucket == bounds_.size()) return least == static_cast<Key>(~Key{0});
  return bounds_[bucket] > least && bounds_[bucket] - least == 1;
}

template class BucketMap<std::uint32_t>;
template class BucketMap<std::uint64_t>;
template class BucketMap<UInt128>;

}  // namespace gsort::cpu
#endif  // HWY_ONCE
