#include "pipeline/output/once_sink.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "pipeline/output/staging_sink.hpp"
#include "pipeline/proof/proof.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using test::Bytes;

class Once : public testing::Test {
 protected:
  void put(std::uint64_t begin, std::uint64_t end) {
    once_.put(begin, ConstByteSpan(keys_).subspan(4 * begin, 4 * (end - begin)));
  }

  Bytes keys_ = io::test::random_bytes(400);
  test::CollectingSink collected_{100, 4};
  OnceSink once_{4, collected_};
};

TEST_F(Once, PassesOnOnlyWhatIsMissingWhenAllComesAgain) {
  put(0, 10);
  put(30, 40);
  put(10, 20);
  once_.begin_again();
  put(0, 25);
  put(50, 100);
  put(25, 50);
  put(12, 38);
  EXPECT_EQ(collected_.complaint(), "");
  EXPECT_EQ(collected_.bytes(), keys_);
}

TEST_F(Once, HidesNothingThatComesTwiceAtFirst) {
  put(0, 10);
  put(0, 10);
  EXPECT_NE(collected_.complaint(), "");
}

// A run that takes packed blocks.
class BlocksAndPieces final : public PieceSink, public BlockSink {
 public:
  void put(std::uint64_t position, ConstByteSpan elements) override {
    puts_.emplace_back(position, elements.size() / 4);
  }
  [[nodiscard]] BlockSink* block_sink() override { return this; }
  [[nodiscard]] std::uint64_t block_elements() const override { return 5; }
  [[nodiscard]] Packing packing() const override { return Packing::kOff; }
  void put_blocks(std::uint64_t position, const StoredBlocks& blocks) override {
    puts_.emplace_back(position, blocks.count);
  }
  [[nodiscard]] const std::vector<std::pair<std::uint64_t, std::uint64_t>>& puts() const {
    return puts_;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> puts_;
};

TEST(OnceInFrontOfARun, TakesBlocksAtFirst) {
  const Bytes keys(80);
  BlocksAndPieces run;
  OnceSink once(4, run);
  ASSERT_NE(once.block_sink(), nullptr);
  EXPECT_EQ(once.block_sink()->block_elements(), 5U);
  EXPECT_EQ(once.block_sink()->packing(), Packing::kOff);
  once.block_sink()->put_blocks(5, {10, {}, {}});
  once.begin_again();
  EXPECT_EQ(once.block_sink(), nullptr);
  once.put(0, keys);
  EXPECT_EQ(run.puts(),
            (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{5, 10}, {0, 5}, {15, 5}}));
}

TEST(OnceInFrontOfAnOutput, TakesNoBlocks) {
  test::CollectingSink collected(100, 4);
  EXPECT_EQ(OnceSink(4, collected).block_sink(), nullptr);
}

// Parts that wait for their turn are proven as soon as they are put.
class OnceBeforeProof : public testing::Test {
 protected:
  OnceBeforeProof() {
    static_cast<void>(proof_.add_input(keys_));
    staging_.begin(0, 100);
  }
  void put(std::uint64_t begin, std::uint64_t end) {
    once_.put(begin, ConstByteSpan(keys_).subspan(4 * begin, 4 * (end - begin)));
  }

  Bytes keys_ = test::sorted_copy(io::test::random_bytes(400), KeyFormat{KeyType::kU32});
  Proof proof_{ElementFormat{{KeyType::kU32, false, false}, {}}, true};
  test::CollectingSink collected_{100, 4};
  ProvingSink proving_{proof_, collected_};
  Bytes buffer_ = Bytes(400);
  StagingSink staging_{buffer_, 4, 1, proving_};
  OnceSink once_{4, staging_};
};

TEST_F(OnceBeforeProof, HasEachElementProvenOnce) {
  put(0, 10);
  put(30, 40);
  once_.begin_again();
  put(0, 35);
  put(35, 100);
  staging_.flush();
  proof_.finish();
  EXPECT_EQ(collected_.complaint(), "");
  EXPECT_EQ(collected_.bytes(), keys_);
}

TEST_F(OnceBeforeProof, LeavesToTheProofWhatComesTwiceAtFirst) {
  put(0, 10);
  EXPECT_EQ(io::test::error_of([&] { put(0, 10); }).kind(), ErrorKind::kCorrupt);
  EXPECT_TRUE(once_.has_failed());
}

class FailingSink final : public PieceSink {
 public:
  void put(std::uint64_t /*position*/, ConstByteSpan /*keys*/) override {
    throw Error(ErrorKind::kOutput, "writing", "no space");
  }
};

TEST(OnceSink, TellsWhoseFailureItWas) {
  FailingSink failing;
  OnceSink once(4, failing);
  EXPECT_FALSE(once.has_failed());
  EXPECT_THROW(once.put(0, {}), Error);
  EXPECT_TRUE(once.has_failed());
}

}  // namespace
}  // namespace gsort
