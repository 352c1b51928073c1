#include "element/select_keys.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace gsort {
namespace {

// One after the other, as the contract says it.
template <class Key>
KeySelection<Key> slow_selection(std::span<const Key> raw, KeyMap<Key> map, Key bound,
                                 std::vector<Key>& taken) {
  KeySelection<Key> selection{0, static_cast<Key>(~Key{0})};
  for (const Key key : raw) {
    if (map.to_ordered(key) < bound) {
      taken.push_back(key);
    } else {
      selection.least_left = std::min(selection.least_left, map.to_ordered(key));
    }
  }
  selection.taken = taken.size();
  return selection;
}

template <class Key>
void expect_same(const KeyFormat& format, std::size_t count, Key bound) {
  std::mt19937_64 random(count);
  std::vector<Key> raw(count);
  for (Key& key : raw) key = static_cast<Key>(random());
  const auto map = KeyMap<Key>::of(format);
  std::vector<Key> want;
  const auto expected = slow_selection<Key>(raw, map, bound, want);
  std::vector<Key> taken(count);
  const auto found = select_below<Key>(raw, map, bound, taken.data());
  taken.resize(found.taken);
  EXPECT_EQ(found.taken, expected.taken);
  EXPECT_EQ(found.least_left, expected.least_left);
  EXPECT_EQ(taken, want);
  std::vector<std::uint64_t> least(count / kKeysOfStretch + 1);
  least_of_stretches<Key>(raw, map, least.data());
  for (std::size_t begin = 0; begin < count; begin += kKeysOfStretch) {
    const auto stretch = std::span(raw).subspan(begin, std::min(kKeysOfStretch, count - begin));
    const Key first = std::ranges::min(stretch, {}, [&](Key key) { return map.to_ordered(key); });
    EXPECT_EQ(least[begin / kKeysOfStretch], map.to_ordered(first));
  }
}

template <class Key>
void expect_same_for_bounds(const KeyFormat& format, std::size_t count) {
  constexpr Key kMost = static_cast<Key>(~Key{0});
  for (const Key bound : {Key{0}, Key{1}, static_cast<Key>(kMost / 1000),
                          static_cast<Key>(kMost / 2), static_cast<Key>(kMost - 1), kMost}) {
    SCOPED_TRACE(testing::Message() << name_of(format.type) << format.big_endian
                                    << format.descending << ' ' << count << ' ' << bound);
    expect_same<Key>(format, count, bound);
  }
}

TEST(SelectBelow, TakesWhatComesBeforeTheBoundAndKnowsTheLeastOfTheRest) {
  for (const KeyType type :
       {KeyType::kU32, KeyType::kI32, KeyType::kF32, KeyType::kU64, KeyType::kI64, KeyType::kF64}) {
    for (const bool big_endian : {false, true}) {
      const KeyFormat format{type, big_endian, !big_endian};
      for (const std::size_t count : {0U, 1U, 2U, 255U, 256U, 257U, 10'001U}) {
        if (bytes_of(type) == 4) {
          expect_same_for_bounds<std::uint32_t>(format, count);
        } else {
          expect_same_for_bounds<std::uint64_t>(format, count);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gsort
