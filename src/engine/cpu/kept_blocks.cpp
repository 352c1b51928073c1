#include "engine/cpu/kept_blocks.hpp"

#include <algorithm>
#include <iterator>

#include "element/key_loops.hpp"

namespace gsort::cpu {

template <class Key>
bool KeptBlocks<Key>::keep(std::span<Key> block) {
  if (first_disorder<Key>(block, map_) != block.size()) {
    KeyMap<Key> descending = map_;
    descending.flip = static_cast<Key>(~map_.flip);
    if (first_disorder<Key>(block, descending) != block.size()) return false;
    std::ranges::reverse(block);
  }
  const Interval interval(map_.to_ordered(block.front()), map_.to_ordered(block.back()));
  if (!take(interval, block.data())) return false;
  if (!map_.is_identity()) map_to_ordered<Key>(block, block, map_);
  return true;
}

template <class Key>
bool KeptBlocks<Key>::take(Interval interval, Key* keys) {
  const std::scoped_lock lock(mutex_);
  const auto next = intervals_.upper_bound(interval);
  if (next != intervals_.end() && next->first.first < interval.second) return false;
  if (next != intervals_.begin() && std::prev(next)->first.second > interval.first) return false;
  intervals_.emplace_hint(next, interval, keys);
  return true;
}

template <class Key>
void KeptBlocks<Key>::finish() {
  for (const auto& [interval, keys] : intervals_) blocks_.push_back(keys);
  intervals_.clear();
}

template <class Key>
void KeptBlocks<Key>::clear() {
  intervals_.clear();
  blocks_.clear();
}

template <class Key>
std::uint64_t KeptBlocks<Key>::below(Key key) const {
  const auto is_below = [&](const Key* block) { return block[block_keys_ - 1] < key; };
  const auto block = std::ranges::partition_point(blocks_, is_below);
  const auto whole = static_cast<std::uint64_t>(block - blocks_.begin()) * block_keys_;
  if (block == blocks_.end()) return whole;
  const std::span<const Key> keys(*block, block_keys_);
  return whole + static_cast<std::uint64_t>(std::ranges::lower_bound(keys, key) - keys.begin());
}

template <class Key>
std::uint64_t KeptBlocks<Key>::up_to(Key key) const {
  return key == static_cast<Key>(~Key{0}) ? count() : below(static_cast<Key>(key + 1));
}

template <class Key>
std::span<Key> KeptBlocks<Key>::stretch(std::uint64_t begin, std::uint64_t end) const {
  const std::uint64_t at = begin % block_keys_;
  return std::span<Key>(blocks_[begin / block_keys_], block_keys_)
      .subspan(at, std::min(end - begin, block_keys_ - at));
}

template class KeptBlocks<std::uint32_t>;
template class KeptBlocks<std::uint64_t>;
template class KeptBlocks<UInt128>;

}  // namespace gsort::cpu
