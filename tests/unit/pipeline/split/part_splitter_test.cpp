#include "pipeline/split/part_splitter.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "io/runs/run_store.hpp"
#include "unit/element/merge_one_by_one.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using test::Cuts;

constexpr std::uint64_t kBlockElements = 6;

// Runs on disk, put in random pieces, so that many blocks are shorter than they may be.
template <class Key>
class StoredRuns {
 public:
  explicit StoredRuns(std::vector<std::vector<Key>> keys, std::uint64_t seed = 1,
                      std::uint64_t block_elements = kBlockElements)
      : keys_(std::move(keys)),
        block_elements_(block_elements),
        store_({folder_.path()}, sizeof(Key), options(block_elements)) {
    std::mt19937_64 random(seed);
    for (auto& run : keys_) {
      std::sort(run.begin(), run.end());
      io::RunWriter writer = store_.begin_run(run.size());
      for (std::size_t at = 0; at < run.size();) {
        const std::size_t count =
            std::min<std::size_t>(1 + random() % (2 * block_elements), run.size() - at);
        writer.put(at, std::as_bytes(std::span(run).subspan(at, count)));
        at += count;
      }
      runs_.push_back(writer.finish());
      total_ += run.size();
    }
  }

  // The cuts at every `step`-th position from `first` on, against merging one by one.
  void expect_cuts(std::uint64_t first, std::uint64_t step,
                   std::size_t most_blocks = kABlockOfEach) {
    PartSplitter splitter(
        {runs_, sizeof(Key), block_elements_ * sizeof(Key), store_.scratch_bytes()}, most_blocks);
    for (std::uint64_t position = first; position < total_ + step; position += step) {
      const std::uint64_t d = std::min(position, total_);
      ASSERT_EQ(splitter.cuts_at(d), test::merge_one_by_one(keys_, d)) << "position " << d;
    }
  }

  // Behind the keys that equal the last one in front of the position.
  void expect_cuts_behind_ties(std::uint64_t step) {
    PartSplitter splitter(
        {runs_, sizeof(Key), block_elements_ * sizeof(Key), store_.scratch_bytes()});
    for (std::uint64_t position = 0; position <= total_; position += step) {
      Cuts expected = test::merge_one_by_one(keys_, position);
      Key last = 0;
      for (std::size_t run = 0; run < keys_.size(); ++run) {
        if (expected[run] > 0) last = std::max(last, keys_[run][expected[run] - 1]);
      }
      for (std::size_t run = 0; position > 0 && run < keys_.size(); ++run) {
        const auto behind = std::ranges::upper_bound(keys_[run], last);
        expected[run] = static_cast<std::uint64_t>(behind - keys_[run].begin());
      }
      ASSERT_EQ(splitter.cuts_behind_ties_at(position), expected) << "position " << position;
    }
  }

  [[nodiscard]] std::uint64_t total() const { return total_; }

  // The bytes of one block of each run.
  [[nodiscard]] std::uint64_t bytes_of_a_block_each() {
    const std::uint64_t before = store_.bytes_read();
    std::vector<std::byte> keys(block_elements_ * sizeof(Key));
    const io::Arena scratch(store_.scratch_bytes(), "the test");
    for (const io::Run& run : runs_) {
      (void)run.read_block(run.fences().block_count() / 2, keys, scratch.bytes());
    }
    return store_.bytes_read() - before;
  }
  [[nodiscard]] std::uint64_t bytes_read() const { return store_.bytes_read(); }

 private:
  static io::RunStoreOptions options(std::uint64_t block_elements) {
    io::RunStoreOptions options;
    options.block_elements = block_elements;
    options.write_buffer_bytes = 64 << 10;
    return options;
  }

  io::test::TempFolder folder_;
  std::vector<std::vector<Key>> keys_;
  std::uint64_t block_elements_;
  io::RunStore store_;
  std::vector<io::Run> runs_;
  std::uint64_t total_ = 0;
};

template <class Key, class Make>
std::vector<std::vector<Key>> made(const std::vector<std::size_t>& counts, const Make& make) {
  std::mt19937_64 random(counts.size());
  std::vector<std::vector<Key>> runs;
  for (const std::size_t count : counts) {
    auto& run = runs.emplace_back(count);
    for (Key& key : run) key = static_cast<Key>(make(random));
  }
  return runs;
}

