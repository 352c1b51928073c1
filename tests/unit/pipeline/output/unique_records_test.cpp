// UniqueSink with records.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "pipeline/output/unique_sink.hpp"
#include "support/error_of.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"

namespace gsort {
namespace {

using test::Bytes;

// Records of two bytes: a key, and what tells records of one key apart.
const RecordFormat kFormat{2, {{0, 1, std::nullopt, false, false}}};

Bytes bytes_of_text(const std::string& text) {
  const auto raw = std::as_bytes(std::span(text));
  return {raw.begin(), raw.end()};
}

// The result for `records` in pieces of `piece` records, which must pass the proof.
Bytes unique_of(const std::string& records, std::size_t piece, std::uint64_t distinct) {
  const Bytes input = bytes_of_text(records);
  Proof proof({{}, kFormat}, true, nullptr, OrderKind::kStrict);
  proof.add_input(input);
  test::CollectingSink collected(distinct, 2);
  ProvingSink proving(proof, collected);
  UniqueSink sink({{}, kFormat}, proof, proving);
  sink.put(0, {});
  for (std::size_t at = 0; at < input.size(); at += 2 * piece) {
    const ConstByteSpan rest = ConstByteSpan(input).subspan(at);
    sink.put(at / 2, rest.first(std::min(rest.size(), 2 * piece)));
  }
  proof.finish();
  EXPECT_EQ(collected.complaint(), "");
  return collected.bytes();
}

TEST(UniqueRecords, KeepsTheFirstRecordOfEachKeyHoweverPiecesAreCut) {
  const std::string records = "a1a2b3c4c5c6c7d8e9e0";
  for (std::size_t piece = 1; piece <= 10; ++piece) {
    EXPECT_EQ(unique_of(records, piece, 5), bytes_of_text("a1b3c4d8e9")) << piece;
  }
  EXPECT_EQ(unique_of("a1b2c3", 2, 3), bytes_of_text("a1b2c3"));
  EXPECT_EQ(unique_of("", 2, 0), Bytes());
}

TEST(UniqueRecords, WritesLongPiecesInSeveralSteps) {
  std::string records;
  std::string kept;
  for (int i = 0; i < 200'000; ++i) {
    const char key = static_cast<char>('a' + i / 20'000);
    records += {key, static_cast<char>('0' + i % 10)};
    if (i % 20'000 == 0) kept += {key, '0'};
  }
  EXPECT_EQ(unique_of(records, 200'000, 10), bytes_of_text(kept));
}

// Makes the last record repeat the one before it, after it was counted as distinct.
class DamagingSink final : public PieceSink {
 public:
  explicit DamagingSink(Bytes& records) : records_(records) {}
  void put(std::uint64_t /*position*/, ConstByteSpan /*records*/) override {
    std::copy_n(records_.end() - 4, 2, records_.end() - 2);
  }
  void abandon() noexcept override {}

 private:
  Bytes& records_;
};

TEST(UniqueRecords, ThrowsWhenARecordIsDroppedThatWasToStay) {
  std::string text = "a0a1";  // one repeats: so records are copied, some at a time
  for (int i = 0; i < 200'000; ++i) text += i % 2 == 0 ? "b0" : "c0";
  Bytes records = bytes_of_text(text);
  Proof proof({{}, kFormat}, true, nullptr, OrderKind::kStrict);
  DamagingSink damaging(records);
  UniqueSink sink({{}, kFormat}, proof, damaging);
  const Error error = test::error_of([&] { sink.put(0, records); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
}

TEST(UniqueRecords, FailsAfterItWasAbandoned) {
  Proof proof({{}, kFormat}, true, nullptr, OrderKind::kStrict);
  test::CollectingSink collected(2, 2);
  UniqueSink sink({{}, kFormat}, proof, collected);
  sink.abandon();
  EXPECT_THROW(sink.put(0, bytes_of_text("a1b2")), Error);
}

}  // namespace
}  // namespace gsort
