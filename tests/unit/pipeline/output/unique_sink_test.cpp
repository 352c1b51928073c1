#include "pipeline/output/unique_sink.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "pipeline/output/limit_sink.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::raw_of;

constexpr KeyFormat kFormat{KeyType::kU32, false, false};

std::vector<std::uint32_t> sorted_keys(std::size_t count, std::uint32_t each) {
  std::vector<std::uint32_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<std::uint32_t>(i) / each;
  return keys;
}

// Puts `keys` in pieces of `piece_keys` from several threads, which start in order.
void put_in_pieces(PieceSink& sink, const Bytes& keys, std::size_t piece_keys) {
  for_each_number(4, div_up(keys.size() / 4, piece_keys), [&](unsigned, std::uint64_t piece) {
    const std::size_t begin = piece * piece_keys;
    const ConstByteSpan rest = ConstByteSpan(keys).subspan(begin * 4);
    sink.put(begin, rest.first(std::min(rest.size(), piece_keys * 4)));
  });
}

// The result for `keys`, which must pass the proof.
Bytes unique_of(const std::vector<std::uint32_t>& keys, std::size_t piece_keys,
                std::uint64_t distinct) {
  const Bytes input = raw_of(keys);
  Proof proof({kFormat, {}}, true, nullptr, OrderKind::kStrict);
  proof.add_input(input);
  test::CollectingSink collected(distinct, 4);
  ProvingSink proving(proof, collected);
  UniqueSink sink({kFormat, {}}, proof, proving);
  put_in_pieces(sink, input, piece_keys);
  proof.finish();
  EXPECT_EQ(collected.complaint(), "");
  EXPECT_EQ(proof.output().count, distinct);
  return collected.bytes();
}

TEST(UniqueSink, PassesOnOneOfEachHoweverPiecesCutThem) {
  for (const std::uint32_t each : {1U, 2U, 3U, 100U, 50'000U, 400'000U}) {
    for (const std::size_t piece_keys : {999U, 40'000U, 300'000U}) {
      SCOPED_TRACE(testing::Message() << each << " of each in pieces of " << piece_keys);
      const auto keys = sorted_keys(300'000, each);
      const std::uint64_t distinct = keys.back() + 1;
      EXPECT_TRUE(unique_of(keys, piece_keys, distinct) == raw_of(sorted_keys(distinct, 1)));
    }
  }
}

TEST(UniqueSink, TakesPiecesOfOneKeyAndKeysWithAllBits) {
  EXPECT_EQ(unique_of({0, 0, 1, ~0U, ~0U, ~0U}, 1, 3), raw_of<std::uint32_t>({0, 1, ~0U}));
  EXPECT_EQ(unique_of({0}, 1, 1), raw_of<std::uint32_t>({0}));
}

TEST(UniqueSink, EndsCallsThatWaitWhenTheEngineGivesUp) {
  Proof proof({kFormat, {}}, true, nullptr, OrderKind::kStrict);
  test::StreamSink next(4);
  UniqueSink sink({kFormat, {}}, proof, next);
  const Bytes keys = raw_of<std::uint32_t>({1, 2});
  std::jthread waiting([&] { EXPECT_THROW(sink.put(2, keys), Error); });
  sink.abandon();
  waiting.join();
  EXPECT_TRUE(next.was_abandoned());
}

// Makes the last key repeat the one before it, after it was counted as distinct.
class DamagingSink final : public PieceSink {
 public:
  explicit DamagingSink(Bytes& keys) : keys_(keys) {}
  void put(std::uint64_t /*position*/, ConstByteSpan /*keys*/) override {
    std::copy_n(keys_.end() - 8, 4, keys_.end() - 4);
  }
  void abandon() noexcept override {}

 private:
  Bytes& keys_;
};

TEST(UniqueSink, ThrowsWhenAKeyIsDroppedThatWasToStay) {
  std::vector<std::uint32_t> distinct = sorted_keys(100'000, 1);
  distinct[1] = 0;  // one repeats: so keys are copied, some at a time
  Bytes keys = raw_of(distinct);
  Proof proof({kFormat, {}}, true, nullptr, OrderKind::kStrict);
  DamagingSink damaging(keys);
  UniqueSink sink({kFormat, {}}, proof, damaging);
  EXPECT_EQ(io::test::error_of([&] { sink.put(0, keys); }).kind(), ErrorKind::kCorrupt);
}

// Its turn would never come.
TEST(UniqueSink, RefusesAPieceThatHasBeenThere) {
  Proof proof({kFormat, {}}, true, nullptr, OrderKind::kStrict);
  test::CollectingSink next(3, 4);
  UniqueSink sink({kFormat, {}}, proof, next);
  sink.put(0, raw_of<std::uint32_t>({1, 2, 3}));
  for (const std::uint64_t position : {0U, 2U}) {
    const Error error = io::test::error_of([&] { sink.put(position, raw_of<std::uint32_t>({3})); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
  }
}

TEST(LimitSink, PassesOnTheFirstAndProvesTheRest) {
  const Bytes input = raw_of(sorted_keys(1'000, 1));
  for (const std::uint64_t limit : {0U, 1U, 99U, 100U, 101U, 999U, 1'000U, 5'000U}) {
    const std::uint64_t stay = std::min<std::uint64_t>(limit, 1'000);
    Proof proof({kFormat, {}}, true, nullptr, OrderKind::kAscending, limit);
    proof.add_input(input);
    test::CollectingSink collected(stay, 4);
    ProvingSink proving(proof, collected);
    LimitSink sink(limit, 4, proof, proving);
    put_in_pieces(sink, input, 100);
    proof.finish();
    EXPECT_EQ(collected.complaint(), "") << limit;
    EXPECT_EQ(proof.output().count, stay);
  }
}

TEST(LimitSink, FindsAKeyBehindTheLimitThatBelongsBeforeIt) {
  Proof proof({kFormat, {}}, true);
  test::CollectingSink collected(2, 4);
  ProvingSink proving(proof, collected);
  LimitSink sink(2, 4, proof, proving);
  sink.put(0, raw_of<std::uint32_t>({5, 7}));
  EXPECT_THROW(sink.put(2, raw_of<std::uint32_t>({6, 8})), Error);
}

}  // namespace
}  // namespace gsort
