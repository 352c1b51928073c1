#include "pipeline/count_keys.hpp"

#include <algorithm>
#include <atomic>
#include <optional>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/error_of.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"

namespace gsort {
namespace {

constexpr KeyFormat kNarrow{KeyType::kI8, true, false};
constexpr std::size_t kBlockBytes = 64 << 10;
constexpr std::size_t kBlocks = 40;

Plan plan_of_workers(unsigned workers) {
  Plan plan;
  plan.job.element.key = kNarrow;
  plan.element_bytes = 1;
  plan.strategy = CountKeys{};
  plan.threads = workers;
  plan.chunk.readers = workers;
  plan.chunk.block_bytes = kBlockBytes;
  plan.chunk.arena_bytes = workers * kBlockBytes;
  return plan;
}

class CountKeys : public testing::Test {
 protected:
  // Counts with four workers what `raw_` holds.
  std::uint64_t count(PieceSink& sink) {
    std::atomic<std::size_t> next{0};
    return count_keys(plan_, blocks_from(next), nullptr, memory_,
                      [&](std::optional<std::uint64_t>) -> PieceSink& { return sink; });
  }

  // The blocks of `raw_` from number `next` on.
  BlockReader blocks_from(std::atomic<std::size_t>& next) {
    return [this, &next](unsigned, ByteSpan block) -> std::size_t {
      const std::size_t begin = kBlockBytes * next++;
      if (begin >= raw_.size()) return 0;
      const auto some = ConstByteSpan(raw_).subspan(begin, kBlockBytes);
      std::ranges::copy(some, block.begin());
      return some.size();
    };
  }

  const Plan plan_ = plan_of_workers(4);
  test::Bytes memory_ = test::Bytes(plan_.chunk.arena_bytes);
  const test::Bytes raw_ = test::generated(kNarrow, Distribution::kUniform, kBlocks* kBlockBytes);
};

TEST_F(CountKeys, PutsEachAsOftenAsItWasRead) {
  test::StreamSink sink(1);
  EXPECT_EQ(count(sink), raw_.size());
  EXPECT_TRUE(sink.bytes() == test::sorted_copy(raw_, kNarrow));
}

TEST_F(CountKeys, PutsAnyRangeOfWhatWasCounted) {
  std::atomic<std::size_t> next{0};
  const KeyCounts counts = read_counts(plan_, blocks_from(next), nullptr, memory_);
  const test::Bytes sorted = test::sorted_copy(raw_, kNarrow);
  const std::uint64_t borders[] = {0, 0, 1, 70'000, 70'000, raw_.size() - 1, raw_.size()};
  for (std::size_t i = 0; i + 1 < std::size(borders); ++i) {
    const OutputRange range{borders[i], borders[i + 1]};
    test::StreamSink sink(1, range.begin);
    put_counted(plan_, counts, range, nullptr, memory_, sink);
    const auto wanted = std::span(sorted).subspan(range.begin, range.elements());
    EXPECT_TRUE(std::ranges::equal(sink.bytes(), wanted)) << range.begin;
  }
}

TEST_F(CountKeys, PassesTheFailureOfTheSinkOn) {
  for (const std::uint64_t failing : {std::size_t{0}, raw_.size() / 2, raw_.size() - 1}) {
    SCOPED_TRACE(failing);
    test::StreamSink sink(1, 0, failing);
    const Error error = test::error_of([&] { count(sink); });
    EXPECT_EQ(error.reason(), test::StreamSink::kFailure);
  }
}

}  // namespace
}  // namespace gsort
