#include "pipeline/output/gap_watch.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "support/sinks.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using io::test::contains;
using io::test::error_of;

const test::Bytes kPiece(40, std::byte{7});  // ten elements of four bytes

class GapWatchOf : public testing::Test {
 protected:
  void enter(int threads) {
    for (int thread = 0; thread < threads; ++thread) watch_.enter();
  }

  // A thread that has entered, and puts pieces of ten elements at these positions.
  std::jthread start(std::initializer_list<std::uint64_t> positions, std::optional<Error>& error) {
    return std::jthread([this, positions = std::vector(positions), &error] {
      try {
        for (const std::uint64_t position : positions) watch_.put(position, kPiece);
      } catch (const Error& caught) {
        error = caught;
      }
      watch_.leave();
    });
  }

  static void expect_gap(const std::optional<Error>& error, const std::string& where) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::kCorrupt);
    EXPECT_TRUE(contains(error->what(), "sorting element " + where)) << error->what();
  }

  test::StreamSink stream_{4};
  GapWatch watch_{4, stream_};
  std::optional<Error> first_;
  std::optional<Error> second_;
};

TEST_F(GapWatchOf, PassesOnPiecesThatWaitForEachOther) {
  enter(2);
  {
    const std::jthread first = start({0, 20}, first_);
    const std::jthread second = start({10, 30}, second_);
  }
  EXPECT_FALSE(first_ || second_);
  EXPECT_EQ(stream_.bytes().size(), 4 * kPiece.size());
}

TEST_F(GapWatchOf, WaitsForAPieceThatAThreadStillHas) {
  enter(2);
  {
    const std::jthread second = start({10, 20}, second_);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    watch_.put(0, kPiece);
    watch_.leave();
  }
  EXPECT_FALSE(second_);
  EXPECT_EQ(stream_.bytes().size(), 3 * kPiece.size());
}

TEST_F(GapWatchOf, CountsNoPieceThatHasBeenPut) {
  struct Taking final : PieceSink {
    void put(std::uint64_t, ConstByteSpan) override {}
    void abandon() noexcept override { ADD_FAILURE() << "there is no gap"; }
  } taking;  // holds nothing back
  GapWatch watch(4, taking);
  const PuttingThread first(watch);
  const PuttingThread second(watch);
  watch.put(20, kPiece);
  watch.put(30, kPiece);
  watch.put(0, kPiece);
}

TEST_F(GapWatchOf, EndsAllThreadsThatWaitForAPieceThatNoneOfThemWillPut) {
  enter(2);
  {
    const std::jthread first = start({0, 20}, first_);
    const std::jthread second = start({30}, second_);
  }
  expect_gap(first_, "10");
  expect_gap(second_, "10");
  EXPECT_TRUE(stream_.was_abandoned());
}

TEST_F(GapWatchOf, EndsThemWhenTheLastOtherThreadLeaves) {
  enter(3);
  {
    const std::jthread first = start({0, 20}, first_);
    const std::jthread second = start({30}, second_);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(stream_.was_abandoned());
    watch_.leave();
  }
  expect_gap(first_, "10");
  expect_gap(second_, "10");
}

TEST_F(GapWatchOf, EndsAnEngineOfOneThread) {
  watch_.put(0, kPiece);
  expect_gap(error_of([&] { watch_.put(20, kPiece); }), "10");
}

TEST_F(GapWatchOf, LetsThroughWhyAPieceCannotBePut) {
  test::StreamSink failing(4, 0, 15);
  GapWatch watch(4, failing);
  const PuttingThread thread(watch);
  watch.put(0, kPiece);
  EXPECT_TRUE(contains(error_of([&] { watch.put(10, kPiece); }).what(), failing.kFailure));
}

}  // namespace
}  // namespace gsort
