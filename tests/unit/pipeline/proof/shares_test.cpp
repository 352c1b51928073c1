// Proofs of shares, joined: as one proof of the whole.
#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "pipeline/proof/proof.hpp"
#include "support/sorted_copy.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using test::Bytes;

constexpr KeyFormat kBigU32{KeyType::kU32, true, true};
constexpr std::uint64_t kAllKeys = 10'000;

// A stretch of the output as a share writes it.
struct Written {
  std::uint64_t position;
  Bytes elements;
};

// Three machines: which of the input each of them reads, and which of the output it writes.
struct Shares {
  std::vector<Bytes> read;
  std::vector<Written> written;
};

Bytes cut(const Bytes& bytes, std::uint64_t begin, std::uint64_t end) {
  return {bytes.begin() + static_cast<std::ptrdiff_t>(4 * begin),
          bytes.begin() + static_cast<std::ptrdiff_t>(4 * end)};
}

class ProofOfShares : public testing::Test {
 protected:
  [[nodiscard]] Shares honest() const {
    return {{cut(input_, 0, 5'000), cut(input_, 5'000, 5'001), cut(input_, 5'001, kAllKeys)},
            {{7'000, cut(sorted_, 7'000, kAllKeys)},
             {0, cut(sorted_, 0, 2'000)},
             {2'000, cut(sorted_, 2'000, 7'000)}}};
  }

  // The proof of a share, its output in two pieces.
  static ProofSummary seen(const Bytes& read, const Written& written, bool enabled = true) {
    Proof proof({kBigU32, {}}, enabled);
    proof.add_input(read);
    const std::uint64_t half = written.elements.size() / 8;
    const ConstByteSpan elements = written.elements;
    proof.add_output(written.position + half, elements.subspan(4 * half));
    proof.add_output(written.position, elements.first(4 * half));
    return proof.summary();
  }

  static std::vector<ProofSummary> seen(const Shares& shares) {
    std::vector<ProofSummary> summaries;
    for (std::size_t i = 0; i < shares.read.size(); ++i) {
      summaries.push_back(seen(shares.read[i], shares.written[i]));
    }
    return summaries;
  }

  static void join(const std::vector<ProofSummary>& shares, bool enabled = true) {
    Proof all({kBigU32, {}}, enabled);
    for (const ProofSummary& share : shares) all.add_share(share);
    all.finish();
  }

  // Each share is right for itself; together they are not.
  void expect_found(const std::function<void(Shares&)>& lie) const {
    Shares shares = honest();
    lie(shares);
    const std::vector<ProofSummary> summaries = seen(shares);
    EXPECT_THROW(join(summaries), Error);
  }

  Bytes input_ = test::generated(kBigU32, Distribution::kUniform, kAllKeys);
  Bytes sorted_ = test::sorted_copy(input_, kBigU32);
};

TEST_F(ProofOfShares, IsAsOneProofInWhateverOrderTheyCome) {
  Proof one({kBigU32, {}}, true);
  one.add_input(input_);
  one.add_output(0, sorted_);
  one.finish();
  std::vector<ProofSummary> shares = seen(honest());
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    std::ranges::shuffle(shares, random);
    Proof joined({kBigU32, {}}, true);
    for (const ProofSummary& share : shares) joined.add_share(share);
    joined.finish();
    EXPECT_EQ(joined.summary(), one.summary());
  }
}

TEST_F(ProofOfShares, CanBeJoinedInSteps) {
  const std::vector<ProofSummary> shares = seen(honest());
  Proof two({kBigU32, {}}, true);
  two.add_share(shares[0]);
  two.add_share(shares[1]);
  EXPECT_EQ(two.summary().stretches.size(), 2U);  // they are not neighbours
  join({shares[2], two.summary()});
}

TEST_F(ProofOfShares, FindsALieOfOneShare) {
  expect_found([](Shares& shares) { shares.read[1].clear(); });
  expect_found([](Shares& shares) { shares.read[1] = shares.read[0]; });
  expect_found([](Shares& shares) { shares.read[1][3] ^= std::byte{1}; });
  expect_found([](Shares& shares) {  // one twice, its neighbour never
    Bytes& elements = shares.written[2].elements;
    std::copy_n(elements.begin() + 400, 4, elements.begin() + 404);
  });
  expect_found([](Shares& shares) { shares.written[0].elements.resize(4 * 2'999); });
  expect_found([](Shares& shares) { shares.written[1].elements.resize(4 * 1'999); });
}

TEST_F(ProofOfShares, FindsSharesAtOtherPlaces) {
  expect_found([](Shares& shares) { shares.written[0].position += 1; });
  expect_found([](Shares& shares) { shares.written[0].position -= 1; });
  // The same elements at places that fit, but not in order at the border.
  expect_found([&](Shares& shares) {
    shares.written[1] = {0, cut(sorted_, 5'000, 7'000)};
    shares.written[2].elements = cut(sorted_, 0, 5'000);
  });
}

TEST_F(ProofOfShares, FindsAShareThatIsMissingOrComesTwice) {
  const std::vector<ProofSummary> shares = seen(honest());
  join(shares);
  EXPECT_THROW(join({shares[0], shares[1]}), Error);
  EXPECT_THROW(join({shares[1], shares[2]}), Error);
  EXPECT_THROW(join({shares[0], shares[1], shares[2], shares[1]}), Error);
}

TEST_F(ProofOfShares, TakesNoneThatWasProvenLess) {
  std::vector<ProofSummary> shares = seen(honest());
  const Shares honest_ones = honest();
  const auto expect_refused = [](const std::vector<ProofSummary>& all, bool enabled) {
    const Error error = io::test::error_of([&] { join(all, enabled); });
    EXPECT_TRUE(io::test::contains(error.what(), "not all shares of it were verified"))
        << error.what();
  };
  expect_refused(shares, false);
  shares[0] = seen(honest_ones.read[0], honest_ones.written[0], false);
  expect_refused(shares, true);
  for (std::size_t i = 1; i < 3; ++i) {
    shares[i] = seen(honest_ones.read[i], honest_ones.written[i], false);
  }
  join(shares, false);
  EXPECT_THROW(join({shares[0], shares[2]}, false), Error);
}

TEST(ProofOfSharesOfRecords, ComparesTheirKeysAtTheBorders) {
  const RecordFormat format{2, {{0, 1, std::nullopt, false, false}}};
  const auto share = [&](std::uint64_t position, const std::string& records) {
    Proof proof({{}, format}, true);
    proof.add_input(std::as_bytes(std::span(records)));
    proof.add_output(position, std::as_bytes(std::span(records)));
    return proof.summary();
  };
  const auto join = [&](const std::string& first, const std::string& second) {
    Proof all({{}, format}, true);
    all.add_share(share(first.size() / 2, second));
    all.add_share(share(0, first));
    all.finish();
  };
  join("a9b8", "b7d6");
  EXPECT_THROW(join("b6c7", "a8d9"), Error);
}

TEST(ProofOfUniqueShares, FindsAKeyOnBothSidesOfABorder) {
  const ElementFormat format{{KeyType::kU8, false, false}, {}};
  const auto share = [&](std::uint64_t position, const std::string& keys, const std::string& same) {
    Proof proof(format, true, nullptr, OrderKind::kStrict);
    proof.add_input(std::as_bytes(std::span(keys)));
    proof.add_input(std::as_bytes(std::span(same)));
    proof.add_output(position, std::as_bytes(std::span(keys)));
    proof.add_dropped(std::as_bytes(std::span(same)));
    return proof.summary();
  };
  const auto join = [&](const std::string& first, const std::string& second) {
    Proof all(format, true, nullptr, OrderKind::kStrict);
    all.add_share(share(0, first, "a"));
    all.add_share(share(first.size(), second, "x"));
    all.finish();
  };
  join("abc", "dxy");
  EXPECT_THROW(join("abc", "cxy"), Error);
}

TEST(ProofOfUniqueShares, ComparesNoKeysWhereItIsNotEnabled) {
  const std::string keys = "ab";
  Proof proof({{KeyType::kU8, false, false}, {}}, false, nullptr, OrderKind::kStrict);
  for (const std::uint64_t position : {0U, 4U, 2U}) {
    proof.add_output(position, std::as_bytes(std::span(keys)));
  }
  EXPECT_EQ(proof.summary().stretches.size(), 1U);
}

TEST(ProofOfTheFirstOfShares, ComparesTheLastOneWithWhatEachShareLeftOut) {
  const ElementFormat format{{KeyType::kU8, false, false}, {}};
  const auto share = [&](std::uint64_t position, const std::string& keys, const std::string& left) {
    Proof proof(format, true, nullptr, OrderKind::kAscending, 4);
    proof.add_input(std::as_bytes(std::span(keys)));
    proof.add_input(std::as_bytes(std::span(left)));
    proof.add_output(position, std::as_bytes(std::span(keys)));
    proof.add_left_out(proof.look(std::as_bytes(std::span(left))),
                       static_cast<unsigned char>(left.front()));
    return proof.summary();
  };
  const auto join = [&](const std::string& first, const std::string& second) {
    Proof all(format, true, nullptr, OrderKind::kAscending, 4);
    all.add_share(share(0, "ab", first));
    all.add_share(share(2, "cd", second));
    all.finish();
  };
  join("dx", "y");
  join("y", "dx");
  EXPECT_THROW(join("cx", "y"), Error);
  EXPECT_THROW(join("y", "cx"), Error);
}

TEST(ProofOfTheFirstOfShares, OnlyCountsWhatIsLeftOutWithoutVerifying) {
  const RecordFormat format{100, {{0, 1, std::nullopt, false, false}}};
  Proof proof({{}, format}, false, nullptr, OrderKind::kAscending, 1);
  proof.add_left_out({5}, UInt128{0});
  EXPECT_EQ(proof.summary().left_out.count, 5);
  EXPECT_EQ(proof.summary().least_left_out, std::nullopt);
}

}  // namespace
}  // namespace gsort
