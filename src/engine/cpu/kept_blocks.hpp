// KeptBlocks: blocks that are in order already stay where they were read.
//
// Problem. Dealing keys out to buckets and sorting them is wasted work if they come sorted,
// reversed, or nearly so.
//
// Idea. A block whose keys ascend is an interval of keys. Blocks whose intervals do not overlap
// make one sorted sequence, in the order of their first keys, wherever they were in the input. A
// block whose keys descend is reversed first. A block that is neither, or that overlaps one which
// is kept already, is dealt out to buckets as usual. In the end, each bucket is sorted together
// with the kept keys between its least and its greatest key (chunk_groups.hpp); kept keys between
// two buckets are emitted unchanged.
//
// Example, blocks of three:  1 2 4 | 9 5 7 | 4 6 8 | 12 11 10 | 5 6 7
//   kept: 1 2 4, 4 6 8, 10 11 12     dealt out: 9 5 7 in no order, 5 6 7 overlaps 4 6 8
//
// Cost. A block in order is read once, in the cache, and once more if it is mapped; another one is
// read up to its first disorder. Nothing is copied.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "element/element.hpp"

namespace gsort::cpu {

template <class Key>
class KeptBlocks {
 public:
  // All blocks have `block_keys` raw keys.
  explicit KeptBlocks(std::uint64_t block_keys, const KeyMap<Key>& map = {})
      : block_keys_(block_keys), map_(map) {}

  // Keeps the block if its keys ascend or descend, and overlap no kept block. Returns whether it is
  // kept; its keys are then mapped, and must outlive this object. A block that is not kept may be
  // reversed. Thread-safe. Requires: block_keys keys.
  [[nodiscard]] bool keep(std::span<Key> block);

  // Call it when no more blocks come, before the functions below.
  void finish();
  void clear();

  [[nodiscard]] std::uint64_t count() const { return blocks_.size() * block_keys_; }
  [[nodiscard]] std::uint64_t block_keys() const { return block_keys_; }

  // The number of kept keys that are less than `key`, or not greater.
  [[nodiscard]] std::uint64_t below(Key key) const;
  [[nodiscard]] std::uint64_t up_to(Key key) const;

  // The kept keys from `begin` on, up to `end` or the end of their block.
  // Requires: begin < end <= count().
  [[nodiscard]] std::span<Key> stretch(std::uint64_t begin, std::uint64_t end) const;

 private:
  using Interval = std::pair<Key, Key>;  // first and last key

  [[nodiscard]] bool take(Interval interval, Key* keys);

  const std::uint64_t block_keys_;
  const KeyMap<Key> map_;
  std::mutex mutex_;
  std::multimap<Interval, Key*> intervals_;
  std::vector<Key*> blocks_;  // in order
};

extern template class KeptBlocks<std::uint32_t>;
extern template class KeptBlocks<std::uint64_t>;
extern template class KeptBlocks<UInt128>;

}  // namespace gsort::cpu
