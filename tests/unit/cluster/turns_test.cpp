// Tests when parts are merged in rotated order, and that they are put in order nevertheless.
#include "cluster/turns.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "cluster/exchange.hpp"
#include "cluster/output/deferred_parts.hpp"
#include "io/system/memory.hpp"
#include "support/error_of.hpp"
#include "unit/cluster/sort_words.hpp"
#include "unit/io/support.hpp"

namespace gsort::cluster {
namespace {

using test::LocalNetwork;

constexpr std::uint64_t kShare = 1200;
constexpr std::uint64_t kPart = 10;

// Which process has the element in a place of the output.
using Owner = std::function<unsigned(std::uint64_t place, unsigned ranks)>;

// The elements of every share come from one process, then from the next.
unsigned by_sender(std::uint64_t place, unsigned ranks) {
  return static_cast<unsigned>(place % kShare * ranks / kShare);
}
unsigned in_turn(std::uint64_t place, unsigned ranks) {
  return static_cast<unsigned>(place % ranks);
}
unsigned as_written(std::uint64_t place, unsigned ranks) {
  return static_cast<unsigned>(place / kShare % ranks);
}
unsigned written_by_next(std::uint64_t place, unsigned ranks) {
  return static_cast<unsigned>((place / kShare + 1) % ranks);
}

// The cuts of the one run of a process.
std::vector<Cuts> cuts_of(unsigned rank, const PartTable& parts, const Owner& owner) {
  std::vector<Cuts> cuts;
  std::uint64_t before = 0;
  std::uint64_t place = 0;
  for (const std::uint64_t border : parts.borders()) {
    for (; place < border; ++place) before += owner(place, parts.ranks()) == rank ? 1U : 0U;
    cuts.push_back({before});
  }
  return cuts;
}

struct Rotation {
  Owner owner = by_sender;
  unsigned ranks = 3;
  std::vector<unsigned> lanes = {1, 1, 1, 1, 1, 1, 1, 1};
  std::vector<bool> has_room = std::vector<bool>(8, true);
};

// Returns the decision of should_rotate(), which must be the same in all processes.
bool rotates(const Rotation& rotation) {
  LocalNetwork network(rotation.ranks);
  std::atomic<unsigned> yes{0};
  test::run_job(network, [&](Team& team) {
    const PartTable parts({kShare * team.count(), team.count(), kPart, 1, 0});
    const std::vector<Cuts> cuts = cuts_of(team.rank(), parts, rotation.owner);
    const unsigned rank = team.rank();
    const unsigned lanes = rotation.has_room[rank] ? rotation.lanes[rank] : 0;
    if (should_rotate(team, parts, cuts, lanes)) ++yes;
  });
  EXPECT_TRUE(yes == 0 || yes == rotation.ranks) << yes;
  return yes > 0;
}

TEST(Turns, AreRotatedWhereAllNeedTheSameSender) {
  for (unsigned ranks = 3; ranks <= 8; ++ranks) {
    EXPECT_TRUE(rotates({.ranks = ranks})) << ranks << " processes";
    EXPECT_TRUE(rotates({.ranks = ranks, .lanes = {9, 2, 3, 1, 1, 1, 1, 1}}));
    EXPECT_FALSE(rotates({.owner = in_turn, .ranks = ranks}));
    EXPECT_FALSE(rotates({.owner = as_written, .ranks = ranks}));
    EXPECT_FALSE(rotates({.owner = written_by_next, .ranks = ranks}));
  }
}

// Two processes: rotation saves half a share at most, as it does for the first and the last of
// these.
TEST(Turns, StayInOrderWhereNoLinkServesTwo) {
  const auto one_after_the_other = [](std::uint64_t place, unsigned ranks) {
    const bool is_first_half = place % kShare < kShare / 2;
    return is_first_half || ranks == 1 ? 0U : 1U;
  };
  for (const Owner& owner : {Owner(by_sender), Owner(in_turn), Owner(as_written),
                             Owner(written_by_next), Owner(one_after_the_other)}) {
    EXPECT_FALSE(rotates({.owner = owner, .ranks = 1}));
    EXPECT_FALSE(rotates({.owner = owner, .ranks = 2}));
  }
}

TEST(Turns, StayInOrderWhereOneHasNoRoom) {
  Rotation rotation{.ranks = 4};
  rotation.has_room[2] = false;
  EXPECT_FALSE(rotates(rotation));
}

// Half a share is what rotation must gain.
TEST(Turns, StayInOrderForFewElements) {
  const auto partly = [](std::uint64_t part) -> Owner {
    return [part](std::uint64_t place, unsigned ranks) {
      return place % kShare < part ? static_cast<unsigned>(place % kShare * ranks / part)
                                   : in_turn(place, ranks);
    };
  };
  EXPECT_FALSE(rotates({.owner = partly(kShare / 4)}));
  EXPECT_TRUE(rotates({.owner = partly(kShare / 4 * 3)}));
}

TEST(Turns, DeferWhatRotatedOrderBeginsWith) {
  const PartTable parts({4 * kShare, 4, kPart, 1, 0});
  for (unsigned rank = 0; rank < 4; ++rank) {
    const OutputRange range = deferred_range(parts, rank);
    EXPECT_EQ(range.elements(), rank == 0 ? 0 : kShare - kShare * rank / 4);
    EXPECT_EQ(range.end, kShare * (rank + 1));
  }
  const PartTable none({1, 3, kPart, 1, 0});
  EXPECT_EQ(deferred_range(none, 0).elements(), 0);
}

class Deferred : public testing::Test {
 protected:
  static constexpr std::uint64_t kElements = 100'000;
  static constexpr std::uint64_t kPiece = 1000;
  static constexpr std::uint64_t kThreads = 3;
  using Keys = std::vector<std::uint32_t>;

