// Chunks that are in order, nearly so, or only look so, on every engine: what comes out is
// std::sort of what went in, for every width and order, however the blocks came.
#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/engines.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"

namespace gsort {
namespace {

using test::Bytes;
using Keys = std::vector<std::uint64_t>;

constexpr std::uint64_t kBlockBytes = 4096;
constexpr std::uint64_t kCount = 150'001;

Keys random_keys(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Keys keys(count);
  for (std::uint64_t& key : keys) key = random();
  return keys;
}

// Most shapes begin with such keys, so they are sorted once.
Keys ascending(std::size_t count = kCount) {
  static std::map<std::size_t, Keys> sorted;
  const auto [place, is_new] = sorted.try_emplace(count);
  if (is_new) {
    place->second = random_keys(count, 5);
    std::ranges::sort(place->second);
  }
  return place->second;
}

Keys descending(std::size_t count = kCount) {
  Keys keys = ascending(count);
  std::ranges::reverse(keys);
  return keys;
}

Keys with_key(Keys keys, std::size_t at, std::uint64_t key) {
  keys[at] = key;
  return keys;
}

// Each stretch of `period` keys is sorted by itself.
Keys sawtooth(std::size_t period) {
  Keys keys = random_keys(kCount, period);
  for (std::size_t at = 0; at < keys.size(); at += period) {
    std::ranges::sort(std::span(keys).subspan(at, std::min(period, keys.size() - at)));
  }
  return keys;
}

// Blocks that are sorted and do not overlap, in no order.
Keys shuffled_blocks(std::size_t block_keys) {
  const Keys sorted = ascending(kCount / block_keys * block_keys);
  std::vector<std::size_t> begins;
  for (std::size_t at = 0; at < sorted.size(); at += block_keys) begins.push_back(at);
  std::ranges::shuffle(begins, std::mt19937_64(3));
  Keys keys;
  for (const std::size_t begin : begins) {
    const auto from = sorted.begin() + static_cast<std::ptrdiff_t>(begin);
    keys.insert(keys.end(), from, from + static_cast<std::ptrdiff_t>(block_keys));
  }
  return keys;
}

Keys joined(Keys front, const Keys& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

// Few places of the sorted sequence changed: `share` in a million of all keys.
Keys disturbed(std::uint64_t share) {
  Keys keys = ascending();
  std::mt19937_64 random(share);
  for (std::uint64_t& key : keys) {
    if (random() % 1'000'000 < share) key = random();
  }
  return keys;
}

Keys few_values() {
  Keys keys = random_keys(kCount, 9);
  for (std::uint64_t& key : keys) key = key % 7 << 60;
  std::ranges::sort(keys);
  return keys;
}

// Sorted keys in a narrow range, with a few that lie far above them.
Keys crowded_with_outliers() {
  Keys keys = ascending();
  for (std::uint64_t& key : keys) key = key >> 40 << 32;
  for (std::size_t at = 700; at < keys.size(); at += 9'000) keys[at] = ~std::uint64_t{0} - at;
  return keys;
}

// Sorted keys, and among them many of nearly one value, that come in no order, with the extremes.
Keys with_a_crowd() {
  constexpr std::size_t kCrowd = 9'216;
  Keys keys = joined(ascending(70'000), random_keys(kCrowd, 6));
  const std::span<Keys::value_type> crowd = std::span(keys).last(kCrowd);
  for (std::uint64_t& key : crowd) key = (std::uint64_t{1} << 63) + key % (std::uint64_t{1} << 40);
  crowd.front() = ~std::uint64_t{0};
  crowd.back() = 0;
  return keys;
}

std::map<std::string, Keys> shapes(std::uint64_t block_keys) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  const std::size_t edge = 40 * block_keys;  // a block's first key
  return {
      {"ascending", ascending()},
      {"descending", descending()},
      {"a low key in the middle", with_key(ascending(), kCount / 2, 0)},
      {"a high key in the middle", with_key(ascending(), kCount / 2, kMost)},
      {"a low key at the end", with_key(ascending(), kCount - 1, 0)},
      {"a high key at the front", with_key(ascending(), 0, kMost)},
      {"a high key that ends a block", with_key(ascending(), edge - 1, kMost)},
      {"a low key that begins a block", with_key(ascending(), edge, 0)},
      {"descending, a high key in the middle", with_key(descending(), kCount / 2, kMost)},
      {"a tail in no order", joined(ascending(140'000), random_keys(10'001, 8))},
      {"a head in no order", joined(random_keys(10'001, 8), ascending(140'000))},
      {"a tail that descends", joined(ascending(100'000), descending(50'001))},
      {"two sorted halves", joined(ascending(75'000), ascending(75'001))},
      {"a sawtooth of 2", sawtooth(2)},
      {"a sawtooth of 4096", sawtooth(4'096)},
      {"a sawtooth of the block", sawtooth(block_keys)},
      {"a sawtooth of 16 blocks", sawtooth(16 * block_keys)},
      {"sorted blocks in no order", shuffled_blocks(block_keys)},
      {"all equal", Keys(kCount, 42)},
      {"few values", few_values()},
      {"one key in a thousand is random", disturbed(1'000)},
      {"one key in fifty thousand is random", disturbed(20)},
      {"crowded with outliers", crowded_with_outliers()},
      {"with a crowd", with_a_crowd()},
  };
}

// The keys' high bits, as raw keys whose wanted order is that of the numbers.
Bytes raw_keys(const Keys& keys, const KeyFormat& format) {
  return with_key_of_width(bytes_of(format.type), [&](auto width) {
    using Key = decltype(width);
    std::vector<Key> narrow(keys.size());
    std::ranges::transform(keys, narrow.begin(), [](std::uint64_t key) {
      if constexpr (sizeof(Key) > sizeof(key)) {
        return Key{key} << 64;
      } else {
        return static_cast<Key>(key >> (64 - 8 * sizeof(Key)));
      }
    });
    const auto bytes = std::as_bytes(std::span(narrow));
    return test::to_raw({bytes.begin(), bytes.end()}, format);
  });
}

class OrderedChunksOfEngine : public test::EngineTest {
 protected:
  static void expect_sorted(ChunkLane& lane, const EngineShape& shape, const Bytes& raw,
                            const Bytes& sample, std::uint64_t seed = 1,
                            KeyForm form = KeyForm::kRaw) {
    Bytes wanted = test::sorted_copy(raw, shape.format);
    if (form == KeyForm::kOrdered) wanted = test::to_ordered(wanted, shape.format);
    const std::uint64_t key_bytes = bytes_of(shape.format.type);
    test::fill_lane(lane, shape, raw, sample, seed, form);
    test::CollectingSink sink(raw.size() / key_bytes, key_bytes);
    lane.emit(sink);
    EXPECT_EQ(sink.complaint(), "");
    EXPECT_TRUE(sink.bytes() == wanted);
  }
};

TEST_P(OrderedChunksOfEngine, AreSortedInEveryShapeAndOrder) {
  for (const KeyType type : {KeyType::kU32, KeyType::kI32, KeyType::kF32, KeyType::kU64,
                             KeyType::kI64, KeyType::kF64, KeyType::kTime64}) {
    const auto all = shapes(kBlockBytes / bytes_of(type));
    std::size_t turn = 0;
    for (const auto& [name, keys] : all) {
      const KeyFormat format = test::formats_of(type)[turn % 4];
      const unsigned threads = 1U << turn % 3;
      SCOPED_TRACE(name + ' ' + test::words_of(format) + ' ' + std::to_string(threads));
      const EngineShape shape = test::shape_for(format, keys.size(), threads, kBlockBytes);
      test::EngineUnderTest engine(GetParam(), shape);
      const Bytes raw = raw_keys(keys, format);
      expect_sorted(*engine->make_chunk_lanes()[0], shape, raw,
                    test::even_sample(raw, bytes_of(type)), ++turn);
    }
  }
}

// Samples as for pipes, whose first block is the sample, and useless samples.
TEST_P(OrderedChunksOfEngine, AreSortedWhateverTheSampleSaid) {
  for (const KeyType type : {KeyType::kU32, KeyType::kI64}) {
    const KeyFormat format{type, false, false};
    for (const auto& [name, keys] : shapes(kBlockBytes / bytes_of(type))) {
      const Bytes raw = raw_keys(keys, format);
      const EngineShape shape = test::shape_for(format, keys.size(), 2, kBlockBytes);
      test::EngineUnderTest engine(GetParam(), shape);
      const auto lanes = engine->make_chunk_lanes();
      for (const Bytes& sample : {Bytes(), Bytes(raw.begin(), raw.begin() + kBlockBytes),
                                  Bytes(raw.end() - 8, raw.end())}) {
        SCOPED_TRACE(name + ' ' + test::words_of(format) + ", a sample of " +
                     std::to_string(sample.size()));
        expect_sorted(*lanes[0], shape, raw, sample, sample.size());
      }
    }
  }
}

TEST_P(OrderedChunksOfEngine, FollowOthersOnOneLaneInBothForms) {
  const KeyFormat format{KeyType::kI32, false, true};
  const EngineShape shape = test::shape_for(format, kCount, 2, kBlockBytes);
  test::EngineUnderTest engine(GetParam(), shape);
  const auto lanes = engine->make_chunk_lanes();
  std::uint64_t seed = 0;
  for (const Keys& keys : {ascending(), random_keys(kCount, 1), descending(), Keys(), disturbed(20),
                           ascending(kCount - 1)}) {
    const Bytes raw = raw_keys(keys, format);
    const KeyForm form = ++seed % 2 == 0 ? KeyForm::kRaw : KeyForm::kOrdered;
    expect_sorted(*lanes[0], shape, raw, test::even_sample(raw, 4), seed, form);
  }
}

TEST_P(OrderedChunksOfEngine, CanBeWrittenToAStream) {
  const KeyFormat format{KeyType::kU64, false, false};
  const EngineShape shape = test::shape_for(format, kCount, 4, kBlockBytes);
  for (const Keys& keys : {ascending(), joined(ascending(140'000), random_keys(10'001, 8))}) {
    test::EngineUnderTest engine(GetParam(), shape);
    const auto lanes = engine->make_chunk_lanes();
    const Bytes raw = raw_keys(keys, format);
    test::fill_lane(*lanes[0], shape, raw, test::even_sample(raw, 8));
    test::StreamSink sink(8);
    lanes[0]->emit(sink);
    EXPECT_TRUE(sink.bytes() == test::sorted_copy(raw, format));
  }
}

// Blocks that are not in one piece with whole pages are dealt out; so is the end of an input.
TEST_P(OrderedChunksOfEngine, AreSortedInBlocksOfAnySize) {
  for (const std::uint64_t block_bytes : {64U, 1'000U, 4'104U, 12'288U, 100'000U}) {
    const KeyFormat format{KeyType::kU64, false, false};
    const EngineShape shape = test::shape_for(format, kCount, 2, block_bytes);
    test::EngineUnderTest engine(GetParam(), shape);
    const Bytes raw = raw_keys(descending(), format);
    expect_sorted(*engine->make_chunk_lanes()[0], shape, raw, test::even_sample(raw, 8));
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, OrderedChunksOfEngine, testing::ValuesIn(test::kEngineNames),
                         test::engine_name);

// How many pieces were put by their size.
class PieceSizes final : public PieceSink {
 public:
  void put(std::uint64_t /*position*/, ConstByteSpan keys) override {
    const std::scoped_lock lock(mutex_);
    ++pieces[keys.size()];
  }
  std::map<std::size_t, std::size_t> pieces;

 private:
  std::mutex mutex_;
};

std::size_t whole_blocks_put(const Keys& keys, const KeyFormat& format) {
  const EngineShape shape = test::shape_for(format, keys.size(), 2, kBlockBytes);
  test::EngineUnderTest engine("cpu", shape);
  const auto lanes = engine->make_chunk_lanes();
  const Bytes raw = raw_keys(keys, format);
  test::fill_lane(*lanes[0], shape, raw, test::even_sample(raw, bytes_of(format.type)));
  PieceSizes sink;
  lanes[0]->emit(sink);
  return sink.pieces[kBlockBytes];
}

TEST(OrderedChunks, LeaveTheCpuEngineBlockByBlockUnsorted) {
  constexpr std::size_t kBlocks = kCount / (kBlockBytes / 4);
  for (const bool is_descending : {false, true}) {
    const KeyFormat format{KeyType::kI32, false, is_descending};
    EXPECT_EQ(whole_blocks_put(ascending(), format), kBlocks);
    EXPECT_EQ(whole_blocks_put(descending(), format), kBlocks);
    EXPECT_EQ(whole_blocks_put(with_key(ascending(), kCount / 2, 0), format), kBlocks - 1);
    EXPECT_EQ(whole_blocks_put(Keys(kCount, 42), format), kBlocks);
    EXPECT_EQ(whole_blocks_put(random_keys(kCount, 4), format), 0U);
    EXPECT_EQ(whole_blocks_put(sawtooth(kBlockBytes / 4), format), 0U);
  }
}

}  // namespace
}  // namespace gsort
