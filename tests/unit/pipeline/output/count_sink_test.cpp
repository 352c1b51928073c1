#include "pipeline/output/count_sink.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

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
using Keys = std::vector<std::uint32_t>;

constexpr ElementFormat kFormat{{KeyType::kU32, false, false}, {}};
constexpr std::size_t kPairBytes = 12;

ConstByteSpan bytes_of(std::span<const std::uint32_t> keys) {
  return std::as_bytes(keys);
}

// Keys with their counts, as a map has them.
Bytes counted(const Keys& keys, std::uint64_t min_count) {
  std::map<std::uint32_t, std::uint64_t> counts;
  for (const std::uint32_t key : keys) ++counts[key];
  Bytes all;
  for (const auto& [key, count] : counts) {
    if (count < min_count) continue;
    const auto* const key_at = reinterpret_cast<const std::byte*>(&key);
    const auto* const count_at = reinterpret_cast<const std::byte*>(&count);
    all.insert(all.end(), key_at, key_at + sizeof(key));
    all.insert(all.end(), count_at, count_at + sizeof(count));
  }
  return all;
}

// Puts `keys` in pieces of `piece_keys` from several threads, which start in order, and ends.
void put_all(CountSink& sink, const Keys& keys, std::size_t piece_keys) {
  for_each_number(4, div_up(keys.size(), piece_keys), [&](unsigned, std::uint64_t piece) {
    const std::size_t begin = piece * piece_keys;
    sink.put(begin,
             bytes_of(std::span(keys).subspan(begin, std::min(piece_keys, keys.size() - begin))));
  });
  sink.end();
}

// Each number below `numbers` as often as its remainder by `most` says, and once more.
Keys some_keys(std::uint32_t numbers, std::uint32_t most) {
  Keys keys;
  for (std::uint32_t key = 0; key < numbers; ++key) keys.insert(keys.end(), 1 + key % most, key);
  return keys;
}

