#include "engine/cpu/pairs/pair_sort.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "base/tasks.hpp"
#include "engine/cpu/pairs/cached_pairs.hpp"
#include "engine/cpu/pairs/deal_pairs.hpp"
#include "support/some_of.hpp"
#include "support/typed_keys.hpp"
#include "unit/library/stable_order.hpp"

namespace gsort::cpu {
namespace {

using test::Bytes;

// Small sizes, so that few pairs make many lines, buckets and levels.
constexpr PairTuning kPairTunings[] = {
    {.most_buckets = 2, .bucket_bytes = 512, .cached_pairs = 70, .worker_bytes = 512},
    {.most_buckets = 7, .bucket_bytes = 1024, .cached_pairs = 200, .worker_bytes = 4096},
    {.most_buckets = 64, .bucket_bytes = 512, .cached_pairs = 100, .worker_bytes = 512},
};

// Arrays between poisoned neighbours, `skip` elements from an aligned address.
template <class T>
class Guarded {
 public:
  Guarded(std::span<const T> content, std::size_t skip)
      : bytes_((content.size() + skip + 2 * kGuard) * sizeof(T), kPoison),
        begin_((kGuard + skip) * sizeof(T)),
        size_(content.size()) {
    if (size_ > 0) std::memcpy(bytes_.data() + begin_, content.data(), content.size_bytes());
  }

  [[nodiscard]] std::span<T> content() {
    return {reinterpret_cast<T*>(bytes_.data() + begin_), size_};
  }

  [[nodiscard]] bool has_whole_guards() const {
    const auto is_poison = [](std::byte byte) { return byte == kPoison; };
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return std::all_of(bytes_.begin(), begin, is_poison) &&
           std::all_of(begin + static_cast<std::ptrdiff_t>(size_ * sizeof(T)), bytes_.end(),
                       is_poison);
  }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr std::byte kPoison{0x5a};