template <class Key>
class PartSplitterOf : public testing::Test {
 protected:
  static void expect_all_cuts(const std::vector<std::vector<Key>>& keys) {
    for (const std::uint64_t seed : {1U, 2U}) {
      StoredRuns<Key> runs(keys, seed);
      runs.expect_cuts(0, 1);
      runs.expect_cuts(7, 13);
      runs.expect_cuts(runs.total(), 1);
      runs.expect_cuts(runs.total() / 2, runs.total() / 3 + 1);
    }
  }
};
using Widths = testing::Types<std::uint8_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(PartSplitterOf, Widths);

TYPED_TEST(PartSplitterOf, AgreesWithMergingOneByOneOnRandomKeys) {
  this->expect_all_cuts(made<TypeParam>({50, 1, 73, 20}, [](auto& r) { return r(); }));
}

TYPED_TEST(PartSplitterOf, AgreesWithMergingOneByOneOnHeavyTies) {
  this->expect_all_cuts(made<TypeParam>({60, 60, 60}, [](auto& r) { return r() % 3; }));
  this->expect_all_cuts(made<TypeParam>({90, 5, 40, 33}, [](auto& r) { return r() % 10 / 9; }));
}

TYPED_TEST(PartSplitterOf, AgreesWithMergingOneByOneOnOneKey) {
  this->expect_all_cuts(made<TypeParam>({30, 0, 41}, [](auto&) { return 0; }));
  this->expect_all_cuts(made<TypeParam>({30, 7, 41}, [](auto&) { return ~std::uint64_t{0}; }));
}

TYPED_TEST(PartSplitterOf, AgreesWithMergingOneByOneOnTheEndsOfTheRange) {
  this->expect_all_cuts(made<TypeParam>({40, 40, 40, 1, 1}, [](auto& r) {
    return r() % 2 == 0 ? r() % 2 : ~std::uint64_t{0} - r() % 2;
  }));
}

TYPED_TEST(PartSplitterOf, SplitsOneRunAndManyRuns) {
  this->expect_all_cuts(made<TypeParam>({100}, [](auto& r) { return r() % 50; }));
  this->expect_all_cuts(
      made<TypeParam>(std::vector<std::size_t>(40, 9), [](auto& r) { return r() % 30; }));
}

TYPED_TEST(PartSplitterOf, SplitsWithFewerBlocksInMemoryThanRuns) {
  for (const std::size_t blocks : {1U, 2U, 5U}) {
    StoredRuns<TypeParam>(made<TypeParam>({50, 1, 73, 0, 20, 33}, [](auto& r) {
      return r() % 40;
    })).expect_cuts(0, 1, blocks);
  }
}

TYPED_TEST(PartSplitterOf, LeavesNoKeyOnBothSidesWhereThatIsAsked) {
  for (const std::uint64_t values : {1U, 3U, 40U, 200U}) {
    StoredRuns<TypeParam> runs(
        made<TypeParam>({50, 1, 73, 0, 20}, [=](auto& r) { return r() % values; }));
    runs.expect_cuts_behind_ties(1);
    runs.expect_cuts_behind_ties(13);
  }
}

// Keys that are longer than their part in the fences.
TEST(PartSplitter, LeavesNoRecordOnBothSidesWhereThatIsAsked) {
  using Record = std::array<std::uint8_t, 12>;
  const RecordFormat format{sizeof(Record), {{0, sizeof(Record), std::nullopt, false, false}}};
  const io::test::TempFolder folder;
  io::RunStoreOptions options;
  options.block_elements = kBlockElements;
  options.records.emplace(format);
  io::RunStore store({folder.path()}, sizeof(Record), options);
  std::mt19937 random(1);
  std::vector<std::vector<Record>> records;
  std::vector<Record> all;
  std::vector<io::Run> runs;
  for (const std::size_t count : {50U, 1U, 73U, 0U, 20U}) {
    auto& run = records.emplace_back(count);
    for (Record& record : run) {
      record[7] = static_cast<std::uint8_t>(random() % 3);
      record[11] = static_cast<std::uint8_t>(random() % 40);
    }
    std::ranges::sort(run);
    all.insert(all.end(), run.begin(), run.end());
    io::RunWriter writer = store.begin_run(count);
    if (count > 0) writer.put(0, std::as_bytes(std::span(run)));
    runs.push_back(writer.finish());
  }
  std::ranges::sort(all);
  for (const std::size_t step : {1U, 13U}) {
    PartSplitter splitter(
        {runs, sizeof(Record), kBlockElements * sizeof(Record), store.scratch_bytes(), format});
    for (std::size_t position = step; position <= all.size(); position += step) {
      Cuts expected;
      for (const auto& run : records) {
        const auto behind = std::ranges::upper_bound(run, all[position - 1]);
        expected.push_back(static_cast<std::uint64_t>(behind - run.begin()));
      }
      ASSERT_EQ(splitter.cuts_behind_ties_at(position), expected) << "position " << position;
    }
  }
}

