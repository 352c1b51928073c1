#include "pipeline/part_queue.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cpu/cpu_engine.hpp"
#include "engine/passing_sink.hpp"
#include "io/system/memory.hpp"
#include "pipeline/merge_runs.hpp"
#include "pipeline/part_merge.hpp"
#include "support/engines.hpp"
#include "support/invented.hpp"
#include "support/runs_on_disk.hpp"
#include "support/sinks.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using Keys = std::vector<std::uint32_t>;
constexpr std::size_t kBlockElements = 6;
constexpr KeyFormat kFormat{KeyType::kU32, false, false};

// Sorted runs with many ties.
std::vector<Keys> made_runs(const std::vector<std::size_t>& counts, std::uint32_t values) {
  std::mt19937 random(5);
  std::vector<Keys> runs;
  for (const std::size_t count : counts) {
    Keys& run = runs.emplace_back(count);
    for (std::uint32_t& key : run) key = static_cast<std::uint32_t>(random() % values);
    std::ranges::sort(run);
  }
  return runs;
}

Keys all_of(const std::vector<Keys>& runs) {
  Keys all;
  for (const Keys& run : runs) all.insert(all.end(), run.begin(), run.end());
  std::ranges::sort(all);
  return all;
}

test::Bytes bytes_of_keys(std::span<const std::uint32_t> keys) {
  const auto bytes = std::as_bytes(keys);
  return {bytes.begin(), bytes.end()};
}

class PartsOfRuns : public testing::TestWithParam<const char*> {
 protected:
  static constexpr std::uint64_t kPart = 37;

  PartsOfRuns() {
    for (const Keys& run : keys_) runs_.add(std::as_bytes(std::span(run)));
  }

  PartQueue queue(OutputRange range,
                  const MergePlan& sizes = {.part_elements = kPart, .least_part_elements = kPart}) {
    return {PartSplitter(runs_.to_cut()), range, sizes};
  }

