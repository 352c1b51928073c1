#include "io/output/content_sum.hpp"

#include <random>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

TEST(ContentSum, IsTheSameWhereverPiecesBeginAndEnd) {
  const test::Bytes bytes = test::random_bytes(1000);
  std::mt19937 chance(1);
  for (const std::uint64_t begin : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{1} << 60}) {
    const ContentSum whole = content_sum_of(begin, bytes);
    for (int times = 0; times < 200; ++times) {
      ContentSum sum;
      for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t size = std::min<std::size_t>(chance() % 40, bytes.size() - at);
        sum += content_sum_of(begin + at, std::span(bytes).subspan(at, size));
        at += size;
      }
      EXPECT_EQ(sum, whole);
    }
  }
}

// Each bit of a word, and neighbours that change places.
TEST(ContentSum, DiffersForEveryOtherByteAndPlace) {
  test::Bytes bytes = test::random_bytes(64);
  const ContentSum whole = content_sum_of(0, bytes);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      bytes[at] ^= std::byte(1U << bit);
      const ContentSum changed = content_sum_of(0, bytes);
      EXPECT_NE(changed.first, whole.first) << at;
      EXPECT_NE(changed.second, whole.second) << at;
      bytes[at] ^= std::byte(1U << bit);
    }
    for (std::size_t other = 0; other < at; ++other) {
      if (bytes[at] == bytes[other]) continue;
      std::swap(bytes[at], bytes[other]);
      EXPECT_NE(content_sum_of(0, bytes), whole);
      std::swap(bytes[at], bytes[other]);
    }
    EXPECT_NE(content_sum_of(at + 1, bytes), whole);
  }
}

// Sorted numbers with the same sum, and the same sum of products with their places.
TEST(ContentSum, DiffersForNumbersThatAreMovedEvenly) {
  std::vector<std::uint64_t> numbers = {10, 20, 30, 40, 50};
  const auto sum_of = [&] { return content_sum_of(0, std::as_bytes(std::span(numbers))); };
  const ContentSum before = sum_of();
  numbers[1] += 1;
  numbers[2] -= 2;
  numbers[3] += 1;
  EXPECT_NE(sum_of().first, before.first);
  EXPECT_NE(sum_of().second, before.second);
}

TEST(ContentCounter, AddsUp) {
  const test::Bytes bytes = test::random_bytes(100);
  ContentCounter counter;
  counter.add(40, std::span(bytes).subspan(40));
  counter.add(0, std::span(bytes).first(40));
  EXPECT_EQ(counter.sum(), content_sum_of(0, bytes));
}

}  // namespace
}  // namespace gsort::io