TEST(CountSink, PutsEachKeyWithItsCountHoweverPiecesCutThem) {
  for (const Keys& keys : {Keys{}, Keys{7}, Keys(100'000, 7), some_keys(100'000, 1),
                           some_keys(30'000, 5), some_keys(7, 9), Keys{0, ~0U, ~0U}}) {
    for (const std::size_t piece_keys : {1U, 2U, 999U, 40'000U, 300'000U}) {
      if (piece_keys == 1 && keys.size() > 1'000) continue;
      for (const std::uint64_t min_count : {1U, 2U, 4U, 200'000U}) {
        SCOPED_TRACE(testing::Message() << keys.size() << " keys, " << piece_keys
                                        << " in a piece, at least " << min_count);
        const Bytes want = counted(keys, min_count);
        Proof proof(kFormat, true, nullptr, OrderKind::kStrict);
        proof.add_input(bytes_of(keys));
        test::CollectingSink collected(want.size() / kPairBytes, kPairBytes);
        CountSink sink(kFormat, false, min_count, proof, collected);
        put_all(sink, keys, piece_keys);
        proof.finish();
        EXPECT_EQ(collected.complaint(), "");
        EXPECT_TRUE(collected.bytes() == want);
        EXPECT_EQ(proof.output().count, want.size() / kPairBytes);
      }
    }
  }
}

// Pairs of the sorted keys: stretches of equal keys, of random lengths, become a key with a count.
struct Pair {
  std::uint32_t key;
  std::uint64_t count;
};

std::vector<Pair> some_pairs(const Keys& keys, std::uint64_t most) {
  std::mt19937_64 random(most);
  std::vector<Pair> pairs;
  std::uint64_t left = 0;
  for (const std::uint32_t key : keys) {
    if (left == 0 || pairs.back().key != key) {
      pairs.push_back({key, 0});
      left = 1 + random() % most;
    }
    ++pairs.back().count;
    --left;
  }
  return pairs;
}

Bytes bytes_of(std::span<const Pair> pairs) {
  Bytes all;
  for (const Pair& pair : pairs) {
    const auto key = std::as_bytes(std::span(&pair.key, 1));
    const auto count = std::as_bytes(std::span(&pair.count, 1));
    all.insert(all.end(), key.begin(), key.end());
    all.insert(all.end(), count.begin(), count.end());
  }
  return all;
}

void add_to_input(Proof& proof, const std::vector<Pair>& pairs) {
  for (const Pair& pair : pairs) {
    proof.add_counted_input({std::as_bytes(std::span(&pair.key, 1)), 4, {&pair.count, 1}});
  }
}

TEST(CountSink, AddsTheCountsOfEqualKeysHoweverPiecesCutThem) {
  for (const Keys& keys : {Keys{}, Keys{7}, Keys(50'000, 7), some_keys(30'000, 5)}) {
    for (const std::uint64_t most : {1U, 3U, 100'000U}) {
      for (const std::size_t piece : {7U, 999U, 300'000U}) {
        for (const std::uint64_t min_count : {1U, 4U}) {
          SCOPED_TRACE(testing::Message() << keys.size() << " keys, counts up to " << most << ", "
                                          << piece << " in a piece, at least " << min_count);
          const Bytes want = counted(keys, min_count);
          const std::vector<Pair> pairs = some_pairs(keys, most);
          Proof proof(kFormat, true, nullptr, OrderKind::kStrict);
          add_to_input(proof, pairs);
          test::CollectingSink collected(want.size() / kPairBytes, kPairBytes);
          CountSink sink(kFormat, true, min_count, proof, collected);
          const std::span all(pairs);
          for (std::size_t at = 0; at < all.size(); at += piece) {
            sink.put(at, bytes_of(all.subspan(at, std::min(piece, all.size() - at))));
          }
          sink.end();
          proof.finish();
          EXPECT_EQ(collected.complaint(), "");
          EXPECT_TRUE(collected.bytes() == want);
          EXPECT_EQ(proof.input().count, keys.size());
        }
      }
    }
  }
}

// If a count changes by 2^63, sums of its products with even numbers do not show it.
TEST(CountSink, FailsWhereAddedCountsDoNotAddUp) {
  for (const bool verify : {true, false}) {
    for (const std::uint64_t wrong : {4ULL, 2ULL, 3ULL + (1ULL << 63)}) {
      Proof proof(kFormat, verify, nullptr, OrderKind::kStrict);
      add_to_input(proof, {{1, 2}, {2, 3}});
      test::CollectingSink collected(2, kPairBytes);
      CountSink sink(kFormat, true, 1, proof, collected);
      sink.put(0, bytes_of(std::vector<Pair>{{1, 2}, {2, wrong}}));
      sink.end();
      EXPECT_EQ(io::test::error_of([&] { proof.finish(); }).kind(), ErrorKind::kCorrupt);
    }
  }
}

TEST(CountSink, FailsWhereASumHasMoreThan64Bits) {
  for (const std::size_t piece : {1U, 3U}) {
    Proof proof(kFormat, true, nullptr, OrderKind::kStrict);
    test::CollectingSink collected(3, kPairBytes);
    CountSink sink(kFormat, true, 1, proof, collected);
    const std::vector<Pair> pairs{{1, 5}, {2, UINT64_MAX}, {2, 1}};
    const Error error = io::test::error_of([&] {
      for (std::size_t at = 0; at < 3; at += piece) {
        sink.put(at, bytes_of(std::span(pairs).subspan(at, piece)));
      }
    });
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(std::string(error.what()).find("of the key 2 add up"), std::string::npos);
  }
}

// Counts are verified against the input even if nothing else is.
TEST(CountSink, FailsWhereCountsDoNotAddUp) {
  for (const bool verify : {true, false}) {
    Proof proof(kFormat, verify, nullptr, OrderKind::kStrict);
    proof.add_input(bytes_of(Keys{1, 1, 2}));
    test::CollectingSink collected(2, kPairBytes);
    CountSink sink(kFormat, false, 1, proof, collected);
    sink.put(0, bytes_of(Keys{1, 1, 2, 2}));
    sink.end();
    EXPECT_EQ(io::test::error_of([&] { proof.finish(); }).kind(), ErrorKind::kCorrupt);
  }
}

// The last key comes out of end(), behind the others.
TEST(CountSink, FailsWhereAKeyIsTakenForTwoThatAreRare) {
  for (const Keys& keys : {Keys{1, 1, 3, 2, 3}, Keys{2, 2, 1}}) {
    Proof proof(kFormat, true, nullptr, OrderKind::kStrict);
    proof.add_input(bytes_of(keys));
    test::CollectingSink collected(1, kPairBytes);
    CountSink sink(kFormat, false, 2, proof, collected);
    EXPECT_EQ(io::test::error_of([&] {
                sink.put(0, bytes_of(keys));
                sink.end();
              }).kind(),
              ErrorKind::kCorrupt);
  }
}

// More keys than are converted at once.
TEST(CountSink, CountsEqualFloatsOfSeveralBits) {
  constexpr ElementFormat kFloats{{KeyType::kF32, false, false}, {}};
  Keys keys;
  for (std::uint32_t i = 0; i < 10'000; ++i) keys.push_back(i % 2 << 31);  // 0 and -0
  keys.insert(keys.end(), 3, 0x3f800000);
  for (std::uint32_t i = 0; i < 9'000; ++i) keys.push_back(0x7f800001 + i);  // NaN
  for (const std::uint64_t min_count : {1U, 4U}) {
    Proof proof(kFloats, true, nullptr, OrderKind::kStrict);
    proof.add_input(bytes_of(keys));
    test::CollectingSink collected(min_count == 1 ? 3 : 2, kPairBytes);
    CountSink sink(kFloats, false, min_count, proof, collected);
    put_all(sink, keys, 14'000);
    proof.finish();
    EXPECT_EQ(collected.complaint(), "");
    std::vector<std::uint64_t> counts;
    for (std::size_t at = 4; at < collected.bytes().size(); at += kPairBytes) {
      std::memcpy(&counts.emplace_back(), collected.bytes().data() + at, kCountBytes);
    }
    using Counts = std::vector<std::uint64_t>;
    EXPECT_EQ(counts, min_count == 1 ? (Counts{10'000, 3, 9'000}) : (Counts{10'000, 9'000}));
  }
}

// Makes a key equal to the one before it, behind the keys that are put first.
class ChangingSink final : public PieceSink {
 public:
  explicit ChangingSink(Keys& keys) : keys_(keys) {}
  void put(std::uint64_t /*position*/, ConstByteSpan /*pairs*/) override {
    keys_[keys_.size() - 3] = keys_[keys_.size() - 4];
  }

 private:
  Keys& keys_;
};

TEST(CountSink, FailsWhereKeysChangeBetweenTheTwoLooks) {
  Keys keys(10'000);
  std::ranges::generate(keys, [key = 0U]() mutable { return key++; });
  Proof proof(kFormat, true, nullptr, OrderKind::kStrict);
  ChangingSink changing(keys);
  CountSink sink(kFormat, false, 1, proof, changing);
  const Error error = io::test::error_of([&] { sink.put(0, bytes_of(keys)); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
}

TEST(CountSink, EndsCallsThatWaitWhenTheEngineGivesUp) {
  Proof proof(kFormat, true, nullptr, OrderKind::kStrict);
  test::StreamSink next(kPairBytes);
  CountSink sink(kFormat, false, 1, proof, next);
  std::jthread waiting([&] { EXPECT_THROW(sink.put(2, bytes_of(Keys{1, 2})), Error); });
  sink.abandon();
  waiting.join();
  EXPECT_TRUE(next.was_abandoned());
}

}  // namespace
}  // namespace gsort
