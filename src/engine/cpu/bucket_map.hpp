// BucketMap: finds the bucket of a key by one subtraction, one shift and one table look-up, or, if
// keys are spread so unevenly that cells of equal width do not divide them, by a search
// (bucket_tree.hpp). It is made from a sample, so that keys of any distribution fill the buckets
// about equally. It is monotone: keys of a lower bucket are never greater than keys of a higher
// one, whatever the sample was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "element/element.hpp"
#include "engine/cpu/bucket_tree.hpp"

namespace gsort::cpu {

template <class Key>
class BucketMap {
 public:
  static constexpr std::size_t kCells = std::size_t{1} << 13;  // 16 KiB: half of an L1 cache

  // Sorts `sample` (ordered keys, may be empty). Requires: 1 <= buckets <= 65535.
  BucketMap(std::span<Key> sample, std::size_t buckets);

  // Divides [least, greatest] evenly, whatever the keys are: least and greatest fall into different
  // buckets. Requires: least < greatest, buckets >= 2.
  static BucketMap even(Key least, Key greatest, std::size_t buckets);

  [[nodiscard]] std::size_t buckets() const { return buckets_; }

  [[nodiscard]] std::uint16_t operator()(Key key) const {
    return tree_.is_empty() ? table_[cell_of(key)] : tree_(key);
  }

  // Writes the bucket of each key to numbers[0, keys.size()).
  void number(std::span<const Key> keys, std::uint16_t* numbers) const;

  // The same in two steps, for loops that look up the bucket of a key where they need it: the cell
  // of each key, and the bucket of each cell. Takes raw keys and returns the ordered ones: `raw` if
  // they are the same, else `ordered`. Requires: room for raw.size() keys and cells.
  [[nodiscard]] std::span<const Key> find_cells(std::span<const Key> raw, const KeyMap<Key>& map,
                                                Key* ordered, std::uint16_t* cells) const;
  [[nodiscard]] const std::uint16_t* bucket_of_cells() const { return table_.data(); }

  // Whether only one key can be in the bucket. False if that is not known.
  [[nodiscard]] bool holds_one_key(std::size_t bucket) const;

 private:
  explicit BucketMap(std::size_t buckets) : buckets_(buckets), table_(kCells) {}
  void set_range(Key least, Key greatest);
  void leave_out(std::span<const Key> sorted_sample, std::size_t outliers);
  [[nodiscard]] std::size_t cell_of(Key key) const {
    const Key distance = key > base_ ? static_cast<Key>(key - base_) : Key{0};
    const Key cell = static_cast<Key>(distance >> shift_);
    return cell < kCells ? static_cast<std::size_t>(cell) : kCells - 1;
  }
  [[nodiscard]] std::vector<double> weigh_cells(std::span<const Key> sorted_sample) const;
  void fill_table(std::span<const double> weight, double total);
  [[nodiscard]] double weight_of_full_cells(std::span<const Key> sorted_sample,
                                            std::span<const double> weight, double most) const;

  Key base_ = 0;
  unsigned shift_ = 0;
  std::size_t buckets_;
  std::vector<std::uint16_t> table_;  // the bucket of each cell
  std::vector<Key> bounds_;  // between the buckets, if there is a tree, which makes each a cell
  BucketTree<Key> tree_;
};

extern template class BucketMap<std::uint32_t>;
extern template class BucketMap<std::uint64_t>;
extern template class BucketMap<UInt128>;

}  // namespace gsort::cpu