  // As one of several machines does.
  void merge(OutputRange range, PieceSink& sink) {
    PartQueue parts = queue(range);
    test::EngineUnderTest engine(GetParam(), test::shape_for(kFormat, 1'000), 1, kPart);
    const auto lanes = engine->make_merge_lanes(1, kPart);
    const std::uint64_t scratch_bytes = runs_.store().scratch_bytes();
    const io::Arena arena(2 * scratch_bytes, "the test");
    const ByteSpan scratch[] = {arena.bytes().first(scratch_bytes),
                                arena.bytes().last(scratch_bytes)};
    while (const auto part = parts.take()) {
      merge_part({runs_.runs(), 4, KeyForm::kRaw, nullptr}, *part, *lanes[0], scratch, sink);
    }
  }

  std::vector<Keys> keys_ = made_runs({150, 0, 90, 1, 200}, 60);
  Keys sorted_ = all_of(keys_);
  test::RunsOnDisk runs_{sizeof(Keys::value_type), kBlockElements};
};

TEST_P(PartsOfRuns, GiveInSeveralRangesWhatOneGives) {
  const std::uint64_t total = sorted_.size();
  for (const std::uint64_t cut : {std::uint64_t{0}, std::uint64_t{1}, kPart, kPart + 1,
                                  std::uint64_t{222}, total - 1, total}) {
    test::CollectingSink sink(total, 4);
    merge({cut, total}, sink);
    merge({0, cut}, sink);
    EXPECT_EQ(sink.complaint(), "") << cut;
    EXPECT_EQ(sink.bytes(), bytes_of_keys(sorted_)) << cut;
  }
}

TEST_P(PartsOfRuns, GiveAnyRangeAlone) {
  for (const OutputRange range : {OutputRange{100, 300}, {7, 8}, {300, 441}}) {
    test::CollectingSink sink(range.elements(), 4, range.begin);
    merge(range, sink);
    EXPECT_EQ(sink.complaint(), "");
    EXPECT_EQ(sink.bytes(),
              bytes_of_keys(std::span(sorted_).subspan(range.begin, range.elements())));
  }
}

TEST_P(PartsOfRuns, FollowEachOther) {
  PartQueue parts = queue({50, 300});
  std::uint64_t position = 50;
  std::vector<std::uint64_t> cuts;
  while (const auto part = parts.take()) {
    EXPECT_EQ(part->range.begin, position);
    EXPECT_LE(part->range.elements(), kPart);
    if (position > 50) {
      EXPECT_EQ(part->begin, cuts);
    }
    std::uint64_t elements = 0;
    for (const std::uint64_t count : part->counts()) elements += count;
    EXPECT_EQ(elements, part->range.elements());
    position = part->range.end;
    cuts = part->end;
  }
  EXPECT_EQ(position, 300U);
  EXPECT_FALSE(parts.take());
}

TEST_P(PartsOfRuns, BecomeShorterTowardsTheEndForUnlikeLanes) {
  constexpr MergePlan kSizes{.part_elements = 50, .least_part_elements = 8, .lanes = 2};
  PartQueue parts = queue({0, 441}, kSizes);
  std::vector<std::uint64_t> lengths;
  std::uint64_t left = 441;
  while (const auto part = parts.take()) {
    EXPECT_EQ(part->range.begin, 441 - left);
    lengths.push_back(part->range.elements());
    EXPECT_LE(lengths.back(), std::max(left / 4, std::min(left, kSizes.least_part_elements)));
    left -= lengths.back();
  }
  EXPECT_EQ(left, 0U);
  EXPECT_TRUE(std::ranges::is_sorted(lengths, std::ranges::greater{}));
  EXPECT_EQ(lengths.front(), kSizes.part_elements);
  EXPECT_EQ(*(lengths.end() - 2), kSizes.least_part_elements);
  EXPECT_LT(lengths.size(), 25U);
}

INSTANTIATE_TEST_SUITE_P(Engines, PartsOfRuns, testing::Values("std", "cpu"));

// One merge of runs on disk.
class SpaceOfAMerge : public testing::Test {
 protected:
  static constexpr std::uint64_t kRunElements = 300'000;

  SpaceOfAMerge() {
    Options options = test::options_for(KeyType::kU32, "16M");
    options.parallel = 1;
    plan_ = test::plan_of(options, test::invented_machine(kGiB, 2, kTiB));
    io::RunStoreOptions store_options;
    store_options.block_elements = std::min<std::uint64_t>(plan_.run.block_elements, 4096);
    store_options.packing = Packing::kOff;
    store_.emplace(std::vector<std::string>{folder_.path()}, 4, store_options);
    for (const Keys& keys : keys_) {
      io::RunWriter writer = store_->begin_run(keys.size());
      writer.put(0, std::as_bytes(std::span(keys)));
      runs_.push_back(writer.finish());
    }
    arena_.emplace(plan_.arena_bytes, "the test");
    engine_ = cpu::make_cpu_engine(test::shape_for(kFormat, 1'000), arena_->bytes());
  }

  std::vector<Keys> keys_ = made_runs({kRunElements, kRunElements, kRunElements}, 1 << 20);
  io::test::TempFolder folder_;
  Plan plan_;
  std::optional<io::RunStore> store_;
  std::vector<io::Run> runs_;
  std::optional<io::Arena> arena_;
  std::unique_ptr<Engine> engine_;
};

// Holds pieces from a position on back until less space is in use: lanes do not end in order.
class SpaceSink final : public PassingSink {
 public:
  SpaceSink(const io::RunStore& store, std::uint64_t from, std::uint64_t bytes, PieceSink& next)
      : PassingSink(next), store_(store), from_(from), bytes_(bytes) {}
  void put(std::uint64_t position, ConstByteSpan elements) override {
    for (int ms = 0; position >= from_ && store_.bytes_in_use() >= bytes_; ++ms) {
      if (ms == 10'000) is_given_back_ = false;
      if (!is_given_back_) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    next_.put(position, elements);
  }
  [[nodiscard]] bool is_given_back() const { return is_given_back_; }

 private:
  const io::RunStore& store_;
  const std::uint64_t from_;
  const std::uint64_t bytes_;
  std::atomic<bool> is_given_back_{true};
};

TEST_F(SpaceOfAMerge, IsGivenBackAsPartsAreMerged) {
  constexpr std::uint64_t kTotal = 3 * kRunElements;
  test::CollectingSink sink(kTotal, 4);
  SpaceSink space(*store_, kTotal * 3 / 4, store_->bytes_in_use() * 6 / 10, sink);
  merge_runs({.plan = plan_,
              .engine = engine_.get(),
              .memory = arena_->bytes(),
              .store = [this]() -> io::RunStore& { return *store_; }},
             std::move(runs_), space);
  EXPECT_EQ(sink.complaint(), "");
  EXPECT_EQ(sink.bytes(), bytes_of_keys(all_of(keys_)));
  EXPECT_TRUE(space.is_given_back());
}

TEST_F(SpaceOfAMerge, StaysUntilAllPartsInFrontAreDone) {
  const std::uint64_t whole = store_->bytes_in_use();
  const std::vector<std::uint64_t> none(3, 0);
  const std::vector<std::uint64_t> half(3, kRunElements / 2);
  const std::vector<std::uint64_t> most(3, kRunElements - 1);
  const std::vector<std::uint64_t> all(3, kRunElements);
  const std::uint64_t middle = 3 * kRunElements / 2;
  SpaceReturn space(runs_, 0);
  space.done({{middle, 2 * middle - 3}, half, most});
  EXPECT_EQ(store_->bytes_in_use(), whole);
  space.done({{0, middle}, none, half});
  EXPECT_LT(store_->bytes_in_use(), whole / 2);
  EXPECT_GT(store_->bytes_in_use(), 0U);
  space.done({{2 * middle - 3, 2 * middle}, most, all});  // short as it is
  EXPECT_EQ(store_->bytes_in_use(), 0U);
}

}  // namespace
}  // namespace gsort
