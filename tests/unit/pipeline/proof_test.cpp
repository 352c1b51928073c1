#include "pipeline/proof.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"

namespace gsort {
namespace {

using test::Bytes;

constexpr KeyFormat kFormat{KeyType::kI32, true, true};

TEST(OrderLedger, FindsNothingInOrderedStretchesHoweverTheyCome) {
  std::vector<std::uint64_t> order(20);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::ranges::shuffle(order, random);
    OrderLedger<std::uint64_t> ledger;
    for (const std::uint64_t i : order) {
      ASSERT_EQ(ledger.add(10 * i, 10 * i + 10, 2 * i, 2 * i + 1),
                OrderLedger<std::uint64_t>::kInOrder);
    }
    EXPECT_EQ(ledger.equal_borders(), 0U);
  }
}

TEST(OrderLedger, FindsTheBorderThatIsOutOfOrderHoweverTheStretchesCome) {
  std::vector<std::uint64_t> order(8);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937_64 random(2);
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t bad = 1 + random() % 7;  // this stretch begins below the one before
    std::ranges::shuffle(order, random);
    OrderLedger<std::uint64_t> ledger;
    std::vector<std::uint64_t> found;
    for (const std::uint64_t i : order) {
      const std::uint64_t first = i == bad ? 10 * i - 10 : 10 * i;
      const std::uint64_t wrong = ledger.add(5 * i, 5 * i + 5, first, 10 * i + 9);
      if (wrong != OrderLedger<std::uint64_t>::kInOrder) {
        found.push_back(wrong);
        break;
      }
    }
    ASSERT_EQ(found, std::vector<std::uint64_t>{5 * bad});
  }
}

TEST(OrderLedger, CountsStretchesThatMeetWithEqualKeys) {
  OrderLedger<std::uint64_t> ledger;
  EXPECT_EQ(ledger.add(10, 20, 5, 5), OrderLedger<std::uint64_t>::kInOrder);
  EXPECT_EQ(ledger.add(0, 10, 1, 5), OrderLedger<std::uint64_t>::kInOrder);
  EXPECT_EQ(ledger.add(20, 30, 5, 6), OrderLedger<std::uint64_t>::kInOrder);
  EXPECT_EQ(ledger.equal_borders(), 2U);
}

TEST(OrderLedger, FindsStretchesThatMeetWithEqualKeysWhereOrderIsStrict) {
  OrderLedger<std::uint64_t> ledger(OrderKind::kStrict);
  EXPECT_EQ(ledger.add(10, 20, 5, 6), OrderLedger<std::uint64_t>::kInOrder);
  EXPECT_EQ(ledger.add(0, 10, 1, 5), 10U);
  EXPECT_EQ(ledger.add(20, 30, 7, 8), OrderLedger<std::uint64_t>::kInOrder);
}

TEST(OrderLedger, TakesTheLeastAndTheGreatestKey) {
  OrderLedger<std::uint64_t> ledger;
  const std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(ledger.add(1, 2, most, most), OrderLedger<std::uint64_t>::kInOrder);
  EXPECT_EQ(ledger.add(0, 1, 0, most), OrderLedger<std::uint64_t>::kInOrder);
  EXPECT_EQ(ledger.add(2, 3, 0, 0), 2U);
}

// What happens when `input` is read and `output` is written in two pieces, the second first.
std::optional<ErrorKind> verdict(const Bytes& input, const Bytes& output, bool enabled = true) {
  try {
    Proof proof({kFormat, {}}, enabled);
    const std::size_t cut = round_down(input.size() / 3, 4);
    proof.add_input(ConstByteSpan(input).subspan(cut));
    proof.add_input(ConstByteSpan(input).first(cut));
    const std::size_t half = round_down(output.size() / 2, 4);
    proof.add_output(half / 4, ConstByteSpan(output).subspan(half));
    proof.add_output(0, ConstByteSpan(output).first(half));
    proof.finish();
    return std::nullopt;
  } catch (const Error& error) {
    return error.kind();
  }
}

