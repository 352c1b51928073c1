#include "cluster/cuts/assign_shares.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/cluster/sort_words.hpp"
#include "unit/io/support.hpp"

namespace gsort::cluster {
namespace {

using Shares = std::vector<unsigned>;

Shares in_order(unsigned n) {
  Shares shares(n);
  std::iota(shares.begin(), shares.end(), 0U);
  return shares;
}

// How many elements each process has in each share.
struct Matrix {
  unsigned n;
  std::vector<std::uint64_t> there;

  [[nodiscard]] std::uint64_t sent(unsigned process, unsigned share) const {
    const auto row = there.begin() + static_cast<std::ptrdiff_t>(std::size_t{process} * n);
    return std::accumulate(row, row + n, std::uint64_t{0}) - row[share];
  }
  [[nodiscard]] std::uint64_t slack() const {
    return std::accumulate(there.begin(), there.end(), std::uint64_t{0}) / n / 128;
  }
  [[nodiscard]] std::uint64_t greatest(const Shares& shares) const {
    std::uint64_t most = 0;
    for (unsigned i = 0; i < n; ++i) most = std::max(most, sent(i, shares[i]));
    return most;
  }
  // All that is sent, and what moving shares must save.
  [[nodiscard]] std::uint64_t cost(const Shares& shares) const {
    std::uint64_t cost = 0;
    for (unsigned i = 0; i < n; ++i)
      cost += sent(i, shares[i]) + (shares[i] == i ? 0 : slack() + 1);
    return cost;
  }
};

void expect_best(const Matrix& matrix) {
  std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max();
  Shares any = in_order(matrix.n);
  do greatest = std::min(greatest, matrix.greatest(any));
  while (std::ranges::next_permutation(any).found);
  std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();
  any = in_order(matrix.n);
  do {
    if (matrix.greatest(any) <= greatest + matrix.slack()) cost = std::min(cost, matrix.cost(any));
  } while (std::ranges::next_permutation(any).found);

  const Shares found = assign_shares(matrix.there, matrix.n);
  ASSERT_TRUE(std::ranges::is_permutation(found, in_order(matrix.n)));
  EXPECT_LE(matrix.greatest(found), greatest + matrix.slack());
  EXPECT_EQ(matrix.cost(found), cost);
}

TEST(AssignShares, FindsTheBestOfAllPermutations) {
  std::mt19937_64 random(1);
  for (unsigned n = 1; n <= 6; ++n) {
    for (const std::uint64_t below : {2U, 4U, 10U, 1'000U, 1'000'000U}) {
      for (unsigned round = 0; round < 60; ++round) {
        Matrix matrix{n, std::vector<std::uint64_t>(std::size_t{n} * n)};
        const std::uint64_t of = 1 + round % 4;  // a third, or a half, of all places have elements
        for (std::uint64_t& count : matrix.there) count = random() % of == 0 ? random() % below : 0;
        expect_best(matrix);
        ASSERT_FALSE(HasFailure()) << n << " processes, below " << below << ", round " << round;
      }
    }
  }
}

// Shares of 100 elements: the slack is 0.
TEST(AssignShares, OrdersThemAsTheElementsAre) {
  EXPECT_EQ(assign_shares(std::vector<std::uint64_t>{0, 0, 100, 0, 100, 0, 100, 0, 0}, 3),
            (Shares{2, 1, 0}));
  // An organ pipe.
  EXPECT_EQ(assign_shares(std::vector<std::uint64_t>{50, 50, 0, 0, 0, 100, 50, 50, 0}, 3),
            (Shares{0, 2, 1}));
}

TEST(AssignShares, KeepsTheirOrderIfLittleIsGained) {
  std::mt19937_64 random(2);
  for (const unsigned n : {2U, 3U, 7U, 64U}) {
    std::vector<std::uint64_t> there(std::size_t{n} * n);
    EXPECT_EQ(assign_shares(there, n), in_order(n));
    // As keys in random order are spread.
    std::binomial_distribution<std::uint64_t> spread(10'000'000, 1.0 / n / n);
    for (std::uint64_t& count : there) count = spread(random);
    EXPECT_EQ(assign_shares(there, n), in_order(n));
  }
}

TEST(AssignShares, FindsThoseOfManyProcesses) {
  constexpr unsigned kMany = 500;
  std::mt19937_64 random(3);
  Shares wanted = in_order(kMany);
  std::ranges::shuffle(wanted, random);
  std::vector<std::uint64_t> there(std::size_t{kMany} * kMany);
  for (std::uint64_t& count : there) count = random() % 1'000;
  for (unsigned i = 0; i < kMany; ++i) there[std::size_t{i} * kMany + wanted[i]] = 10'000;
  EXPECT_EQ(assign_shares(there, kMany), wanted);
}

// Three processes have descending keys, 100 each.
std::vector<std::string> assign_over(test::LocalNetwork& network) {
  std::vector<std::string> errors;
  const auto verdicts = test::verdicts_of(network, [](Team& team) {
    PartTable parts({300, 3, 60, 1, 0});
    std::vector<Cuts> cuts;
    const std::uint64_t begin = 200 - 100 * team.rank();
    for (const std::uint64_t border : parts.borders()) {
      cuts.push_back({std::min<std::uint64_t>(border - std::min(border, begin), 100)});
    }
    assign_shares(team, parts, cuts);
    team.meet();
    for (unsigned rank = 0; rank < 3; ++rank) EXPECT_EQ(parts.share(rank), 2 - rank);
  });
  for (const auto& verdict : verdicts) errors.push_back(verdict ? verdict->text : "");
  return errors;
}

TEST(AssignShares, Together) {
  test::LocalNetwork network(3);
  EXPECT_EQ(assign_over(network), (std::vector<std::string>(3)));
}

// The hosts' names are gathered and broadcast before.
TEST(AssignShares, FindsThatTheNetworkLies) {
  constexpr std::uint32_t kGathered = 2;
  for (const std::uint32_t number : {kGathered, kGathered + 1}) {
    test::LocalNetwork network(3);
    network.set_liar([number](unsigned, unsigned, Message& message) {
      const Envelope envelope = test::envelope_of(message);
      const bool is_size = message.size() == sizeof envelope + sizeof(std::uint64_t);
      if (envelope.kind == MessageKind::kCollective && envelope.number == number && !is_size) {
        message[sizeof envelope] ^= std::byte{1};
      }
      return 1U;
    });
    for (const std::string& error : assign_over(network)) {
      EXPECT_NE(error.find("malformed"), std::string::npos) << number << ": " << error;
    }
  }
}

// Whole sorts of descending keys.
class AssignedShares : public testing::Test {
 protected:
  static constexpr std::size_t kCount = 6000;

  // Returns the share of each process. Each has its own options.
  [[nodiscard]] static Shares sort_by(const std::vector<Options>& options) {
    Shares shares;
    test::LocalNetwork network(static_cast<unsigned>(options.size()));
    const test::Ended ended = test::sort_by(network, [&](unsigned rank) { return options[rank]; });
    EXPECT_EQ(ended.error, "");
    for (const RankReport& rank : ended.outcome.ranks) {
      shares.push_back(static_cast<unsigned>(rank.share));
    }
    return shares;
  }

  [[nodiscard]] std::string write(const std::string& name, ConstByteSpan bytes) const {
    io::test::write_file(folder_ / name, bytes);
    return folder_ / name;
  }
  // The first `count` keys, in order, are the output.
  void expect_first(std::size_t count) const {
    std::vector<std::uint32_t> wanted(count);
    std::iota(wanted.begin(), wanted.end(), 0U);
    EXPECT_TRUE(std::ranges::equal(io::test::read_file(output_), test::bytes_of(wanted)));
  }

  const io::test::TempFolder folder_;
  const std::string output_ = folder_ / "out.u32";
  const test::Keys keys_ = [] {
    test::Keys keys(kCount);
    std::iota(keys.rbegin(), keys.rend(), 0U);
    return keys;
  }();
};

// The last process has the first elements.
TEST_F(AssignedShares, OfTheFirstElements) {
  const std::string input = write("in.u32", test::bytes_of(keys_));
  for (const auto& [top, wanted] : {std::pair("--top=6000", Shares{2, 1, 0}),
                                    {"--top=4500", {2, 1, 0}},
                                    {"--top=4000", {1, 2, 0}},
                                    {"--top=1500", {0, 1, 2}}}) {
    const Options options = test::options_of({top, input.c_str(), "-o", output_.c_str()});
    EXPECT_EQ(sort_by({3, options}), wanted) << top;
    expect_first(std::stoul(top + 6));
  }
}

TEST_F(AssignedShares, OfDistinctKeys) {
  test::Keys twice = keys_;
  twice.insert(twice.end(), keys_.begin(), keys_.end());
  const std::string input = write("in.u32", test::bytes_of(twice));
  for (const std::size_t top : {std::size_t{10}, kCount / 2, kCount}) {
    const std::string word = "--top=" + std::to_string(top);
    (void)sort_by(
        {4, test::options_of({"-u", word.c_str(), input.c_str(), "-o", output_.c_str()})});
    expect_first(top);
  }
}

// The number of a file is that of its process.
TEST_F(AssignedShares, OfFilesOfTheirOwnAreInOrder) {
  const std::string input = write("in.u32", test::bytes_of(keys_));
  const std::string output = folder_ / "out-{rank}.u32";
  const Options options = test::options_of({"--parts", input.c_str(), "-o", output.c_str()});
  EXPECT_EQ(sort_by({3, options}), in_order(3));
}

// Each process has a header and keys of its own; the last one writes the beginning of the output.
TEST_F(AssignedShares, HaveTheHeaderOfTheFirstInput) {
  std::vector<Options> options;
  for (unsigned rank = 0; rank < 3; ++rank) {
    const auto begin = keys_.begin() + rank * (kCount / 3);
    test::Keys file{rank};
    file.insert(file.end(), begin, begin + kCount / 3);
    const std::string input = write("in-" + std::to_string(rank), test::bytes_of(file));
    options.push_back(test::options_of(
        {"--inputs-here", "--skip=4", "-tu32", input.c_str(), "-o", output_.c_str()}));
  }
  EXPECT_EQ(sort_by(options), (Shares{2, 1, 0}));
  test::Keys wanted{0};
  wanted.insert(wanted.end(), keys_.rbegin(), keys_.rend());
  EXPECT_TRUE(std::ranges::equal(io::test::read_file(output_), test::bytes_of(wanted)));
}

}  // namespace
}  // namespace gsort::cluster
