#include "pipeline/output/staging_sink.hpp"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using test::Bytes;

const Bytes& keys() {
  static const Bytes bytes = io::test::random_bytes(400);
  return bytes;
}

ConstByteSpan keys_of(std::size_t begin, std::size_t end) {
  return ConstByteSpan(keys()).subspan(4 * begin, 4 * (end - begin));
}

class Staging : public testing::Test {
 protected:
  Bytes buffer_ = Bytes(400);
  test::CollectingSink collected_{100, 4};
  StagingSink sink_{buffer_, 4, 1, collected_};
};

TEST_F(Staging, PassesPartsOnWholeHoweverTheyCome) {
  sink_.begin(0, 60);
  sink_.put(20, keys_of(20, 60));
  sink_.put(0, keys_of(0, 20));
  sink_.flush();
  sink_.begin(60, 40);
  sink_.put(60, keys_of(60, 100));
  sink_.flush();
  EXPECT_EQ(collected_.complaint(), "");
  EXPECT_EQ(collected_.bytes(), keys());
}

TEST_F(Staging, TakesNothingThatIsNotOfThePart) {
  sink_.begin(20, 30);
  const auto kind_of = [&](std::uint64_t position, ConstByteSpan elements) {
    return io::test::error_of([&] { sink_.put(position, elements); }).kind();
  };
  EXPECT_EQ(kind_of(19, keys_of(19, 20)), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of(0, keys_of(0, 1)), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of(50, keys_of(50, 51)), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of(51, keys_of(51, 52)), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of(49, keys_of(49, 51)), ErrorKind::kCorrupt);
  EXPECT_EQ(kind_of(20, keys_of(20, 51)), ErrorKind::kCorrupt);
  sink_.put(20, keys_of(20, 50));
  sink_.put(50, keys_of(50, 50));
  sink_.flush();
}

TEST_F(Staging, PassesOnNoPartOfWhichElementsAreMissing) {
  sink_.begin(0, 30);
  sink_.put(0, keys_of(0, 29));
  EXPECT_EQ(io::test::error_of([&] { sink_.flush(); }).kind(), ErrorKind::kCorrupt);
  sink_.begin(0, 30);
  sink_.put(0, keys_of(0, 30));
  sink_.put(29, keys_of(29, 30));
  EXPECT_EQ(io::test::error_of([&] { sink_.flush(); }).kind(), ErrorKind::kCorrupt);
}

// Elements of 12 bytes, which fit no piece of a power of two exactly.
constexpr std::uint64_t kLarge = 11 * kMiB / 12;

TEST(StagingOfSeveralThreads, PutsEveryElementInTurn) {
  const Bytes elements = io::test::random_bytes(kLarge * 12);
  Bytes buffer(elements.size());
  test::StreamSink ordered(12);
  StagingSink sink(buffer, 12, 3, ordered);
  sink.begin(0, kLarge);
  sink.put(0, elements);
  sink.flush();
  EXPECT_TRUE(ordered.bytes() == elements);
}

TEST(StagingOfSeveralThreads, LanesTakeTurns) {
  constexpr std::uint64_t kPart = kLarge - 5;
  constexpr std::uint64_t kParts = 7;
  const Bytes elements = io::test::random_bytes(kParts * kPart * 12);
  test::StreamSink ordered(12);
  std::atomic<std::uint64_t> next{0};
  run_workers(3, [&](unsigned) {
    Bytes buffer(kPart * 12);
    StagingSink sink(buffer, 12, 4, ordered);
    for (std::uint64_t part = next++; part < kParts; part = next++) {
      sink.begin(part * kPart, kPart);
      sink.put(part * kPart, ConstByteSpan(elements).subspan(part * kPart * 12, kPart * 12));
      sink.flush();
    }
  });
  EXPECT_TRUE(ordered.bytes() == elements);
}

TEST(StagingOfSeveralThreads, EndsWithTheErrorOfOnePiece) {
  const Bytes elements = io::test::random_bytes(kLarge * 12);
  for (const std::uint64_t failing : {std::uint64_t{0}, kLarge / 2, kLarge - 1}) {
    Bytes buffer(elements.size());
    test::StreamSink ordered(12, 0, failing);
    StagingSink sink(buffer, 12, 3, ordered);
    sink.begin(0, kLarge);
    sink.put(0, elements);
    EXPECT_THAT(io::test::error_of([&] { sink.flush(); }).what(),
                testing::HasSubstr(ordered.kFailure));
  }
}

}  // namespace
}  // namespace gsort
