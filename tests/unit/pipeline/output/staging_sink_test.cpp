#include "pipeline/output/staging_sink.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "pipeline/proof/proof.hpp"
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
  EXPECT_EQ(kind_of(30, ConstByteSpan(keys()).first(7)), ErrorKind::kCorrupt) << "half an element";
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

// A part in front of a proof, and of a sink that holds pieces back until their turn.
class StagingBeforeProof : public testing::Test {
 protected:
  static constexpr std::uint64_t kCount = 700'000;  // several times what is proven at once
  static constexpr std::uint64_t kBegin = 50;

  StagingBeforeProof() {
    std::iota(numbers_.begin(), numbers_.end(), 1U);
    sink_.begin(kBegin, kCount);
  }
  [[nodiscard]] ConstByteSpan elements(std::uint64_t begin, std::uint64_t end) const {
    return std::as_bytes(std::span(numbers_).subspan(begin, end - begin));
  }
  void put(std::uint64_t begin, std::uint64_t end) {
    sink_.put(kBegin + begin, elements(begin, end));
  }

  std::vector<std::uint32_t> numbers_ = std::vector<std::uint32_t>(kCount);
  Bytes buffer_ = Bytes(kCount * 4);
  Proof proof_{ElementFormat{{KeyType::kU32, false, false}, {}}, true};
  test::StreamSink stream_{4, kBegin};
  ProvingSink proving_{proof_, stream_};
  StagingSink sink_{buffer_, 4, 3, proving_};
};

