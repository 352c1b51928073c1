#include "pipeline/share/part_runs.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cpu/cpu_engine.hpp"
#include "io/system/memory.hpp"
#include "support/engines.hpp"
#include "support/invented.hpp"
#include "support/sinks.hpp"
#include "support/stably_sorted.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using test::Bytes;

constexpr std::uint64_t kPartBlock = 6;
const RecordFormat kRecord{8, {{0, 4, KeyType::kU32, false, false}}};

// Sorted runs of records whose keys are often equal, numbered behind them in the order of the runs.
class RunsOfAPart : public testing::Test {
 protected:
  RunsOfAPart() {
    io::RunStoreOptions store_options;
    store_options.block_elements = kPartBlock;
    store_options.records.emplace(kRecord);
    for (auto* store : {&shares_, &store_}) {
      store->emplace(std::vector<std::string>{folder_.path()}, kRecord.bytes, store_options);
    }
    std::mt19937 random(3);
    std::uint32_t number = 0;
    for (const std::size_t count : {40U, 0U, 33U, 1U, 50U, 17U, 29U, 64U}) {
      std::vector<std::uint32_t> run;
      for (std::size_t i = 0; i < count; ++i) {
        run.push_back(static_cast<std::uint32_t>(random() % 20));
        run.push_back(number++);
      }
      const auto bytes = std::as_bytes(std::span(run));
      const Bytes& sorted =
          runs_.emplace_back(test::stably_sorted({bytes.begin(), bytes.end()}, kRecord));
      all_.insert(all_.end(), sorted.begin(), sorted.end());
    }
    all_ = test::stably_sorted(all_, kRecord);
    Options options = test::options_for(KeyType::kU32, "16M");
    options.records = kRecord;
    options.parallel = 2;
    plan_ = test::plan_of(options, test::invented_machine(kGiB, 2, kTiB));
    plan_.run.block_elements = kPartBlock;
    arena_.emplace(plan_.arena_bytes, "the test");
    EngineShape shape = test::shape_for({KeyType::kU32, false, false}, 1'000);
    shape.records = kRecord;
    engine_ = cpu::make_cpu_engine(shape, arena_->bytes());
  }

  [[nodiscard]] std::vector<io::Run> runs() {
    std::vector<io::Run> runs;
    for (const Bytes& run : runs_) {
      io::RunWriter writer = shares_->begin_run(run.size() / kRecord.bytes);
      if (!run.empty()) writer.put(0, run);
      runs.push_back(writer.finish());
    }
    return runs;
  }
  [[nodiscard]] std::vector<RunSlice> slices_of(OutputRange range) {
    return slices_of_part(plan_, runs(), shares_->scratch_bytes(), range);
  }
  [[nodiscard]] SortContext context() {
    return {.plan = plan_,
            .engine = engine_.get(),
            .memory = arena_->bytes(),
            .store = [this]() -> io::RunStore& { return *store_; }};
  }
  [[nodiscard]] Bytes expected(OutputRange range) const {
    const auto at = [this](std::uint64_t element) {
      return all_.begin() + static_cast<std::ptrdiff_t>(element * kRecord.bytes);
    };
    return {at(range.begin), at(range.end)};
  }

  [[nodiscard]] std::uint64_t elements() const { return all_.size() / kRecord.bytes; }

  void expect_part(OutputRange range, std::uint32_t fan_in) {
    plan_.run.fan_in = fan_in;
    test::CollectingSink sink(range.elements(), kRecord.bytes, range.begin);
    if (range.elements() > 0) merge_slices(context(), slices_of(range), range.begin, sink);
    EXPECT_EQ(sink.complaint(), "");
    EXPECT_EQ(sink.bytes(), expected(range)) << range.begin << " to " << range.end;
  }

  io::test::TempFolder folder_;
  std::optional<io::RunStore> shares_;
  std::optional<io::RunStore> store_;  // of temporary runs
  std::vector<Bytes> runs_;
  Bytes all_;
  Plan plan_;
  std::optional<io::Arena> arena_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(RunsOfAPart, GiveInRoundsWhatOneMergeGives) {
  for (const std::uint32_t fan_in : {2U, 3U, 5U, 100U}) {
    for (std::uint64_t begin = 0; begin <= elements(); begin += 29) {
      for (const std::uint64_t end : {begin, begin + 1, begin + 40, elements()}) {
        if (end > elements()) continue;
        expect_part({begin, end}, fan_in);
      }
    }
  }
}

TEST_F(RunsOfAPart, LeaveNoTemporaryRunBehind) {
  expect_part({10, 200}, 2);
  EXPECT_GT(store_->bytes_written(), 0U);
  EXPECT_EQ(store_->bytes_in_use(), 0U);
}

TEST_F(RunsOfAPart, AreOnlyThoseThatGiveSomethingToIt) {
  const std::vector<RunSlice> slices = slices_of({0, 1});
  ASSERT_EQ(slices.size(), 1U);
  EXPECT_EQ(slices.front().end - slices.front().begin, 1U);
}

TEST_F(RunsOfAPart, AreMergedAsTheyAreWhereTheyAreFew) {
  expect_part({5, 100}, 100);
  EXPECT_EQ(store_->bytes_written(), 0U);
}

}  // namespace
}  // namespace gsort
