// Compiled once for each vector instruction set (Highway's foreach_target), chosen at run time.
#include "engine/cpu/bucket_tree.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/bucket_tree.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gsort::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The number of bounds of a node that are not above the key.
template <class Key>
HWY_INLINE std::size_t count_passed(const Key* bounds, Key key) {
  const hn::CappedTag<Key, 64 / sizeof(Key)> d;
  const auto wanted = hn::Set(d, key);
  std::size_t above = 0;
  for (std::size_t i = 0; i < 64 / sizeof(Key); i += hn::Lanes(d)) {
    above += hn::CountTrue(d, hn::Lt(wanted, hn::Load(d, bounds + i)));
  }
  return 64 / sizeof(Key) - above;
}

// No vector instructions compare keys of 128 bits.
HWY_INLINE std::size_t count_passed(const UInt128* bounds, UInt128 key) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < 64 / sizeof(UInt128); ++i) count += key >= bounds[i] ? 1U : 0U;
  return count;
}

// Nodes of a level lie back to back, after those of the level above. Many keys go through one level
// before any goes to the next, so that their searches overlap.
template <class Key>
HWY_ATTR void number_loop(const Key* bounds, unsigned levels, const Key* keys, std::size_t count,
                          std::size_t last, std::uint16_t* numbers) {
  constexpr std::size_t kBounds = 64 / sizeof(Key);
  constexpr std::size_t kAtOnce = 64;
  for (std::size_t begin = 0; begin < count; begin += kAtOnce) {
    const std::size_t at_once = std::min(kAtOnce, count - begin);
    std::array<std::uint32_t, kAtOnce> children{};
    const Key* level_bounds = bounds;
    std::size_t nodes = 1;  // of the level
    for (unsigned level = 0; level < levels; ++level) {
      for (std::size_t i = 0; i < at_once; ++i) {
        const std::size_t child = children[i];
        children[i] = static_cast<std::uint32_t>(
            child * (kBounds + 1) + count_passed(level_bounds + child * kBounds, keys[begin + i]));
      }
      level_bounds += nodes * kBounds;
      nodes *= kBounds + 1;
    }
    for (std::size_t i = 0; i < at_once; ++i) {
      numbers[begin + i] = static_cast<std::uint16_t>(std::min<std::size_t>(children[i], last));
    }
  }
}

void number_u32(const std::uint32_t* bounds, unsigned levels, const std::uint32_t* keys,
                std::size_t count, std::size_t last, std::uint16_t* numbers) {
  number_loop(bounds, levels, keys, count, last, numbers);
}
void number_u64(const std::uint64_t* bounds, unsigned levels, const std::uint64_t* keys,
                std::size_t count, std::size_t last, std::uint16_t* numbers) {
  number_loop(bounds, levels, keys, count, last, numbers);
}
void number_u128(const UInt128* bounds, unsigned levels, const UInt128* keys, std::size_t count,
                 std::size_t last, std::uint16_t* numbers) {
  number_loop(bounds, levels, keys, count, last, numbers);
}

}  // namespace gsort::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort::cpu {

HWY_EXPORT(number_u32);
HWY_EXPORT(number_u64);
HWY_EXPORT(number_u128);

// After the bounds, greatest keys fill the tree; a key that equals them goes to the last bucket.
template <class Key>
BucketTree<Key>::BucketTree(std::span<const Key> bounds) : last_(bounds.size()) {
  std::size_t below = 1;  // buckets below one bound of a node of the level
  for (levels_ = 1; below * (kBounds + 1) <= last_; ++levels_) below *= kBounds + 1;
  for (std::size_t nodes = 1; below > 0; nodes *= kBounds + 1, below /= kBounds + 1) {
    for (std::size_t node = 0; node < nodes; ++node) {
      nodes_.emplace_back();
      for (std::size_t i = 0; i < kBounds; ++i) {
        const std::size_t bound = (node * (kBounds + 1) + i + 1) * below - 1;
        nodes_.back().bounds[i] = bound < last_ ? bounds[bound] : static_cast<Key>(~Key{0});
      }
    }
  }
}

template <class Key>
void BucketTree<Key>::number(std::span<const Key> keys, std::uint16_t* numbers) const {
  const Key* const bounds = nodes_.front().bounds;
  if constexpr (std::is_same_v<Key, std::uint32_t>) {
    HWY_DYNAMIC_DISPATCH(number_u32)(bounds, levels_, keys.data(), keys.size(), last_, numbers);
  } else if constexpr (std::is_same_v<Key, std::uint64_t>) {
    HWY_DYNAMIC_DISPATCH(number_u64)(bounds, levels_, keys.data(), keys.size(), last_, numbers);
  } else {
    HWY_DYNAMIC_DISPATCH(number_u128)(bounds, levels_, keys.data(), keys.size(), last_, numbers);
  }
}

template class BucketTree<std::uint32_t>;
template class BucketTree<std::uint64_t>;
template class BucketTree<UInt128>;

}  // namespace gsort::cpu
#endif  // HWY_ONCE