TEST_F(StagingBeforeProof, ProvesWhatIsPutAndWritesItLater) {
  put(400'000, kCount);
  EXPECT_EQ(proof_.output().count, kCount - 400'000);
  put(0, 400'000);
  EXPECT_EQ(proof_.output(), fingerprint_of(elements(0, kCount), 4));
  EXPECT_TRUE(stream_.bytes().empty()) << "it is not its turn";
  sink_.flush();
  EXPECT_TRUE(std::ranges::equal(stream_.bytes(), elements(0, kCount)));
  EXPECT_EQ(proof_.output().count, kCount) << "nothing is proven twice";
}

// The buffer's content is written, so the content of a piece before does not matter.
TEST_F(StagingBeforeProof, ProvesTheMemoryThatIsWritten) {
  put(0, kCount);
  numbers_.assign(kCount, 0);
  sink_.flush();
  EXPECT_EQ(fingerprint_of(stream_.bytes(), 4), proof_.output());
}

TEST_F(StagingBeforeProof, SeesDisorderWithinPiecesAndAtTheirBordersBeforeTheTurn) {
  const auto complaint_at = [&](std::uint64_t wrong, std::uint64_t cut) {
    Proof proof(ElementFormat{{KeyType::kU32, false, false}, {}}, true);
    ProvingSink proving(proof, stream_);
    StagingSink sink(buffer_, 4, 3, proving);
    std::swap(numbers_[wrong - 1], numbers_[wrong]);
    sink.begin(kBegin, kCount);
    const Error error = io::test::error_of([&] {
      sink.put(kBegin + cut, elements(cut, kCount));
      sink.put(kBegin, elements(0, cut));
    });
    std::swap(numbers_[wrong - 1], numbers_[wrong]);
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    return std::string(error.what());
  };
  for (const std::uint64_t wrong : {1U, 131'072U, 300'000U, 699'999U}) {
    const std::string place = "element " + std::to_string(kBegin + wrong) + " ";
    for (const std::uint64_t cut : {wrong, std::uint64_t{200'000}}) {  // first at a border
      const std::string complaint = complaint_at(wrong, cut);
      EXPECT_NE(complaint.find(place), std::string::npos) << complaint;
    }
  }
  EXPECT_TRUE(stream_.bytes().empty());
}

TEST_F(StagingBeforeProof, TakesNoElementTwice) {
  put(0, 10);
  EXPECT_EQ(io::test::error_of([&] { put(9, 19); }).kind(), ErrorKind::kCorrupt);
}

TEST(StagingThreads, AreSeveralOnlyWhereLanesLeaveThreadsIdle) {
  Plan plan;
  plan.threads = 32;
  EXPECT_EQ(staging_threads(plan, 3), 8U);
  EXPECT_EQ(staging_threads(plan, 31), 8U);
  EXPECT_EQ(staging_threads(plan, 32), 1U);
  plan.threads = 4;
  EXPECT_EQ(staging_threads(plan, 3), 4U);
  EXPECT_EQ(staging_threads(plan, 4), 1U);
  EXPECT_EQ(staging_threads(plan, 6), 1U);
}

// The writer has threads of its own for each piece, and memory for a few pieces.
TEST(StagingThreads, AreOneWhereElementsAreEncoded) {
  Plan plan;
  plan.threads = 32;
  plan.job.output_form = {FileFormat::kText, Codec::kNone};
  EXPECT_EQ(staging_threads(plan, 3), 1U);
  plan.job.output_form = {FileFormat::kBinary, Codec::kZstd};
  EXPECT_EQ(staging_threads(plan, 3), 1U);
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
    const std::string error = io::test::error_of([&] { sink.flush(); }).what();
    EXPECT_NE(error.find(ordered.kFailure), std::string::npos) << error;
  }
}

// Notes how long pieces are.
class MeasuringSink final : public PieceSink {
 public:
  void put(std::uint64_t, ConstByteSpan keys) override {
    const std::scoped_lock lock(mutex_);
    bytes_.push_back(keys.size());
  }
  [[nodiscard]] const std::vector<std::size_t>& bytes() const { return bytes_; }

 private:
  std::mutex mutex_;
  std::vector<std::size_t> bytes_;
};

TEST(StagingOfSeveralThreads, PutsPiecesWhereOneThreadPutsAWholePart) {
  Bytes buffer(kLarge * 12);
  const auto pieces_of = [&](unsigned threads) {
    MeasuringSink measured;
    StagingSink sink(buffer, 12, threads, measured);
    sink.begin(0, kLarge);
    sink.put(0, Bytes(buffer));
    sink.flush();
    return measured.bytes();
  };
  EXPECT_EQ(pieces_of(1), std::vector<std::size_t>{kLarge * 12});
  EXPECT_EQ(pieces_of(3).size(), 3U);
}

// The second piece fails when the third one waits for its turn.
class BrokenSink final : public PieceSink {
 public:
  void put(std::uint64_t, ConstByteSpan) override {
    constexpr std::chrono::seconds kLong{20};
    std::unique_lock lock(mutex_);
    const int piece = ++pieces_;
    changed_.notify_all();
    if (piece == 1) return;
    if (piece == 2) {
      changed_.wait_for(lock, kLong, [this] { return pieces_ == 3; });
      throw Error(ErrorKind::kOutput, "writing", "failed");
    }
    was_told_ = changed_.wait_for(lock, kLong, [this] { return is_abandoned_; });
    throw Error(ErrorKind::kOutput, "writing", "was given up");
  }
  void abandon() noexcept override {
    const std::scoped_lock lock(mutex_);
    is_abandoned_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool was_told() const { return was_told_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int pieces_ = 0;
  bool is_abandoned_ = false;
  bool was_told_ = false;
};

TEST(StagingOfSeveralThreads, TellsThoseWhoWaitThatAPieceHasFailed) {
  Bytes buffer(kLarge * 12);
  BrokenSink failing;
  StagingSink sink(buffer, 12, 3, failing);
  sink.begin(0, kLarge);
  sink.put(0, Bytes(buffer));
  EXPECT_EQ(io::test::error_of([&] { sink.flush(); }).reason(), "failed");
  EXPECT_TRUE(failing.was_told());
}

}  // namespace
}  // namespace gsort
