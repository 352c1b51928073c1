// Keys that a run takes in stored form, and parts that are made of such keys, on every engine:
// engines that pack and unpack, and those that leave it to others, give the same keys.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "support/engines.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"
#include "support/stored_form.hpp"

namespace gsort {
namespace {

using test::Bytes;

// Takes blocks, as a run does, and keys; keeps the keys of both.
class RunLikeSink final : public PieceSink, public BlockSink {
 public:
  RunLikeSink(std::uint64_t count, std::uint64_t key_bytes, std::uint64_t block_elements,
              Packing packing, std::uint64_t first = 0)
      : keys_(count, key_bytes, first),
        key_bytes_(key_bytes),
        block_elements_(block_elements),
        packing_(packing) {}

  void put(std::uint64_t position, ConstByteSpan keys) override {
    fail_if_told();
    keys_.put(position, keys);
  }
  void abandon() noexcept override { abandoned_ = true; }
  [[nodiscard]] BlockSink* block_sink() override { return this; }
  [[nodiscard]] std::uint64_t block_elements() const override { return block_elements_; }
  [[nodiscard]] Packing packing() const override { return packing_; }
  void put_blocks(std::uint64_t position, const StoredBlocks& blocks) override {
    fail_if_told();
    keys_.put(position, test::from_stored(blocks, key_bytes_, block_elements_));
    stored_bytes_ += blocks.payloads.size();
  }

  void fail() { fails_ = true; }
  [[nodiscard]] std::string complaint() const { return keys_.complaint(); }
  [[nodiscard]] const Bytes& bytes() const { return keys_.bytes(); }
  [[nodiscard]] std::uint64_t stored_bytes() const { return stored_bytes_; }
  [[nodiscard]] bool was_abandoned() const { return abandoned_; }

 private:
  void fail_if_told() const {
    if (fails_) throw Error(ErrorKind::kTemporary, "keeping keys", "the test says no");
  }

  test::CollectingSink keys_;
  std::uint64_t key_bytes_;
  std::uint64_t block_elements_;
  Packing packing_;
  std::atomic<std::uint64_t> stored_bytes_{0};
  std::atomic<bool> abandoned_{false};
  bool fails_ = false;
};

class StoredKeysOfEngine : public test::EngineTest {
 protected:
  [[nodiscard]] static bool packs() { return std::string(GetParam()) != "cpu"; }

  // A chunk of `count` keys, on its way to a run. Returns the bytes that came in stored form.
  static std::uint64_t expect_run(const KeyFormat& format, Distribution distribution,
                                  std::uint64_t count, std::uint64_t block_elements,
                                  Packing packing = Packing::kOn) {
    SCOPED_TRACE(testing::Message() << test::words_of(format) << ' ' << name_of(distribution) << ' '
                                    << count << " in blocks of " << block_elements);
    const EngineShape shape = test::shape_for(format, count, 2, 64 << 10);
    const Bytes raw = test::generated(format, distribution, count);
    test::EngineUnderTest engine(GetParam(), shape);
    const auto lanes = engine->make_chunk_lanes();
    test::fill_lane(*lanes[0], shape, raw, {}, 1, KeyForm::kOrdered);
    RunLikeSink sink(count, bytes_of(format.type), block_elements, packing);
    lanes[0]->emit(sink);
    EXPECT_EQ(sink.complaint(), "");
    EXPECT_TRUE(sink.bytes() == test::to_ordered(test::sorted_copy(raw, format), format));
    return sink.stored_bytes();
  }