  // Each put() waits until all elements before its own have been put.
  class InOrder final : public PieceSink {
   public:
    void put(std::uint64_t position, ConstByteSpan elements) override {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_abandoned_ || position == keys.size(); });
      if (is_abandoned_) throw Error(ErrorKind::kOutput, "putting", "abandoned");
      if (keys.size() >= fails_at) throw Error(ErrorKind::kOutput, "putting", "the disk is full");
      const auto* const first = reinterpret_cast<const std::uint32_t*>(elements.data());
      keys.insert(keys.end(), first, first + elements.size() / sizeof(std::uint32_t));
      changed_.notify_all();
    }
    void abandon() noexcept override {
      const std::scoped_lock lock(mutex_);
      is_abandoned_ = true;
      changed_.notify_all();
    }

    Keys keys;
    std::size_t fails_at = SIZE_MAX;

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_abandoned_ = false;
  };

  Deferred() {
    std::iota(keys_.begin(), keys_.end(), 5U);
    for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
      scratch_.push_back(memory_.bytes().subspan(thread * scratch_bytes_, scratch_bytes_));
    }
  }

  static io::RunStoreOptions options() {
    io::RunStoreOptions options;
    options.block_elements = 512;
    return options;
  }

  void put(DeferredParts& parts, std::uint64_t begin, std::uint64_t end) {
    for (; begin < end; begin += kPiece) {
      const std::uint64_t count = std::min(kPiece, end - begin);
      parts.put(begin, std::as_bytes(std::span(keys_).subspan(begin, count)));
    }
  }

  // As an exchange in rotated order does.
  void put_rotated(DeferredParts& parts, std::uint64_t border) {
    put(parts, border, kElements);
    put(parts, 0, border);
    parts.put_rest(scratch_);
  }

  io::test::TempFolder folder_;
  Keys keys_ = Keys(kElements);
  const ElementFormat format_{{KeyType::kU32}, std::nullopt};
  io::RunStore store_{{folder_.path()}, sizeof(std::uint32_t), options()};
  Meter meter_;
  const std::uint64_t scratch_bytes_ =
      exchange_scratch_bytes(store_.scratch_bytes(), sizeof(std::uint32_t));
  io::Arena memory_{kThreads * scratch_bytes_, "the test"};
  std::vector<ByteSpan> scratch_;
};

