#include "pipeline/count_keys.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"

namespace gsort {
namespace {

constexpr KeyFormat kFormat{KeyType::kI8, true, false};
constexpr std::size_t kBlockBytes = 64 << 10;
constexpr std::size_t kBlocks = 40;

Plan plan_of_workers(unsigned workers) {
  Plan plan;
  plan.job.element.key = kFormat;
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
    const Plan plan = plan_of_workers(4);
    std::vector<std::byte> memory(plan.chunk.arena_bytes);
    std::atomic<std::size_t> next{0};
    const BlockReader read = [&](unsigned, ByteSpan block) -> std::size_t {
      const std::size_t begin = kBlockBytes * next++;
      if (begin >= raw_.size()) return 0;
      const auto some = ConstByteSpan(raw_).subspan(begin, kBlockBytes);
      std::ranges::copy(some, block.begin());
      return some.size();
    };
    return count_keys(plan, read, nullptr, memory,
                      [&](std::optional<std::uint64_t>) -> PieceSink& { return sink; });
  }

  const test::Bytes raw_ = test::generated(kFormat, Distribution::kUniform, kBlocks* kBlockBytes);
};

TEST_F(CountKeys, PutsEachAsOftenAsItWasRead) {
  test::StreamSink sink(1);
  EXPECT_EQ(count(sink), raw_.size());
  EXPECT_TRUE(sink.bytes() == test::sorted_copy(raw_, kFormat));
}

TEST_F(CountKeys, PassesTheFailureOfTheSinkOn) {
  for (const std::uint64_t failing : {std::size_t{0}, raw_.size() / 2, raw_.size() - 1}) {
    test::StreamSink sink(1, 0, failing);
    try {
      count(sink);
      ADD_FAILURE() << "nothing was thrown at " << failing;
    } catch (const Error& error) {
      EXPECT_EQ(error.reason(), test::StreamSink::kFailure);
    }
  }
}

}  // namespace
}  // namespace gsort
