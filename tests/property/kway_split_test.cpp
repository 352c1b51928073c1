// kway_split on random runs, from the widest brackets and from the tightest that neighbours give.
#include "element/kway_split.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "unit/element/merge_one_by_one.hpp"

namespace gsort {
namespace {

using test::Cuts;

template <class Key>
using Runs = std::vector<std::vector<Key>>;

// Runs of keys from everywhere, from a few values, or all the greatest.
template <class Key>
Runs<Key> any_runs() {
  const auto kind = *rc::gen::inRange(0, 4);
  const Key most = std::numeric_limits<Key>::max();
  const auto key = kind == 0   ? rc::gen::arbitrary<Key>()
                   : kind == 1 ? rc::gen::inRange<Key>(0, 4)
                   : kind == 2 ? rc::gen::inRange<Key>(static_cast<Key>(most - 2), most)
                               : rc::gen::just(most);
  auto runs = *rc::gen::container<Runs<Key>>(rc::gen::container<std::vector<Key>>(key));
  for (auto& run : runs) std::sort(run.begin(), run.end());
  return runs;
}

template <class Key>
Cuts ends_of(const Runs<Key>& runs) {
  Cuts ends;
  for (const auto& run : runs) ends.push_back(run.size());
  return ends;
}

template <class Key>
Cuts split(const Runs<Key>& runs, std::uint64_t d, Key value_low, Key value_high, Cuts low,
           Cuts high) {
  Cuts probe(runs.size());
  kway_split<Key, std::uint64_t>(
      d, static_cast<std::uint32_t>(runs.size()), value_low, value_high, low.data(), high.data(),
      probe.data(),
      [&](Key value, const std::uint64_t* from, const std::uint64_t* to, std::uint64_t* counts) {
        for (std::size_t run = 0; run < runs.size(); ++run) {
          if (from[run] > to[run] || to[run] > runs[run].size()) {
            RC_FAIL("a probe leaves its window");
          }
          counts[run] = upper_bound_in(runs[run], from[run], to[run], value);
        }
      });
  return low;
}

template <class Key>
void agrees_at_every_position() {
  const auto runs = any_runs<Key>();
  const Cuts ends = ends_of(runs);
  const auto total = std::accumulate(ends.begin(), ends.end(), std::uint64_t{0});
  const Key most = std::numeric_limits<Key>::max();
  const Cuts none(runs.size(), 0);
  Cuts right = none;
  for (std::uint64_t d = 0; d <= total; ++d) {
    RC_ASSERT(split<Key>(runs, d, 0, most, none, ends) == right);
    if (d < total) test::take_the_next(runs, right);
  }
}

// The key that the cut at d > 0 stands behind: the last one of the first d.
template <class Key>
Key key_at(const Runs<Key>& runs, std::uint64_t d) {
  std::vector<Key> all;
  for (const auto& run : runs) all.insert(all.end(), run.begin(), run.end());
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(d - 1), all.end());
  return all[d - 1];
}

template <class Key>
void agrees_between_the_cuts_of_neighbours() {
  const auto runs = any_runs<Key>();
  const Cuts ends = ends_of(runs);
  const auto total = std::accumulate(ends.begin(), ends.end(), std::uint64_t{0});
  RC_PRE(total > 0U);
  const auto d = *rc::gen::inRange<std::uint64_t>(1, total + 1);
  const auto before = *rc::gen::inRange<std::uint64_t>(0, d + 1);
  const auto after = *rc::gen::inRange<std::uint64_t>(d, total + 1);
  const Key key = key_at(runs, d);
  const Key value_low = *rc::gen::element(Key{0}, key, static_cast<Key>(key - (key > 0 ? 1 : 0)));
  const Key most = std::numeric_limits<Key>::max();
  const Key value_high = *rc::gen::element(most, key, static_cast<Key>(key + (key < most ? 1 : 0)));
  RC_ASSERT(split<Key>(runs, d, value_low, value_high, test::merge_one_by_one(runs, before),
                       test::merge_one_by_one(runs, after)) == test::merge_one_by_one(runs, d));
}

TEST(AnyKwaySplit, AgreesWithMergingOneByOne) {
  EXPECT_TRUE(rc::check("u8", agrees_at_every_position<std::uint8_t>));
  EXPECT_TRUE(rc::check("u32", agrees_at_every_position<std::uint32_t>));
  EXPECT_TRUE(rc::check("u64", agrees_at_every_position<std::uint64_t>));
}

TEST(AnyKwaySplit, AgreesWithinTheBracketsThatNeighboursGive) {
  EXPECT_TRUE(rc::check("u8", agrees_between_the_cuts_of_neighbours<std::uint8_t>));
  EXPECT_TRUE(rc::check("u32", agrees_between_the_cuts_of_neighbours<std::uint32_t>));
  EXPECT_TRUE(rc::check("u64", agrees_between_the_cuts_of_neighbours<std::uint64_t>));
}

}  // namespace
}  // namespace gsort