TEST_F(Deferred, ArePutInOrder) {
  for (const std::uint64_t border : {std::uint64_t{0}, kPiece, kElements / 2 + 1, kElements}) {
    InOrder output;
    DeferredParts parts(store_, {border, kElements}, format_, meter_, output);
    put_rotated(parts, border);
    EXPECT_EQ(output.keys, keys_) << "deferred from " << border;
  }
}

TEST_F(Deferred, EndWithTheErrorOfTheOutput) {
  InOrder output;
  output.fails_at = kElements / 2;
  DeferredParts parts(store_, {kPiece, kElements}, format_, meter_, output);
  const Error error = gsort::test::error_of([&] { put_rotated(parts, kPiece); });
  EXPECT_NE(std::string(error.what()).find("the disk is full"), std::string::npos) << error.what();
}

// Other threads, which wait for the piece that cannot be read, end as well.
TEST_F(Deferred, EndWithTheErrorOfARead) {
  const std::string path = folder_ / "runs";
  const io::File file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), path,
                      ErrorKind::kTemporary);
  io::RunStoreOptions on_file = options();
  on_file.packing = Packing::kOff;
  on_file.write_buffer_bytes = 16384;
  on_file.persistent = io::PersistentStore{&file, 0, 1, 0};
  io::RunStore store({folder_.path()}, sizeof(std::uint32_t), on_file);
  InOrder output;
  DeferredParts parts(store, {kPiece, kElements}, format_, meter_, output);
  put(parts, kPiece, kElements);
  std::vector<std::byte> byte(1);
  ASSERT_EQ(file.read_full_at(byte, 50'000), 1U);
  byte[0] ^= std::byte{1};
  file.write_full_at(byte, 50'000);
  put(parts, 0, kPiece);
  const Error error = gsort::test::error_of([&] { parts.put_rest(scratch_); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
}

// Sorts on four processes. The elements of each share come from one process, then from the next.
class DeferredSorts : public testing::Test {
 protected:
  static constexpr unsigned kProcesses = 4;

  DeferredSorts() : keys_(test::random_keys(40'000, 1U << 20U)) {
    for (std::size_t place = 0; place < keys_.size(); ++place) {
      const auto sender = static_cast<std::uint32_t>(place * kProcesses / keys_.size());
      keys_[place] =
          ((keys_[place] % kProcesses * kProcesses + sender) << 20U) + keys_[place] / kProcesses;
    }
    io::test::write_file(folder_ / "in.u32", test::bytes_of(keys_));
    std::ranges::sort(keys_);
  }

  std::vector<RankReport> sort(std::vector<const char*> words, const std::string& output) {
    const std::string input = folder_ / "in.u32";
    for (const char* const word : {"-S", "40M", "--parallel=1", "-T"}) words.push_back(word);
    words.push_back(folder_.path().c_str());
    words.push_back(input.c_str());
    words.push_back("-o");
    words.push_back(output.c_str());
    const Options options = test::options_of(words);
    LocalNetwork network(kProcesses);
    test::Ended ended = test::sort_by(network, [&](unsigned rank) {
      Options own = options;
      if (!inputs_.empty()) own.inputs = {inputs_[rank]};
      return own;
    });
    EXPECT_EQ(ended.error, "");
    return std::move(ended.outcome.ranks);
  }

  // The text of all files; each process writes one.
  [[nodiscard]] std::string text() const {
    std::string all;
    for (unsigned rank = 0; rank < kProcesses; ++rank) {
      const auto bytes = io::test::read_file(folder_ / ("out-" + std::to_string(rank) + ".txt"));
      all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return all;
  }
  [[nodiscard]] std::string wanted_text() const {
    std::string all;
    for (const std::uint32_t key : keys_) all += std::to_string(key) + '\n';
    return all;
  }

  // Ranks 0 to 3 defer 0, 3/4, 2/4 and 1/4 of their share, give or take a part.
  void expect_deferred(const std::vector<RankReport>& reports) const {
    ASSERT_EQ(reports.size(), kProcesses);
    const std::uint64_t share = keys_.size() * sizeof(keys_.front()) / kProcesses;
    for (unsigned rank = 0; rank < kProcesses; ++rank) {
      const std::uint64_t deferred = rank == 0 ? 0 : share - share * rank / kProcesses;
      EXPECT_LE(reports[rank].deferred_bytes, deferred + share / 6) << rank;
      EXPECT_GE(reports[rank].deferred_bytes + share / 6, deferred) << rank;
    }
  }

  io::test::TempFolder folder_;
  test::Keys keys_;
  std::vector<std::string> inputs_;  // of each process, if they differ
};

// A process without input plans no runs, so none can be kept there.
TEST_F(DeferredSorts, StayInOrderIfOnePlansNoRuns) {
  const std::vector<std::byte> all = io::test::read_file(folder_ / "in.u32");
  const std::size_t quarter = all.size() / kProcesses;
  const std::size_t ends[] = {quarter, 3 * quarter, 3 * quarter, all.size()};
  for (unsigned rank = 0, begin = 0; rank < kProcesses; ++rank) {
    inputs_.push_back(folder_ / ("in-" + std::to_string(rank) + ".u32"));
    const auto own = std::span(all).subspan(begin, ends[rank] - begin);
    io::test::write_file(inputs_.back(), own);
    begin = static_cast<unsigned>(ends[rank]);
  }
  const auto reports = sort({"--parts", "--inputs-here"}, folder_ / "out-{rank}.txt");
  EXPECT_TRUE(text() == wanted_text());
  ASSERT_EQ(reports.size(), kProcesses);
  EXPECT_EQ(reports[2].elements_read, 0);
  for (const RankReport& report : reports) EXPECT_EQ(report.deferred_bytes, 0);
}

TEST_F(DeferredSorts, WriteTextInOrder) {
  const auto reports = sort({"--parts"}, folder_ / "out-{rank}.txt");
  EXPECT_TRUE(text() == wanted_text());
  expect_deferred(reports);
}

TEST_F(DeferredSorts, DropRepeatedKeysInOrder) {
  const auto reports = sort({"-u"}, folder_ / "out.u32");
  expect_deferred(reports);
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  const ConstByteSpan wanted = test::bytes_of(keys_);
  EXPECT_TRUE(std::ranges::equal(io::test::read_file(folder_ / "out.u32"), wanted));
}

TEST_F(DeferredSorts, DropRepeatedRecordsInOrder) {
  std::vector<std::byte> records;
  const auto append = [&](std::uint32_t key) {
    const auto bytes = std::as_bytes(std::span(&key, 1));
    records.insert(records.end(), bytes.begin(), bytes.end());
    records.resize(records.size() + 8, std::byte{7});
  };
  const std::vector<std::byte> input = io::test::read_file(folder_ / "in.u32");
  const std::span keys(reinterpret_cast<const std::uint32_t*>(input.data()), keys_.size());
  for (const std::uint32_t key : keys) append(key);
  io::test::write_file(folder_ / "in.u32", records);
  const auto reports = sort({"-u", "--record=12", "--key=0:u32"}, folder_ / "out.dat");
  ASSERT_EQ(reports.size(), kProcesses);
  EXPECT_GT(reports[1].deferred_bytes, 0);
  records.clear();
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  for (const std::uint32_t key : keys_) append(key);
  EXPECT_TRUE(io::test::read_file(folder_ / "out.dat") == records);
}

TEST_F(DeferredSorts, WriteTheFirstInOrder) {
  const auto reports = sort({"-u", "--top=30000", "--parts"}, folder_ / "out-{rank}.txt");
  ASSERT_EQ(reports.size(), kProcesses);
  EXPECT_GT(reports[1].deferred_bytes, 0);
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  keys_.resize(std::min<std::size_t>(keys_.size(), 30'000));
  EXPECT_TRUE(text() == wanted_text());
}

TEST_F(DeferredSorts, WriteKeysAsTheyAre) {
  for (const RankReport& report : sort({}, folder_ / "out.u32")) {
    EXPECT_EQ(report.deferred_bytes, 0);
  }
  EXPECT_TRUE(std::ranges::equal(io::test::read_file(folder_ / "out.u32"), test::bytes_of(keys_)));
}

}  // namespace
}  // namespace gsort::cluster