TEST(PartSplitter, SplitsRunsThatDoNotOverlap) {
  std::vector<std::vector<std::uint32_t>> keys(4);
  for (std::uint32_t run = 0; run < 4; ++run) {
    for (std::uint32_t i = 0; i < 30; ++i) keys[run].push_back((3 - run) * 1'000'000 + i);
  }
  StoredRuns<std::uint32_t>(keys).expect_cuts(0, 1);
}

// If keys are spread evenly, a cut reads about one block of each run; blocks have different sizes
// here, hence the slack.
template <class Key>
void expect_few_reads() {
  StoredRuns<Key> runs(made<Key>({30'000, 30'000, 20'000, 30'000, 25'000, 30'000},
                                 [](auto& random) { return random(); }),
                       1, 1000);
  const std::uint64_t a_cut = runs.bytes_of_a_block_each();
  const std::uint64_t before = runs.bytes_read();
  runs.expect_cuts(5'000, 7'000);
  const std::uint64_t cuts = runs.total() / 7'000;
  EXPECT_LE(runs.bytes_read() - before, 2 * cuts * a_cut);
}

TEST(PartSplitter, ReadsOneBlockOfEachRunForACut) {
  expect_few_reads<std::uint32_t>();
  expect_few_reads<std::uint64_t>();
}

// Cuts at several positions of runs of random elements, which are in no order: those that are given
// must be cuts of their positions.
void expect_cuts_or_errors(std::uint64_t element_bytes, const std::optional<RecordFormat>& records,
                           std::uint64_t seed, int& errors) {
  constexpr std::uint64_t kElements = 50;
  const io::test::TempFolder folder;
  io::RunStoreOptions options;
  options.block_elements = kBlockElements;
  options.write_buffer_bytes = 64 << 10;
  options.packing = Packing::kOff;
  if (records) options.records.emplace(*records);
  io::RunStore store({folder.path()}, element_bytes, options);
  std::vector<io::Run> runs;
  for (std::uint64_t run = 0; run < 4; ++run) {
    io::RunWriter writer = store.begin_run(kElements);
    writer.put(0, io::test::random_bytes(kElements * element_bytes, 4 * seed + run));
    runs.push_back(writer.finish());
  }
  PartSplitter splitter(
      {runs, element_bytes, kBlockElements * element_bytes, store.scratch_bytes(), records});
  std::vector<std::uint64_t> before(runs.size());
  for (std::uint64_t position = 0; position <= runs.size() * kElements; position += 20) {
    std::vector<std::uint64_t> cuts;
    try {
      cuts = splitter.cuts_at(position);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
      ++errors;
      return;
    }
    EXPECT_EQ(std::accumulate(cuts.begin(), cuts.end(), std::uint64_t{0}), position);
    for (std::size_t run = 0; run < runs.size(); ++run) {
      EXPECT_LE(before[run], cuts[run]);
      EXPECT_LE(cuts[run], kElements);
    }
    before = cuts;
  }
}

TEST(PartSplitter, MakesNoWrongCutsOfRunsThatAreNotInOrder) {
  const RecordFormat records{12, {{0, 12, std::nullopt, false, false}}};
  int errors_of_keys = 0;
  int errors_of_records = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    expect_cuts_or_errors(4, {}, seed, errors_of_keys);
    expect_cuts_or_errors(12, records, seed, errors_of_records);
  }
  EXPECT_GT(errors_of_keys, 0);
  EXPECT_GT(errors_of_records, 0);
}

}  // namespace
}  // namespace gsort
