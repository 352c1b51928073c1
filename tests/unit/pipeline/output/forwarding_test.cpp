// Each sink and each chain of them, with the calls that they pass on.
#include "support/forwarding.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "pipeline/output/count_sink.hpp"
#include "pipeline/output/gap_watch.hpp"
#include "pipeline/output/index_sink.hpp"
#include "pipeline/output/limit_sink.hpp"
#include "pipeline/output/once_sink.hpp"
#include "pipeline/output/output_chain.hpp"
#include "pipeline/output/result.hpp"
#include "pipeline/output/sinks.hpp"
#include "pipeline/output/staging_sink.hpp"
#include "pipeline/output/unique_sink.hpp"
#include "pipeline/proof/proof.hpp"
#include "support/invented.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using test::forwarded;
using test::offered;

constexpr Numbering kNumbering{1, 8, false};

class Forwarding : public testing::Test {
 protected:
  ElementFormat keys_{KeyFormat{KeyType::kU32}, {}};
  Proof proof_{keys_, true};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(64);
};

TEST_F(Forwarding, OfEachSink) {
  EXPECT_EQ(forwarded<OffsetSink>(5U), "block proof enter leave abandon ");
  EXPECT_EQ(forwarded<OnceSink>(4U), "block ");
  EXPECT_EQ(forwarded<StagingSink>(ByteSpan(buffer_), 4U, 1U), "abandon ");
  EXPECT_EQ(forwarded<GapWatch>(4U), "abandon ") << "it counts the threads itself";
  EXPECT_EQ(forwarded<ProvingSink>(proof_), "proof enter leave abandon ");
  EXPECT_EQ(forwarded<LimitSink>(7U, 4U, proof_), "enter leave abandon ");
  EXPECT_EQ(forwarded<IndexSink>(kNumbering, 4U), "enter leave abandon ");
  EXPECT_EQ(forwarded<UniqueSink>(keys_, proof_), "enter leave abandon ");
  EXPECT_EQ(forwarded<CountSink>(keys_, false, 1U, proof_), "enter leave abandon ");
}

TEST_F(Forwarding, OffersNothingThatTheNextSinkLacks) {
  EXPECT_EQ(offered<OffsetSink>(5U), "");
  EXPECT_EQ(offered<OnceSink>(4U), "");
  EXPECT_EQ(offered<ProvingSink>(proof_), "proof ") << "its own";
}

// Every call reaches the target, whatever the job and the range are. Pieces in two steps would
// bypass the sinks that drop elements.
TEST_F(Forwarding, OfTheResultOfEachJob) {
  struct Case {
    bool unique, counts, top, numbered;
    const char* proof;
  };
  constexpr Case kCases[] = {
      {false, false, false, false, "proof "}, {false, false, false, true, "proof "},
      {true, false, false, false, ""},        {true, true, false, false, ""},
      {false, false, true, false, ""},        {true, false, true, true, ""},
  };
  for (const auto& [unique, counts, top, numbered, proof] : kCases) {
    for (const std::uint64_t begin : {0U, 3U}) {
      for (const bool has_records : {false, true}) {
        Job job;
        job.element = keys_;
        if (has_records) job.element.records = {8, {{0, 4, std::nullopt, false, false}}};
        job.unique = unique;
        job.count = counts;
        if (top) job.top = 5;
        if (numbered) job.numbered = keys_;
        test::OfferingSink end;
        Result result(job, proof_, end, {.begin = begin, .index_bytes = 4});
        EXPECT_EQ(forwarded_by(result.sink(), end), std::string(proof) + "enter leave abandon ")
            << unique << counts << top << numbered << begin << has_records;
      }
    }
  }
}

// A piece that waits for earlier ones fails after abandon().
TEST_F(Forwarding, HoldsPiecesBackIfTheJobNeedsOrder) {
  for (const bool unique : {false, true}) {
    for (const bool counts : {false, unique}) {
      for (const bool top : {false, true}) {
        Job job;
        job.element = keys_;
        job.unique = unique;
        job.count = counts;
        if (top) job.top = 5;
        EXPECT_EQ(job.needs_order(), unique);
        Proof proof(keys_, true);
        test::OfferingSink end;
        Result result(job, proof, end);
        result.sink().abandon();
        const auto put_later_piece = [&] { result.sink().put(2, ConstByteSpan(buffer_).first(4)); };
        if (job.needs_order()) {
          EXPECT_THROW(put_later_piece(), Error) << counts << top;
        } else {
          EXPECT_NO_THROW(put_later_piece()) << top;
        }
      }
    }
  }
}

// In two steps, a lane proves its part while others write.
TEST_F(Forwarding, OfTheChainOfEachJob) {
  const auto offered_of = [](const Options& options) {
    const io::test::TempFolder folder;
    std::vector<io::Output> outputs;
    outputs.emplace_back(folder / "out");
    const Plan plan = test::plan_of(options, test::invented_machine(4'000, 2, kGiB));
    Proof proof(plan.job.element, true);
    OutputChain chain(plan, outputs, proof, nullptr);
    return test::offered_by(chain.begin(1'000, {}));
  };
  const Options plain = test::options_for(KeyType::kU32, "40M");
  Options options = plain;
  EXPECT_EQ(offered_of(options), "proof ");
  options.top = 5;
  EXPECT_EQ(offered_of(options), "");
  options.unique = true;
  EXPECT_EQ(offered_of(options), "");
  options.top = std::nullopt;
  EXPECT_EQ(offered_of(options), "");
  options.count = true;
  EXPECT_EQ(offered_of(options), "");
  options = plain;
  options.argsort = true;
  EXPECT_EQ(offered_of(options), "proof ");
  options.argsort = false;
  options.shuffle = 1;
  EXPECT_EQ(offered_of(options), "proof ");
}

}  // namespace
}  // namespace gsort