class ProofOf : public testing::Test {
 protected:
  Bytes input_ = test::generated(kFormat, Distribution::kUniform, 10'000);
  Bytes sorted_ = test::sorted_copy(input_, kFormat);
};

TEST_F(ProofOf, AcceptsWhatIsRight) {
  EXPECT_EQ(verdict(input_, sorted_), std::nullopt);
  EXPECT_EQ(verdict({}, {}), std::nullopt);
  EXPECT_EQ(verdict(sorted_, sorted_), std::nullopt);
}

TEST_F(ProofOf, CatchesALostAndADoubledKey) {
  EXPECT_EQ(verdict(input_, Bytes(sorted_.begin(), sorted_.end() - 4)), ErrorKind::kCorrupt);
  Bytes doubled = sorted_;
  std::copy_n(sorted_.begin() + 400, 4, doubled.begin() + 404);
  EXPECT_EQ(verdict(input_, doubled), ErrorKind::kCorrupt);
}

TEST_F(ProofOf, CatchesAChangedKeyThatLeavesTheOrder) {
  for (const std::ptrdiff_t at : {std::ptrdiff_t{3}, std::ptrdiff_t{20'003}}) {
    Bytes changed = sorted_;
    changed[static_cast<std::size_t>(at)] ^= std::byte{1};  // the least bit: big endian
    EXPECT_EQ(verdict(input_, changed), ErrorKind::kCorrupt);
  }
}

TEST_F(ProofOf, CatchesDisorderWithinAPieceAndBetweenPieces) {
  Bytes within = sorted_;
  std::swap_ranges(within.begin(), within.begin() + 4, within.begin() + 4'000);
  EXPECT_EQ(verdict(input_, within), ErrorKind::kCorrupt);
  Bytes between(sorted_.begin() + 20'000, sorted_.end());
  between.insert(between.end(), sorted_.begin(), sorted_.begin() + 20'000);
  EXPECT_EQ(verdict(input_, between), ErrorKind::kCorrupt);
}

TEST_F(ProofOf, CountsOnlyWhereItIsNotEnabled) {
  EXPECT_EQ(verdict(input_, input_, false), std::nullopt);
  EXPECT_EQ(verdict(input_, Bytes(sorted_.begin(), sorted_.end() - 4), false), ErrorKind::kCorrupt);
}

TEST_F(ProofOf, CountsWhatWasDroppedAsWell) {
  const ConstByteSpan sorted = sorted_;
  Proof right({kFormat, {}}, true);
  right.add_input(input_);
  right.add_output(0, sorted.first(8'000));
  right.add_beyond(2'000, sorted.subspan(8'000, 400));
  right.add_dropped(sorted.subspan(8'400));
  right.finish();
  EXPECT_EQ(right.output().count, 2'000U);
  Proof lost({kFormat, {}}, true);
  lost.add_input(input_);
  lost.add_output(0, sorted.first(8'000));
  lost.add_dropped(sorted.subspan(8'004));
  EXPECT_THROW(lost.finish(), Error);
}

TEST_F(ProofOf, CatchesAKeyThatComesTwiceWhereOrderIsStrict) {
  Bytes twice = sorted_;
  std::copy_n(sorted_.begin() + 400, 4, twice.begin() + 404);
  Proof proof({kFormat, {}}, true, nullptr, OrderKind::kStrict);
  EXPECT_THROW(proof.add_output(0, twice), Error);
  EXPECT_THROW(proof.add_beyond(0, twice), Error);
}

TEST_F(ProofOf, NamesTheElementThatIsOutOfOrder) {
  Proof proof({kFormat, {}}, true);
  Bytes output = sorted_;
  std::copy_n(sorted_.begin(), 4, output.begin() + 80);  // element 20 comes before element 19
  try {
    proof.add_output(1'000, output);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("element 1020 "), std::string::npos) << error.what();
  }
}

TEST_F(ProofOf, PassesThroughItsSinkWhatItHasProved) {
  Proof proof({kFormat, {}}, true);
  test::CollectingSink collected(10'000, 4);
  ProvingSink sink(proof, collected);
  sink.put(5'000, ConstByteSpan(sorted_).subspan(20'000));
  sink.put(0, ConstByteSpan(sorted_).first(20'000));
  EXPECT_EQ(collected.complaint(), "");
  EXPECT_EQ(collected.bytes(), sorted_);
  EXPECT_THROW(sink.put(10'000, ConstByteSpan(sorted_).first(20)), Error);
}

}  // namespace
}  // namespace gsort
