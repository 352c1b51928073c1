// Tests which records a worker of a selection keeps, and that it reports the others to the proof.
#include "pipeline/select/select_records.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "support/sorted_copy.hpp"
#include "support/stably_sorted.hpp"

namespace gsort {
namespace {

using test::Bytes;

constexpr std::size_t kBytes = 16;
constexpr std::size_t kBlockRecords = 100;

class RecordCandidatesTest : public testing::Test {
 protected:
  // Adds all blocks, reduces, and returns the records that are kept.
  Bytes kept_of(const Bytes& input, const RecordFormat& format, std::uint64_t top,
                std::uint64_t bound) {
    Plan plan;
    plan.job.element.records = format;
    plan.job.top = top;
    SelectPlan sizes;
    sizes.candidates = top + std::max<std::uint64_t>(top, 4'096) + kBlockRecords;
    sizes.candidate_bytes = sizes.candidates * kBytes;
    proof_.emplace(plan.job.element, true);
    RecordSelection selection{plan, sizes, RecordOrder(format), *proof_, bound};
    Bytes memory(2 * sizes.candidate_bytes + sizes.candidates * kRecordEntryBytes);
    RecordCandidates candidates(selection, memory);
    Bytes block(kBlockRecords * kBytes);  // the same memory for all blocks
    for (std::size_t at = 0; at < input.size(); at += block.size()) {
      const auto bytes = std::span(input).subspan(at, std::min(block.size(), input.size() - at));
      std::ranges::copy(bytes, block.begin());
      (void)proof_->add_input(bytes);
      candidates.add(std::span(block).first(bytes.size()), at / kBytes);
    }
    taken_ = candidates.kept().size() / kBytes;
    candidates.reduce();
    bound_ = selection.bound;
    const ConstByteSpan kept = candidates.kept();
    return {kept.begin(), kept.end()};
  }

  std::optional<Proof> proof_;
  std::uint64_t bound_ = 0;
  std::uint64_t taken_ = 0;  // candidates before the last reduction
};

// The bound is too low, as after a fault. Records of one prefix differ behind it.
TEST_F(RecordCandidatesTest, NoteTheLeastRecordThatIsLeftOut) {
  const RecordFormat format{kBytes, {{0, 8, KeyType::kU64}, {8, 4, KeyType::kU32}}};
  const RecordOrder order(format);
  Bytes input = test::generated({KeyType::kU64}, Distribution::kUniform, 2'000);
  for (std::size_t at = 0; at < input.size(); at += kBytes) {  // few prefixes
    std::fill_n(input.begin() + static_cast<std::ptrdiff_t>(at) + 1, 7, std::byte{0});
    input[at] &= std::byte{15};
  }
  constexpr std::uint64_t kBound = 6;
  const Bytes kept = kept_of(input, format, 900, kBound);
  std::optional<std::string> least;
  Bytes wanted;
  for (std::size_t at = 0; at < input.size(); at += kBytes) {
    if (order.prefix_of(&input[at]) <= kBound) {
      wanted.insert(wanted.end(), &input[at], &input[at] + kBytes);
      continue;
    }
    const std::string key = order.normalised_key(&input[at]);
    if (!least || key < *least) least = key;
  }
  EXPECT_TRUE(kept == test::stably_sorted(wanted, format));
  const ProofSummary seen = proof_->summary();
  EXPECT_EQ(seen.least_left_out, least);
  Fingerprint left_out = proof_->look(input);
  left_out -= proof_->look(wanted);
  EXPECT_EQ(seen.left_out, left_out);
  EXPECT_EQ(seen.repeats.count, 0U);
}

// The bound falls to the prefix of the last wanted record.
TEST_F(RecordCandidatesTest, LowerTheBound) {
  const RecordFormat format{kBytes, {{0, 8, KeyType::kU64}}};
  const RecordOrder order(format);
  const Bytes input = test::generated({KeyType::kU64}, Distribution::kUniform, 40'000);
  const Bytes sorted = test::stably_sorted(input, format);
  for (const std::uint64_t top : {1U, 700U, 19'999U, 20'000U}) {
    const Bytes kept = kept_of(input, format, top, ~std::uint64_t{0});
    EXPECT_TRUE(std::ranges::equal(kept, std::span(sorted).first(top * kBytes)));
    EXPECT_EQ(bound_, order.prefix_of(&sorted[(top - 1) * kBytes]));
    const ProofSummary seen = proof_->summary();
    EXPECT_EQ(seen.left_out.count, 20'000 - top);
    EXPECT_EQ(seen.least_left_out.has_value(), top < 20'000);
    if (seen.least_left_out) {
      EXPECT_EQ(*seen.least_left_out, order.normalised_key(&sorted[top * kBytes]));
    }
  }
  (void)kept_of(input, format, 20'001, ~std::uint64_t{0});
  EXPECT_EQ(bound_, ~std::uint64_t{0});
}

// Records of one prefix differ behind it: the last wanted one is the bound.
TEST_F(RecordCandidatesTest, DoNotTakeRecordsBehindTheLastWantedOneOfTheSamePrefix) {
  const RecordFormat format{kBytes, {{0, 8, KeyType::kU64}, {8, 4, KeyType::kU32}}};
  for (const bool are_equal : {false, true}) {
    Bytes input(40'000 * kBytes);
    for (std::uint32_t i = 0; i < 40'000; ++i) {
      const std::uint32_t number = are_equal ? 7 : i;
      std::memcpy(&input[i * kBytes + 8], &number, sizeof(number));
      std::memcpy(&input[i * kBytes + 12], &i, sizeof(i));  // no key
    }
    const Bytes kept = kept_of(input, format, 50, ~std::uint64_t{0});
    EXPECT_TRUE(std::ranges::equal(kept, std::span(input).first(50 * kBytes)));
    EXPECT_EQ(taken_, 50U);
    EXPECT_EQ(proof_->summary().left_out.count, 40'000U - 50);
  }
}

TEST_F(RecordCandidatesTest, TakeRecordsBeforeTheLastWantedOneOfTheSamePrefix) {
  const RecordFormat format{kBytes, {{0, 8, KeyType::kU64}, {8, 4, KeyType::kU32}}};
  Bytes input(40'000 * kBytes);
  for (std::uint32_t i = 0; i < 40'000; ++i) {
    const std::uint32_t number = 40'000 - i;
    std::memcpy(&input[i * kBytes + 8], &number, sizeof(number));
  }
  const Bytes kept = kept_of(input, format, 50, ~std::uint64_t{0});
  const Bytes sorted = test::stably_sorted(input, format);
  EXPECT_TRUE(std::ranges::equal(kept, std::span(sorted).first(50 * kBytes)));
}

// Records of a key of 4 or 8 bytes and a position, which orders equal keys.
TEST(WantedRecords, AreLaterOnesOnlyIfTheirKeyComesBeforeThatOfTheLastWantedOne) {
  for (const KeyType type : {KeyType::kU32, KeyType::kU64}) {
    const auto bytes = static_cast<std::uint32_t>(bytes_of(type));
    const RecordFormat format{kBytes, {{0, bytes, type}, {8, 8, KeyType::kU64}}};
    Plan plan;
    plan.job.element.records = format;
    plan.job.numbered = ElementFormat{{type}, {}};
    plan.job.top = 3;
    SelectPlan sizes;
    sizes.candidates = 100;
    sizes.candidate_bytes = sizes.candidates * kBytes;
    Proof proof(plan.job.element, true);
    RecordSelection selection{plan, sizes, RecordOrder(format), proof};
    Bytes memory(2 * sizes.candidate_bytes + sizes.candidates * kRecordEntryBytes);
    Bytes other_memory(memory.size());
    RecordCandidates candidates(selection, memory);
    const RecordCandidates other(selection, other_memory);
    EXPECT_TRUE(candidates.may_want(~std::uint32_t{0}, 0));

    Bytes block(5 * kBytes);
    for (std::size_t i = 0; i < 5; ++i) {
      block[i * kBytes] = std::byte{std::array<std::uint8_t, 5>{7, 9, 5, 7, 7}[i]};
      block[i * kBytes + 8] = static_cast<std::byte>(i);
    }
    candidates.add(block, 0);
    candidates.reduce();  // 5 7 7 stay
    EXPECT_TRUE(candidates.may_want(6, 5));
    EXPECT_FALSE(candidates.may_want(7, 5));
    EXPECT_FALSE(candidates.may_want(8, 5));
    EXPECT_TRUE(other.may_want(7, 1)) << "it may come before those of the first worker";
    EXPECT_FALSE(other.may_want(8, 1));
    // The other worker has found three keys up to 6.
    selection.bound = std::uint64_t{6} << (64 - 8 * bytes);
    EXPECT_TRUE(candidates.may_want(6, 5));
    EXPECT_FALSE(candidates.may_want(7, 5));
    plan.job.top = 0;
    EXPECT_FALSE(RecordCandidates(selection, other_memory).may_want(0, 0));
  }
}

}  // namespace
}  // namespace gsort
