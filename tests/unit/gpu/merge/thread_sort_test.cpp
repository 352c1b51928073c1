// The register networks, on the CPU. By the 0-1 principle a network sorts everything if it sorts
// all sequences of zeros and ones; small networks are tested on all of these, 32 keys on random
// keys.
#include "gpu/merge/thread_sort.hpp"

#include <algorithm>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

template <std::size_t kCount>
void expect_sorts_all_zeros_and_ones() {
  for (std::uint32_t bits = 0; bits < (std::uint32_t{1} << kCount); ++bits) {
    std::uint32_t keys[kCount];
    for (std::size_t i = 0; i < kCount; ++i) keys[i] = bits >> i & 1U;
    thread_sort(keys);
    ASSERT_TRUE(std::is_sorted(keys, keys + kCount)) << "bits " << bits;
  }
}

TEST(ThreadSort, SortsAllSequencesOfZerosAndOnes) {
  expect_sorts_all_zeros_and_ones<1>();
  expect_sorts_all_zeros_and_ones<2>();
  expect_sorts_all_zeros_and_ones<4>();
  expect_sorts_all_zeros_and_ones<8>();
  expect_sorts_all_zeros_and_ones<16>();
}

TEST(ThreadSort, MergesAllSortedHalvesOfZerosAndOnes) {
  constexpr std::size_t kHalf = 8;
  for (std::size_t first = 0; first <= kHalf; ++first) {
    for (std::size_t second = 0; second <= kHalf; ++second) {
      std::uint32_t keys[2 * kHalf];
      for (std::size_t i = 0; i < kHalf; ++i) {
        keys[i] = i < first ? 0 : 1;
        keys[kHalf + i] = i < second ? 0 : 1;
      }
      thread_sort<kHalf>(keys);
      ASSERT_TRUE(std::is_sorted(keys, keys + 2 * kHalf)) << first << " and " << second;
    }
  }
}

template <class Key>
void expect_sorts_random_keys() {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    Key keys[32];
    Key expected[32];
    const std::uint64_t mask = round % 3 == 0 ? 3 : ~std::uint64_t{0};
    for (std::size_t i = 0; i < 32; ++i) expected[i] = keys[i] = static_cast<Key>(random() & mask);
    thread_sort(keys);
    std::sort(expected, expected + 32);
    ASSERT_TRUE(std::equal(keys, keys + 32, expected)) << "round " << round;
  }
}

TEST(ThreadSort, Sorts32KeysWithAndWithoutTies) {
  expect_sorts_random_keys<std::uint32_t>();
  expect_sorts_random_keys<std::uint64_t>();
}

TEST(ThreadSort, TakesTheKnownNumberOfComparisons) {
  EXPECT_EQ(batcher_pair_count(16), 63U);
  EXPECT_EQ(batcher_pair_count(32), 191U);
  EXPECT_EQ(batcher_pair_count(16, 8), 25U);
}

template <std::size_t kCount>
void expect_sorts_all_rotations() {
  for (std::size_t ones = 0; ones <= kCount; ++ones) {
    for (std::size_t rotation = 0; rotation < kCount; ++rotation) {
      std::uint64_t keys[kCount];
      for (std::size_t i = 0; i < kCount; ++i) keys[(i + rotation) % kCount] = i < ones ? 1 : 0;
      thread_sort_bitonic(keys);
      ASSERT_TRUE(std::is_sorted(keys, keys + kCount)) << ones << " ones, rotated " << rotation;
    }
  }
}

TEST(ThreadSortBitonic, SortsEveryRotationOfEveryStep) {
  expect_sorts_all_rotations<2>();
  expect_sorts_all_rotations<16>();
  expect_sorts_all_rotations<32>();
}

}  // namespace
}  // namespace gsort::gpu
