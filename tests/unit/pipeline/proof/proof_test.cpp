#include "pipeline/proof/proof.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "support/error_of.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"

namespace gsort {
namespace {

using test::Bytes;

constexpr KeyFormat kBigI32{KeyType::kI32, true, true};

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

TEST(OrderLedger, RemembersTheFirstDisorderAndTheLastKey) {
  OrderLedger<std::uint64_t> ledger;
  EXPECT_EQ(ledger.last_key(), std::nullopt);
  EXPECT_FALSE(ledger.disorder());
  EXPECT_EQ(ledger.add(20, 30, 7, 9), OrderLedger<std::uint64_t>::kInOrder);
  EXPECT_EQ(ledger.last_key(), 9U);
  EXPECT_EQ(ledger.add(30, 40, 8, 8), 30U);  // 8 behind 9
  EXPECT_EQ(ledger.last_key(), 8U);
  EXPECT_EQ(ledger.add(40, 50, 3, 4), 40U);  // later than the one that is known
  ASSERT_TRUE(ledger.disorder());
  EXPECT_EQ(ledger.disorder()->position, 30U);
  EXPECT_EQ(ledger.add(0, 20, 5, 8), 20U);  // 7 behind 8
  EXPECT_EQ(ledger.disorder()->position, 20U);
  EXPECT_EQ(ledger.disorder()->before, 8U);
  EXPECT_EQ(ledger.disorder()->value, 7U);
  EXPECT_EQ(ledger.equal_borders(), 0U);
}

// For both borders of a stretch that closes a gap.
TEST(OrderLedger, NamesTheLowerOneOfTwoBordersThatAreWrong) {
  OrderLedger<std::uint64_t> ledger;
  EXPECT_EQ(ledger.add(0, 10, 5, 6), OrderLedger<std::uint64_t>::kInOrder);
  EXPECT_EQ(ledger.add(20, 30, 1, 2), OrderLedger<std::uint64_t>::kInOrder);
  EXPECT_EQ(ledger.add(10, 20, 3, 4), 10U);
}

TEST(OrderLedger, TakesTheLeastAndTheGreatestKey) {
  OrderLedger<std::uint64_t> ledger;
  const std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(ledger.add(1, 2, most, most), OrderLedger<std::uint64_t>::kInOrder);
  EXPECT_EQ(ledger.add(0, 1, 0, most), OrderLedger<std::uint64_t>::kInOrder);
  EXPECT_EQ(ledger.add(2, 3, 0, 0), 2U);
}

// The result if `input` is read and `output` is written in two pieces, the second first.
std::optional<ErrorKind> verdict(const Bytes& input, const Bytes& output, bool enabled = true) {
  try {
    Proof proof({kBigI32, {}}, enabled);
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

// finish() throws, and says so.
void expect_refused(const Proof& proof, const std::string& why) {
  const Error error = test::error_of([&] { proof.finish(); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
}

struct Range {
  std::size_t begin;
  std::size_t end;
};

// The bytes that are in neither range; the first range lies before the second.
Bytes without(ConstByteSpan bytes, Range first, Range second) {
  Bytes rest;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const bool left_out =
        (at >= first.begin && at < first.end) || (at >= second.begin && at < second.end);
    if (!left_out) rest.push_back(bytes[at]);
  }
  return rest;
}

class ProofOf : public testing::Test {
 protected:
  Bytes input_ = test::generated(kBigI32, Distribution::kUniform, 10'000);
  Bytes sorted_ = test::sorted_copy(input_, kBigI32);
};

TEST_F(ProofOf, AcceptsWhatIsRight) {
  EXPECT_EQ(verdict(input_, sorted_), std::nullopt);
  EXPECT_EQ(verdict({}, {}), std::nullopt);
  EXPECT_EQ(verdict(sorted_, sorted_), std::nullopt);
}

TEST_F(ProofOf, AcceptsKeysThatRepeat) {
  const Bytes few = test::generated(kBigI32, Distribution::kFewDistinct, 1'000);
  EXPECT_EQ(verdict(few, test::sorted_copy(few, kBigI32)), std::nullopt);
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

TEST_F(ProofOf, SaysWhetherTheCountOrTheElementsAreOthers) {
  const auto refuse = [&](const Bytes& output, const std::string& why) {
    Proof proof({kBigI32, {}}, true);
    proof.add_input(input_);
    proof.add_output(0, output);
    expect_refused(proof, why);
  };
  Bytes changed = sorted_;
  changed[3] ^= std::byte{1};
  refuse(changed, "the fingerprints of input (");
  refuse(Bytes(sorted_.begin(), sorted_.end() - 4), "read 10,000 elements, but wrote 9,999");
}

TEST_F(ProofOf, CountsOnlyWhereItIsNotEnabled) {
  Bytes changed = input_;
  changed[3] ^= std::byte{1};
  EXPECT_EQ(verdict(input_, changed, false), std::nullopt);
  Bytes halves(sorted_.begin() + 20'000, sorted_.end());
  halves.insert(halves.end(), sorted_.begin(), sorted_.begin() + 20'000);
  EXPECT_EQ(verdict(input_, halves, false), std::nullopt);
  EXPECT_EQ(verdict(input_, input_, false), std::nullopt);
  EXPECT_EQ(verdict(input_, Bytes(sorted_.begin(), sorted_.end() - 4), false), ErrorKind::kCorrupt);
}

TEST_F(ProofOf, CountsWhatWasDroppedAsWell) {
  const ConstByteSpan sorted = sorted_;
  Proof right({kBigI32, {}}, true, nullptr, OrderKind::kStrict, 2'000);
  right.add_input(input_);
  right.add_output(0, sorted.first(8'000));
  right.add_beyond(2'000, sorted.subspan(8'000, 400));
  right.add_dropped(sorted.subspan(8'400));
  right.finish();
  EXPECT_EQ(right.output().count, 2'000U);
  Proof lost({kBigI32, {}}, true, nullptr, OrderKind::kStrict);
  lost.add_input(input_);
  lost.add_output(0, sorted.first(8'000));
  lost.add_dropped(sorted.subspan(8'004));
  expect_refused(lost, "but wrote 9,999");
}

TEST_F(ProofOf, LetsNothingBeDroppedWhereRepeatsAreWanted) {
  Proof proof({kBigI32, {}}, true);
  proof.add_input(input_);
  proof.add_output(0, ConstByteSpan(sorted_).first(39'996));
  proof.add_dropped(ConstByteSpan(sorted_).last(4));
  expect_refused(proof, "1 elements were dropped");
}

TEST_F(ProofOf, LetsElementsBeLeftOutOnlyBehindAsManyAsAreWanted) {
  const ConstByteSpan sorted = sorted_;
  for (const std::uint64_t top : {99U, 100U, 101U}) {
    Proof proof({kBigI32, {}}, true, nullptr, OrderKind::kAscending, top);
    proof.add_input(input_);
    proof.add_output(0, sorted.first(400));
    proof.add_beyond(100, sorted.subspan(400));
    if (top == 100) {
      proof.finish();
    } else {
      expect_refused(proof, "100 elements were written, and others were left out");
    }
  }
  Proof all({kBigI32, {}}, true, nullptr, OrderKind::kAscending, 10'001);
  all.add_input(input_);
  all.add_output(0, sorted);
  all.finish();
  Proof nobody_wanted_less({kBigI32, {}}, true);
  nobody_wanted_less.add_input(input_);
  nobody_wanted_less.add_output(0, sorted.first(400));
  nobody_wanted_less.add_beyond(100, sorted.subspan(400));
  expect_refused(nobody_wanted_less, "others were left out");
}

// The ordered number of a raw key of kBigI32: big endian, descending.
std::uint64_t ordered(ConstByteSpan key) {
  return static_cast<std::uint64_t>(ElementOrder({kBigI32, {}}).ordered_key(key.data()));
}

TEST_F(ProofOf, CatchesALeftOutKeyThatComesBeforeTheLastOne) {
  const ConstByteSpan sorted = sorted_;
  const auto finish_with = [&](std::size_t kept_end, std::uint64_t least) {
    Proof proof({kBigI32, {}}, true, nullptr, OrderKind::kAscending, 100);
    proof.add_input(input_);
    proof.add_output(0, sorted.first(396));
    proof.add_output(99, sorted.subspan(kept_end - 4, 4));
    const Bytes rest = without(sorted, {0, 396}, {kept_end - 4, kept_end});
    proof.add_left_out(proof.look(ConstByteSpan(rest).first(20'000)), ~std::uint64_t{0});
    proof.add_left_out(proof.look(ConstByteSpan(rest).subspan(20'000)), least);
    proof.add_left_out({}, UInt128{0});  // of nothing
    proof.finish();
  };
  finish_with(400, ordered(sorted.subspan(400, 4)));
  finish_with(400, ordered(sorted.subspan(396, 4)));  // one that is equal may be left out
  EXPECT_THROW(finish_with(404, ordered(sorted.subspan(396, 4))), Error);
}

TEST_F(ProofOf, WantsWhatAShareLeavesOutInOrder) {
  Proof proof({kBigI32, {}}, true, nullptr, OrderKind::kAscending, 100);
  proof.add_input(input_);
  proof.add_output(0, ConstByteSpan(sorted_).first(400));
  EXPECT_THROW(proof.add_left_out(input_), Error);
  proof.add_left_out(ConstByteSpan(sorted_).subspan(400));
  proof.finish();
}

TEST_F(ProofOf, CatchesWhatIsPutAtAnotherPlace) {
  const ConstByteSpan sorted = sorted_;
  Proof gap({kBigI32, {}}, true);
  gap.add_input(input_);
  gap.add_output(0, sorted.first(4'000));
  gap.add_output(1'001, sorted.subspan(4'000));
  expect_refused(gap, "element 1000 of the output: data is missing here");
  Proof late({kBigI32, {}}, true);
  late.add_input(input_);
  late.add_output(1, sorted);
  expect_refused(late, "element 0 of the output: data is missing here");
  for (const bool enabled : {false, true}) {
    Proof twice({kBigI32, {}}, enabled);
    twice.add_output(0, sorted.first(4'000));
    EXPECT_THROW(twice.add_output(999, sorted.subspan(4'000)), Error);
    EXPECT_THROW(twice.add_beyond(0, sorted.first(4)), Error);
    twice.add_output(1'000, sorted.first(0));
  }
}

// Records of two bytes: a key, and a byte that rises while keys fall.
TEST(ProofOfRecords, ComparesTheirKeysAtTheBordersOfPieces) {
  const RecordFormat format{2, {{0, 1, std::nullopt, false, false}}};
  const auto put = [&](const std::string& first, const std::string& second) {
    Proof proof({{}, format}, true);
    proof.add_input(std::as_bytes(std::span(first)));
    proof.add_input(std::as_bytes(std::span(second)));
    proof.add_output(first.size() / 2, std::as_bytes(std::span(second)));
    proof.add_output(0, std::as_bytes(std::span(first)));
    proof.finish();
  };
  put("a9b8", "c7d6");
  put("a9b8", "b7d6");
  EXPECT_THROW(put("b6c7", "a8d9"), Error);
}

// ---- Arrays that are sorted by themselves ----

class ProofOfArrays : public testing::Test {
 protected:
  static constexpr std::uint64_t kArray = 300;  // elements

  static Bytes sorted_arrays(const Bytes& input, std::uint64_t elements = kArray) {
    return test::sorted_arrays(
        input, elements * 4, [](const Bytes& array) { return test::sorted_copy(array, kBigI32); });
  }

  // Two blocks of arrays, the second first.
  static void prove(const Bytes& input, const Bytes& output, bool enabled = true) {
    Proof proof({kBigI32, {}}, enabled);
    const std::size_t cut = 8 * kArray * 4;
    for (const bool second : {true, false}) {
      const auto part = [&](const Bytes& bytes) {
        return second ? ConstByteSpan(bytes).subspan(cut) : ConstByteSpan(bytes).first(cut);
      };
      const ArraysFingerprint read = proof.add_input_arrays(part(input), kArray);
      proof.add_output_arrays(second ? cut / 4 : 0, part(output), kArray, read);
    }
    EXPECT_EQ(proof.input().count, input.size() / 4);
    EXPECT_EQ(proof.output().count, output.size() / 4);
    proof.finish();
  }

  static void expect_refused_at(std::uint64_t element, const Bytes& input, const Bytes& output) {
    const Error error = test::error_of([&] { prove(input, output); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    const std::string message = error.what();
    EXPECT_NE(message.find("element " + std::to_string(element) + " "), std::string::npos)
        << message;
  }

  Bytes input_ = test::generated(kBigI32, Distribution::kUniform, 10'000);
  Bytes sorted_ = sorted_arrays(input_);
};

TEST_F(ProofOfArrays, AcceptsWhatIsRight) {
  prove(input_, sorted_);
  prove(input_, sorted_, false);
}

TEST_F(ProofOfArrays, CatchesElementsThatChangeTheirArrays) {
  Bytes exchanged = sorted_;
  const auto array = [&](std::size_t number) {
    return exchanged.begin() + static_cast<std::ptrdiff_t>(number * kArray * 4);
  };
  std::swap_ranges(array(1), array(2), array(2));  // whole, so that each is in order
  expect_refused_at(0, input_, exchanged);
  exchanged = sorted_;
  std::swap_ranges(array(9), array(9) + 4, array(12));  // the least of both
  expect_refused_at(2'400, input_, exchanged);
}

TEST_F(ProofOfArrays, CatchesShortOnesThatChangeTheirPlaces) {
  for (const std::uint64_t elements : {1U, 2U, 16U, 17U}) {
    Proof proof({kBigI32, {}}, true);
    const ArraysFingerprint read = proof.add_input_arrays(input_, elements);
    Bytes output = sorted_arrays(input_, elements);
    const auto second = output.begin() + static_cast<std::ptrdiff_t>(4 * elements);
    std::swap_ranges(output.begin(), second, second);
    EXPECT_THROW(proof.add_output_arrays(0, output, elements, read), Error) << elements;
    std::swap_ranges(output.begin(), second, second);
    proof.add_output_arrays(0, output, elements, read);
    proof.finish();
  }
}

TEST_F(ProofOfArrays, CatchesAnElementThatChanges) {
  Bytes changed = sorted_;
  changed[4 * 5'000 + 3] ^= std::byte{1};
  expect_refused_at(2'400, input_, changed);
}

TEST_F(ProofOfArrays, CatchesDisorderInEveryArray) {
  for (const std::size_t element : {1U, 299U, 301U, 2'401U, 2'999U, 9'999U}) {
    Bytes disordered = sorted_;
    const auto at = disordered.begin() + static_cast<std::ptrdiff_t>(element * 4);
    std::swap_ranges(at, at + 4, at - 4);
    expect_refused_at(element, input_, disordered);
  }
}

TEST_F(ProofOfArrays, CatchesOtherCountsEvenWhereItIsNotEnabled) {
  const ConstByteSpan sorted = sorted_;
  Proof proof({kBigI32, {}}, false);
  const ArraysFingerprint read = proof.add_input_arrays(input_, kArray);
  EXPECT_THROW(proof.add_output_arrays(0, sorted.first(39'996), kArray, read), Error);
  proof.add_output_arrays(0, sorted, kArray, read);
  EXPECT_THROW(proof.add_output_arrays(9'999, sorted, kArray, read), Error);
}

TEST_F(ProofOf, AddsUpProofsThatFollowEachOther) {
  const ConstByteSpan input = input_;
  const auto proof_of = [&](ConstByteSpan array) {
    auto proof = std::make_unique<Proof>(ElementFormat{kBigI32, {}}, true);
    proof->add_input(array);
    proof->add_output(0, test::sorted_copy(array, kBigI32));
    proof->finish();
    return proof;
  };
  const auto first = proof_of(input.first(12'000));
  const auto second = proof_of(input.subspan(12'000));
  Proof all({kBigI32, {}}, true);
  all.add_all_of(*second, 3'000);
  EXPECT_THROW(all.finish(), Error);
  EXPECT_THROW(all.add_all_of(*first, 1), Error);
  all.add_all_of(*first, 0);
  all.finish();
  EXPECT_EQ(all.input(), fingerprint_of(input_, 4));
  EXPECT_EQ(all.output(), all.input());
}

TEST_F(ProofOf, TakesWhatAnEarlierProcessHasRead) {
  const ConstByteSpan input = input_;
  Proof proof({kBigI32, {}}, true);
  proof.add_input_of_before(fingerprint_of(input.first(8'000), 4));
  proof.add_input(input.subspan(8'000));
  proof.add_output(0, sorted_);
  proof.finish();
}

TEST_F(ProofOf, CatchesAKeyThatComesTwiceWhereOrderIsStrict) {
  Bytes twice = sorted_;
  std::copy_n(sorted_.begin() + 400, 4, twice.begin() + 404);
  Proof proof({kBigI32, {}}, true, nullptr, OrderKind::kStrict);
  EXPECT_THROW(proof.add_output(0, twice), Error);
  EXPECT_THROW(proof.add_beyond(0, twice), Error);
}

// Also at the borders of stretches of 128 KiB. A piece that is in order is fingerprinted as a
// whole.
TEST(ProofOfLongPieces, NamesTheElementThatIsOutOfOrder) {
  const Bytes input = test::generated(kBigI32, Distribution::kUniform, 100'000);
  const Bytes sorted = test::sorted_copy(input, kBigI32);
  EXPECT_EQ(verdict(input, sorted), std::nullopt);
  for (const std::size_t bad : {20U, 32'767U, 32'768U, 32'769U, 65'535U, 65'536U, 99'999U}) {
    Proof proof({kBigI32, {}}, true);
    Bytes output = sorted;
    std::copy_n(sorted.begin(), 4, output.begin() + static_cast<std::ptrdiff_t>(4 * bad));
    const Error error = test::error_of([&] { proof.add_output(1'000, output); });
    const std::string place = "element " + std::to_string(1'000 + bad) + " ";
    EXPECT_NE(std::string(error.what()).find(place), std::string::npos) << error.what();
  }
}

TEST_F(ProofOf, PassesThroughItsSinkWhatItHasProved) {
  Proof proof({kBigI32, {}}, true);
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