  Bytes bytes_;
  std::size_t begin_;
  std::size_t size_;
};

template <class Value>
std::vector<Value> distinct_values(std::size_t count) {
  std::vector<Value> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<Value>(~i);
  return values;
}

// All values differ, so that a wrong order of the values of equal keys is noticed.
template <class Key, class Value>
void expect_pairs_sorted(std::span<const Key> keys, Order order, unsigned threads, std::size_t skip,
                         const PairTuning& tuning) {
  using Bits = KeyOf<Key>;
  const auto classes = KeyMap<Bits>::classes_of(library::format_of<Key>(order));
  const std::vector<std::uint64_t> wanted = test::stable_order(keys, order);
  const std::vector<Value> values = distinct_values<Value>(keys.size());
  const std::span<const Bits> raw(reinterpret_cast<const Bits*>(keys.data()), keys.size());
  Guarded<Bits> sorted_keys(raw, skip);
  Guarded<Value> sorted_values(std::span<const Value>(values), skip);
  Guarded<Value> indices(std::span<const Value>(values), skip);
  Guarded<std::byte> scratch(Bytes(pairs_scratch_bytes<Bits, Value>(keys.size())), 0);
  sort_pairs<Bits, Value>(sorted_keys.content(), sorted_values.content(), classes, threads,
                          scratch.content(), tuning);
  argsort_keys<Bits, Value>(raw, indices.content(), classes, threads, scratch.content(), tuning);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(sorted_values.content()[i], values[wanted[i]]) << "value " << i;
    ASSERT_EQ(sorted_keys.content()[i], raw[wanted[i]]) << "key " << i;
    ASSERT_EQ(indices.content()[i], static_cast<Value>(wanted[i])) << "index " << i;
  }
  EXPECT_TRUE(sorted_keys.has_whole_guards() && sorted_values.has_whole_guards() &&
              indices.has_whole_guards() && scratch.has_whole_guards());
}

template <class Key>
void expect_pairs_sorted(Distribution distribution, std::size_t count, Order order,
                         unsigned threads, const PairTuning& tuning) {
  SCOPED_TRACE(testing::Message() << name_of(distribution) << ", " << count << " pairs, " << threads
                                  << " threads, " << tuning.most_buckets << " buckets");
  const Bytes raw = test::generated(library::format_of<Key>(order), distribution, count, count);
  const std::vector<Key> keys = test::keys_of<Key>(raw);
  expect_pairs_sorted<Key, std::uint32_t>(keys, order, threads, count % 3, tuning);
  expect_pairs_sorted<Key, std::uint64_t>(keys, order, threads, count % 5, tuning);
}

template <class Key>
class PairSort : public testing::Test {};
TYPED_TEST_SUITE(PairSort, test::KeyTypes);

TYPED_TEST(PairSort, EqualsStdStableSortForEverySmallCount) {
  for (std::size_t count = 0; count <= 140; ++count) {
    for (const Distribution distribution : {Distribution::kUniform, Distribution::kFewDistinct}) {
      expect_pairs_sorted<TypeParam>(distribution, count, Order::kAscending, 1, {});
    }
  }
}

TYPED_TEST(PairSort, EqualsStdStableSortForEveryDistribution) {
  test::SomeOf cases(2);
  for (const PairTuning& tuning : kPairTunings) {
    for (const Distribution distribution : kAllDistributions) {
      if (!cases.takes()) continue;
      const std::size_t few = tuning.cached_pairs / 2;
      for (const std::size_t count : {few, few + 1, std::size_t{4'999}}) {
        for (const unsigned threads : {1U, 2U, 4U}) {
          expect_pairs_sorted<TypeParam>(distribution, count, Order::kAscending, threads, tuning);
        }
      }
    }
  }
}

TYPED_TEST(PairSort, DistributesDownToSinglePairs) {
  constexpr PairTuning kNone = {.most_buckets = 2, .bucket_bytes = 512, .cached_pairs = 1};
  for (const Distribution distribution : {Distribution::kUniform, Distribution::kFewDistinct}) {
    expect_pairs_sorted<TypeParam>(distribution, 999, Order::kAscending, 1, kNone);
  }
}

TYPED_TEST(PairSort, KnowsEveryOrder) {
  for (const Order order : {Order::kDescending, Order::kAscendingTotal, Order::kDescendingTotal}) {
    for (const Distribution distribution : kAllDistributions) {
      for (const std::size_t count : {60U, 9'001U}) {
        expect_pairs_sorted<TypeParam>(distribution, count, order, 3, kPairTunings[2]);
      }
    }
  }
}

TYPED_TEST(PairSort, HasSizesOfItsOwn) {
  for (const std::size_t count : {65'536U, 65'537U, 300'001U}) {
    for (const unsigned threads : {1U, 4U}) {
      expect_pairs_sorted<TypeParam>(Distribution::kUniform, count, Order::kAscending, threads, {});
    }
  }
}

// A sort does this if it cannot allocate memory for a distribution.
TYPED_TEST(PairSort, SortsMorePairsThanFitTheCacheWithoutADistribution) {
  constexpr PairTuning kAll = {.cached_pairs = 4 * kMostCachedPairs};
  for (const Distribution distribution : {Distribution::kUniform, Distribution::kZipf}) {
    expect_pairs_sorted<TypeParam>(distribution, kMostCachedPairs + 1, Order::kAscending, 1, kAll);
  }
}

TYPED_TEST(PairSort, SortsByEveryInstructionSet) {
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    SCOPED_TRACE(hwy::TargetName(left & -left));
    hwy::SetSupportedTargetsForTest(left & -left);
    for (const Distribution distribution : {Distribution::kUniform, Distribution::kFewDistinct,
                                            Distribution::kAllMaximum, Distribution::kNormal}) {
      for (const std::size_t count : {3U, 17U, 64U, 5'000U}) {
        expect_pairs_sorted<TypeParam>(distribution, count, Order::kDescending, 1, {});
      }
    }
    hwy::SetSupportedTargetsForTest(0);
  }
}

// Half of the keys are zeros of either sign, and NaN of either sign with different bits.
template <class Key>
std::vector<Key> keys_with_equals(std::size_t count) {
  using Bits = KeyOf<Key>;
  const auto quiet = std::bit_cast<Bits>(std::numeric_limits<Key>::quiet_NaN());
  const auto signs = KeyMap<Bits>::kSignBit;
  std::vector<Key> keys = test::keys_of<Key>(
      test::generated(library::format_of<Key>(Order::kAscending), Distribution::kNormal, count));
  for (std::size_t i = 0; i < count; i += 2) {
    const Bits sign = i % 4 == 0 ? signs : Bits{0};
    const Bits bits = i % 3 == 0 ? Bits{0} : static_cast<Bits>(quiet + i % 5);
    keys[i] = std::bit_cast<Key>(static_cast<Bits>(bits ^ sign));
  }
  return keys;
}

template <class Key>
class PairSortOfFloats : public testing::Test {};
using PairFloats = testing::Types<float, double>;
TYPED_TEST_SUITE(PairSortOfFloats, PairFloats);

TYPED_TEST(PairSortOfFloats, KeepsTheOrderOfZerosAndOfNans) {
  for (const Order order : {Order::kAscending, Order::kDescending, Order::kAscendingTotal}) {
    for (const std::size_t count : {10U, 64U, 65U, 3'000U, 70'000U}) {
      for (const PairTuning& tuning : {PairTuning{}, kPairTunings[0], kPairTunings[2]}) {
        const std::vector<TypeParam> keys = keys_with_equals<TypeParam>(count);
        SCOPED_TRACE(testing::Message() << count << ", " << tuning.most_buckets);
        expect_pairs_sorted<TypeParam, std::uint32_t>(keys, order, 2, 1, tuning);
      }
    }
  }
}

// The keys of a NumPy array may change while another thread counts and deals them out.
TEST(DealPairs, WritesNothingElsewhereIfKeysChangeMeanwhile) {
  constexpr std::size_t kCount = 1000;
  constexpr std::size_t kBuckets = 4;
  const std::vector<std::uint32_t> keys(kCount, 7);
  std::vector<std::uint32_t> other_keys(2 * kCount, 1);
  std::vector<std::uint32_t> values(2 * kCount, 1);
  std::size_t numbered = 0;
  const auto number = [&](const std::uint32_t* some, std::size_t count, std::uint32_t* /*room*/,
                          std::uint16_t* numbers) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t bucket = numbered++ < kCount ? i % kBuckets : kBuckets - 1;
      numbers[i] = static_cast<std::uint16_t>(bucket);
    }
    return some;
  };
  std::uint64_t begins[kBuckets + 1];
  PairLines<std::uint32_t, std::uint32_t> worker(kBuckets);
  TaskArena tasks(1);
  deal_pairs<std::uint32_t, std::uint32_t>({keys.data(), nullptr, kCount},
                                           {other_keys.data(), values.data()}, begins, number,
                                           {&worker, 1}, tasks);
  EXPECT_EQ(begins[kBuckets], kCount);
  EXPECT_EQ(std::count(other_keys.begin() + kCount, other_keys.end(), 1U), kCount);
  EXPECT_EQ(std::count(values.begin() + kCount, values.end(), 1U), kCount);
}

}  // namespace
}  // namespace gsort::cpu