  // Slices of `counts` keys, taken from the middle of runs in stored form, merged.
  static void expect_merges(const KeyFormat& format, const std::vector<std::uint64_t>& counts,
                            std::uint64_t block_elements, KeyForm form) {
    SCOPED_TRACE(testing::Message()
                 << test::words_of(format) << ' ' << testing::PrintToString(counts)
                 << " in blocks of " << block_elements);
    const std::uint64_t key_bytes = bytes_of(format.type);
    Bytes all;
    Bytes input;
    std::vector<StoredKeys> pieces;
    std::uint64_t position = 0;
    for (std::size_t slice = 0; slice < counts.size(); ++slice) {
      const std::uint64_t skipped = slice * 17 % block_elements;
      const Bytes raw = test::sorted_copy(
          test::generated(format, Distribution::kUniform, skipped + counts[slice], slice + 1),
          format);
      all.insert(all.end(), raw.begin() + static_cast<long>(skipped * key_bytes), raw.end());
      const test::StoredForm stored =
          test::to_stored(test::to_ordered(raw, format), key_bytes, block_elements, Packing::kOn);
      std::uint64_t first = 0;
      std::uint64_t payload = input.size();
      for (const std::uint32_t size : stored.block_bytes) {
        const std::uint64_t count = std::min(block_elements, stored.count - first);
        const std::uint64_t begin = std::max(first, skipped) - first;
        if (begin < count) {
          pieces.push_back({payload, position, static_cast<std::uint32_t>(count),
                            static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(count),
                            size < count * key_bytes ? 1U : 0U});
          position += count - begin;
        }
        payload += round_up(size, kPayloadAlignment);
        first += count;
      }
      input.insert(input.end(), stored.payloads.begin(), stored.payloads.end());
    }
    std::ranges::reverse(pieces);  // the order in which blocks are stored is not that of their keys
    const std::size_t table = input.size();
    input.resize(table + pieces.size() * sizeof(StoredKeys));
    std::memcpy(input.data() + table, pieces.data(), pieces.size() * sizeof(StoredKeys));

    // Stored keys may take more room than a part's keys: here they get it, and as much for the CPU
    // engine's windows.
    const std::uint64_t room =
        2 *
        std::max<std::uint64_t>({position, div_up(input.size(), key_bytes), 512 * counts.size()});
    test::EngineUnderTest engine(GetParam(), test::shape_for(format, 1), 1, room);
    const auto lanes = engine->make_merge_lanes(1, room);
    StoredMerger* const merger = lanes[0]->stored_merger();
    ASSERT_NE(merger, nullptr);
    ASSERT_TRUE(merger->takes(counts.size(), 0, position * key_bytes));
    std::ranges::copy(input, lanes[0]->input().begin());
    const std::span<const StoredKeys> in_input(
        reinterpret_cast<const StoredKeys*>(lanes[0]->input().data() + table), pieces.size());
    RunLikeSink sink(position, key_bytes, block_elements, Packing::kOn, 1'000);
    merger->merge_stored(counts, in_input, 1'000, form, sink);
    EXPECT_EQ(sink.complaint(), "");
    const Bytes sorted = test::sorted_copy(all, format);
    EXPECT_TRUE(sink.bytes() ==
                (form == KeyForm::kRaw ? sorted : test::to_ordered(sorted, format)));
    EXPECT_EQ(sink.stored_bytes() > 0, packs() && form == KeyForm::kOrdered);
  }
};

TEST_P(StoredKeysOfEngine, ArriveWholeInEveryFormat) {
  for (const KeyType type : {KeyType::kU32, KeyType::kI32, KeyType::kF32, KeyType::kU64,
                             KeyType::kI64, KeyType::kF64, KeyType::kU128, KeyType::kI128}) {
    for (const KeyFormat& format : test::formats_of(type)) {
      const std::uint64_t stored = expect_run(format, Distribution::kUniform, 30'001, 1'008);
      EXPECT_EQ(stored > 0, packs());
    }
  }
}

TEST_P(StoredKeysOfEngine, ArriveWholeFromEveryDistribution) {
  for (const Distribution distribution : kAllDistributions) {
    for (const Packing packing : {Packing::kAuto, Packing::kOn}) {
      expect_run({KeyType::kI32, false, false}, distribution, 50'000, 4'080, packing);
      expect_run({KeyType::kF64, true, true}, distribution, 50'000, 2'040, packing);
    }
  }
}

TEST_P(StoredKeysOfEngine, ArriveWholeInBlocksOfAnySize) {
  const KeyFormat format{KeyType::kU32, false, false};
  for (const std::uint64_t block : {1'000U, 16'368U, 262'128U, 3'000'000U}) {
    expect_run(format, Distribution::kUniform, 2'500'000, block);
    expect_run(format, Distribution::kUniform, block, block);
    expect_run(format, Distribution::kUniform, block + 1, block);
  }
}

TEST_P(StoredKeysOfEngine, TakeLessRoomThanPlainOnes) {
  const std::uint64_t count = 1'000'000;
  const std::uint64_t stored =
      expect_run({KeyType::kU32, false, false}, Distribution::kUniform, count, 16'368);
  EXPECT_LT(stored, count * 4 / 2);
  EXPECT_EQ(expect_run({KeyType::kU32, false, false}, Distribution::kUniform, count, 16'368,
                       Packing::kOff) > 0,
            std::string(GetParam()) == "std");
}

TEST_P(StoredKeysOfEngine, MergeFromTheMiddleOfBlocks) {
  for (const KeyForm form : {KeyForm::kRaw, KeyForm::kOrdered}) {
    for (const KeyFormat& format :
         {KeyFormat{KeyType::kU32, false, false}, KeyFormat{KeyType::kI64, true, true},
          KeyFormat{KeyType::kI128, true, true}}) {
      expect_merges(format, {1}, 100, form);
      expect_merges(format, {5'000}, 1'008, form);
      expect_merges(format, {3'000, 0, 1, 70'000, 255, 256, 257}, 1'008, form);
      expect_merges(format, std::vector<std::uint64_t>(40, 3'001), 500, form);
      expect_merges(format, std::vector<std::uint64_t>(100, 1'003), 2'040, form);
    }
  }
}

TEST(StoredKeysOfTheCpuEngine, AreTakenOnlyIfTheyAreFewBytesOfFewSlices) {
  test::EngineUnderTest engine("cpu", test::shape_for({KeyType::kU32, false, false}, 1), 1, 5'120);
  const auto lanes = engine->make_merge_lanes(1, 5'120);
  const StoredMerger* const merger = lanes[0]->stored_merger();
  EXPECT_TRUE(merger->takes(5, 10'240, 20'480));
  EXPECT_FALSE(merger->takes(6, 10'240, 20'480));
  EXPECT_FALSE(merger->takes(5, 10'241, 20'480));
}

// The proof finds the disorder; the merge must end.
TEST(StoredKeysOfTheCpuEngine, LeaveWholeIfTheyAreInNoOrder) {
  const KeyFormat format{KeyType::kU32, false, false};
  const std::uint64_t count = 30'000;
  const std::vector<std::uint64_t> counts(5, count);
  const Bytes keys = test::generated(format, Distribution::kUniform, counts.size() * count);
  std::vector<StoredKeys> pieces;
  for (std::uint32_t i = 0; i < counts.size(); ++i) {
    pieces.push_back({i * count * 4, i * count, count, 0, count, 0});
  }
  const std::uint64_t room = 2 * keys.size() / 4;  // for windows, too
  test::EngineUnderTest engine("cpu", test::shape_for(format, 1), 1, room);
  const auto lanes = engine->make_merge_lanes(1, room);
  std::ranges::copy(keys, lanes[0]->input().begin());
  RunLikeSink sink(counts.size() * count, 4, 1'008, Packing::kOn);
  lanes[0]->stored_merger()->merge_stored(counts, pieces, 0, KeyForm::kRaw, sink);
  EXPECT_EQ(sink.complaint(), "");
  EXPECT_TRUE(test::sorted_copy(sink.bytes(), format) == test::sorted_copy(keys, format));
}

TEST_P(StoredKeysOfEngine, PassTheFailureOfARunOn) {
  const KeyFormat format{KeyType::kU32, false, false};
  const EngineShape shape = test::shape_for(format, 300'000, 2, 64 << 10);
  const Bytes raw = test::generated(format, Distribution::kUniform, 300'000);
  test::EngineUnderTest engine(GetParam(), shape);
  const auto lanes = engine->make_chunk_lanes();
  test::fill_lane(*lanes[0], shape, raw, {}, 1, KeyForm::kOrdered);
  RunLikeSink sink(300'000, 4, 1'008, Packing::kAuto);
  sink.fail();
  EXPECT_THROW(lanes[0]->emit(sink), Error);
  EXPECT_TRUE(sink.was_abandoned());
}

INSTANTIATE_TEST_SUITE_P(Engines, StoredKeysOfEngine, testing::ValuesIn(test::kEngineNames),
                         test::engine_name);

}  // namespace
}  // namespace gsort
