#include "plan/decoding.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "support/invented.hpp"

namespace gsort {
namespace {

using test::invented_machine;
using test::options_for;

struct Question {
  Options options = options_for(KeyType::kU32, "128M");
  Machine machine = invented_machine(std::nullopt, 4, kTiB);

  Question(bool merge, const std::vector<DecoderNeed>& needs) {
    options.merge = merge;
    options.inputs.assign(needs.size(), "in");
    for (const DecoderNeed& need : needs) machine.compressed.push_back({"in.xz", need});
  }
  [[nodiscard]] DecodingPlan plan(std::uint64_t host_bytes) const {
    Job job;
    job.merged_inputs = options.merge ? options.inputs.size() : 0;
    job.resources.buffer_size = test::mebibytes(host_bytes);
    return plan_decoding(job, machine);
  }
  [[nodiscard]] std::uint64_t bytes(std::uint64_t host_bytes) const {
    return plan(host_bytes).bytes;
  }
  [[nodiscard]] std::uint64_t share(std::uint64_t host_bytes) const {
    return plan(host_bytes).limit.share_bytes;
  }
  [[nodiscard]] std::string refusal() const {
    try {
      (void)test::plan_of(options, machine);
      return {};
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return error.what();
    }
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr DecoderNeed kLarge{Codec::kXz, 64 * kMiB};
constexpr DecoderNeed kSmall{Codec::kXz, kMiB};
constexpr DecoderNeed kUnseen{};

TEST(DecodingBytes, AreThoseOfOneInputAfterTheOther) {
  EXPECT_EQ(Question(false, {kSmall, kLarge, kLarge}).bytes(kGiB), 128 * kMiB);  // the share
  EXPECT_EQ(Question(false, {kSmall, kLarge, kLarge}).bytes(256 * kMiB), 64 * kMiB);
  EXPECT_EQ(Question(false, {}).bytes(kGiB), 0U);
}

TEST(DecodingBytes, AreThoseOfAllInputsOfAMerge) {
  EXPECT_EQ(Question(true, {kLarge, kLarge, kLarge}).bytes(256 * kMiB), 192 * kMiB);
  EXPECT_EQ(Question(true, {kLarge, kSmall}).bytes(256 * kMiB), (64 + 16) * kMiB);
  EXPECT_EQ(Question(true, {{Codec::kGzip, kMiB}, {Codec::kBzip2, 4 * kMiB}}).bytes(kGiB),
            5 * kMiB);
}

TEST(DecodingBytes, LeaveMostOfTheMemoryToOtherThings) {
  for (std::uint64_t host = kMiB; host < kTiB; host *= 2) {
    for (const bool merge : {false, true}) {
      const Question question(merge, {kUnseen, kUnseen, {Codec::kZstd, 1}});
      EXPECT_LE(question.bytes(host), host / 4);
      EXPECT_LE(question.share(host), kMostDecoderShare);
      EXPECT_GE(question.share(host), std::min(kMostDecoderShare, host / (merge ? 24 : 8)));
    }
  }
}

TEST(DecodingBytes, SufficeForTheUsualLevelsOfPipes) {
  EXPECT_GE(Question(false, {kUnseen}).share(40 * kMiB), 10 * kMiB);
  EXPECT_EQ(Question(false, {kUnseen}).share(8 * kMiB), 2 * kMiB);
}

// The least -S that `message` names.
std::string named_budget(const std::string& message) {
  const std::string words = "give -S ";
  const std::size_t begin = message.find(words);
  if (begin == std::string::npos) return {};
  const std::size_t figure = begin + words.size();
  return message.substr(figure, message.find(' ', figure) - figure);
}

TEST(MakePlan, NamesABudgetThatSufficesForTheDecoders) {
  for (const bool merge : {false, true}) {
    for (const std::size_t inputs : {1U, 8U, 300U}) {
      for (const KeyType type : {KeyType::kU8, KeyType::kU16, KeyType::kF64}) {
        for (const char* given : {"1M", "8M", "64M"}) {
          for (const std::optional<Codec> compress : {std::optional<Codec>(), {Codec::kXz}}) {
            Question question(merge, std::vector<DecoderNeed>(inputs, kLarge));
            question.options.key.type = type;
            question.options.buffer_size = given;
            question.options.compress = compress;
            question.options.compress_level = 9;
            const std::string message = question.refusal();
            ASSERT_TRUE(contains(message, "reading in.xz: its dictionary needs 64 MiB")) << message;
            EXPECT_TRUE(contains(message, "xz -dc in.xz")) << message;
            question.options.buffer_size = named_budget(message);
            EXPECT_EQ(question.refusal(), "") << message;
          }
        }
      }
    }
  }
}

TEST(MakePlan, NamesNoBudgetThatTheMachineHasNot) {
  Question question(true, std::vector<DecoderNeed>(8, kLarge));
  question.machine = invented_machine(std::nullopt, 4, 512 * kMiB);
  question.machine.compressed.assign(8, {"in.xz", kLarge});
  const std::string message = question.refusal();
  EXPECT_TRUE(contains(message, "together 512 MiB, more than -S 128 MiB leaves")) << message;
  EXPECT_EQ(named_budget(message), "");
  EXPECT_TRUE(contains(message, "xz -dc in.xz > FILE")) << message;
}

TEST(MakePlan, SortsWithLessForWhatTheDecodersTake) {
  Question without(false, {});
  Question with(false, {kLarge});
  const Plan plan = test::plan_of(with.options, with.machine);
  EXPECT_LT(plan.arena_bytes, test::plan_of(without.options, without.machine).arena_bytes);
  EXPECT_LE(plan.arena_bytes + 64 * kMiB, 128 * kMiB);
}

}  // namespace
}  // namespace gsort
