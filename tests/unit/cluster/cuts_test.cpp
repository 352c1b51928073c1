#include "cluster/cuts/cuts.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "cluster/cuts/run_blocks.hpp"
#include "cluster/message.hpp"
#include "io/system/memory.hpp"
#include "support/runs_on_disk.hpp"
#include "unit/cluster/local_team.hpp"

namespace gsort::cluster {
namespace {

using test::LocalNetwork;

// An element as words of its key; the last word may be all that tells elements apart.
using Words = std::vector<std::uint64_t>;
using SortedRun = std::vector<Words>;

// Runs in memory, with a fence at every `block` elements.
class MemoryCounts : public RunCounts {
 public:
  MemoryCounts(const std::vector<SortedRun>& runs, std::size_t words, unsigned slots,
               std::size_t block)
      : runs_(runs), words_(words), slots_(slots), block_(block) {}

  [[nodiscard]] std::size_t runs() const override { return runs_.size(); }
  [[nodiscard]] std::uint64_t elements(std::size_t run) const override { return runs_[run].size(); }
  [[nodiscard]] unsigned slots() const override { return slots_; }
  [[nodiscard]] std::size_t words() const override { return words_; }
  [[nodiscard]] std::uint64_t greatest() const override { return ~std::uint64_t{0}; }
  [[nodiscard]] Bounds bounds(std::size_t run, std::uint64_t value) const override {
    const std::size_t begin = blocks_up_to(run, value) * block_;
    if (begin == 0) return {};
    return {begin - block_ + 1, std::min(begin, runs_[run].size())};
  }
  [[nodiscard]] std::uint64_t expected(std::size_t run, std::uint64_t value) const override {
    const SortedRun& elements = runs_[run];
    const std::size_t end = blocks_up_to(run, value) * block_;
    if (end == 0) return 0;
    const std::size_t begin = end - block_;
    const std::uint64_t first = elements[begin][0];
    const std::size_t last = std::min(end, elements.size());
    double width = 0;
    if (end < elements.size()) {
      width = static_cast<double>(elements[end][0] - first);
    } else if (begin > 0) {
      width = static_cast<double>(first - elements[begin - block_][0]) *
              static_cast<double>(last - begin) / static_cast<double>(block_);
    }
    const double share = std::min(1.0, static_cast<double>(value - first) / std::max(1.0, width));
    return begin + static_cast<std::uint64_t>(share * static_cast<double>(last - begin));
  }
  [[nodiscard]] std::uint64_t count(unsigned slot, std::size_t run, std::size_t word,
                                    std::uint64_t value, std::uint64_t low,
                                    std::uint64_t high) override {
    EXPECT_LT(slot, slots_);
    EXPECT_LE(low, high);
    const auto begin = runs_[run].begin();
    const auto found = std::partition_point(begin + static_cast<std::ptrdiff_t>(low),
                                            begin + static_cast<std::ptrdiff_t>(high),
                                            [&](const Words& key) { return key[word] <= value; });
    return static_cast<std::uint64_t>(found - begin);
  }
  [[nodiscard]] std::uint64_t value_at(unsigned slot, std::size_t run, std::size_t word,
                                       std::uint64_t position) override {
    EXPECT_LT(slot, slots_);
    return runs_[run][position][word];
  }

 private:
  [[nodiscard]] std::size_t blocks_up_to(std::size_t run, std::uint64_t value) const {
    const SortedRun& elements = runs_[run];
    std::size_t blocks = 0;
    while (blocks * block_ < elements.size() && elements[blocks * block_][0] <= value) ++blocks;
    return blocks;
  }
  const std::vector<SortedRun>& runs_;
  std::size_t words_;
  unsigned slots_;
  std::size_t block_;
};

struct Place {
  const Words* key;
  unsigned rank;
  std::size_t run;
};

// For every position: the elements before it, of each run of each rank. `order`: of all runs.
std::vector<std::vector<Cuts>> cuts_one_by_one(const std::vector<std::vector<SortedRun>>& ranks,
                                               const std::vector<std::uint64_t>& positions,
                                               const std::vector<std::uint64_t>& order) {
  std::vector<std::vector<Place>> runs;
  std::vector<Cuts> cuts;
  for (unsigned rank = 0; rank < ranks.size(); ++rank) {
    cuts.emplace_back(ranks[rank].size(), 0);
    for (std::size_t run = 0; run < ranks[rank].size(); ++run) {
      runs.emplace_back();
      for (const Words& key : ranks[rank][run]) runs.back().push_back({&key, rank, run});
    }
  }
  std::vector<Place> all;
  for (std::size_t place = 0; place < runs.size(); ++place) {
    const std::vector<Place>& run = runs[order.empty() ? place : order[place]];
    all.insert(all.end(), run.begin(), run.end());
  }
  std::ranges::stable_sort(all, [](const Place& a, const Place& b) { return *a.key < *b.key; });
  std::vector<std::vector<Cuts>> found;
  std::size_t at = 0;
  for (const std::uint64_t position : positions) {
    for (; at < position; ++at) ++cuts[all[at].rank][all[at].run];
    found.push_back(cuts);
  }
  return found;
}

// The order as process `rank` knows it.
RunOrder order_of(const std::vector<std::vector<SortedRun>>& ranks, unsigned rank,
                  const std::vector<std::uint64_t>& order) {
  RunOrder known{order, {}};
  if (order.empty()) return known;
  std::uint64_t first = 0;
  for (unsigned other = 0; other < rank; ++other) first += ranks[other].size();
  for (std::size_t run = 0; run < ranks[rank].size(); ++run) {
    const auto place = std::ranges::find(order, first + run) - order.begin();
    known.places.push_back(static_cast<std::uint64_t>(place));
  }
  return known;
}

std::uint64_t total_of(const std::vector<std::vector<SortedRun>>& ranks) {
  std::uint64_t total = 0;
  for (const auto& runs : ranks) {
    for (const auto& run : runs) total += run.size();
  }
  return total;
}

void expect_exact(const std::vector<std::vector<SortedRun>>& ranks, std::size_t words,
                  const std::vector<std::uint64_t>& positions, std::uint64_t seed,
                  std::size_t block = 5, const std::vector<std::uint64_t>& order = {}) {
  const auto expected = cuts_one_by_one(ranks, positions, order);
  LocalNetwork network(static_cast<unsigned>(ranks.size()), seed);
  test::run_job(network, [&](Team& team) {
    MemoryCounts counts(ranks[team.rank()], words, static_cast<unsigned>(1 + seed * 7 % 16), block);
    const std::vector<Cuts> cuts =
        find_cuts(team, counts, total_of(ranks), positions, static_cast<unsigned>(1 + seed % 4),
                  nullptr, order_of(ranks, team.rank(), order));
    ASSERT_EQ(cuts.size(), positions.size());
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      ASSERT_EQ(cuts[i], expected[i][team.rank()])
          << "position " << positions[i] << " rank " << team.rank() << " seed " << seed;
    }
  });
}

template <class MakeWord>
std::vector<std::vector<SortedRun>> made_ranks(unsigned ranks, std::size_t words,
                                               std::size_t most_elements, std::mt19937_64& random,
                                               const MakeWord& make) {
  std::vector<std::vector<SortedRun>> made(ranks);
  for (auto& runs : made) {
    runs.resize(random() % 4);
    for (SortedRun& run : runs) {
      run.resize(random() % most_elements);
      for (Words& key : run) {
        for (std::size_t word = 0; word < words; ++word) key.push_back(make(random));
      }
      std::ranges::sort(run);
    }
  }
  return made;
}

std::vector<std::uint64_t> all_up_to(std::uint64_t total) {
  std::vector<std::uint64_t> positions;
  for (std::uint64_t position = 0; position <= total; ++position) positions.push_back(position);
  return positions;
}

// Tries GSORT_CUTS sets of runs; keys of every other set have two words.
TEST(Cuts, AreThoseOfOneProcess) {
  std::mt19937_64 random(7);
  for (std::uint64_t seed = 0; seed < test::number_in("GSORT_CUTS", 16); ++seed) {
    const auto ranks = static_cast<unsigned>(1 + random() % 8);
    const std::size_t words = 1 + seed % 2;
    const std::uint64_t values = std::uint64_t{1} << (random() % (words == 1 ? 64 : 8));
    const auto runs = made_ranks(ranks, words, 1 + random() % 40, random,
                                 [&](auto& r) { return r() & 1 ? r() % values : ~(r() % values); });
    expect_exact(runs, words, all_up_to(total_of(runs)), seed);
  }
}

TEST(Cuts, KeepTheOrderOfRanksAmongTies) {
  std::mt19937_64 random(8);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto runs = made_ranks(4, 1, 20, random, [](auto& r) { return r() % 2; });
    expect_exact(runs, 1, all_up_to(total_of(runs)), seed);
  }
}

TEST(Cuts, KeepAnyOrderOfRunsAmongTies) {
  std::mt19937_64 random(12);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::size_t words = 1 + seed % 2;
    const auto runs = made_ranks(4, words, 20, random, [](auto& r) { return r() % 2; });
    std::vector<std::uint64_t> order;
    for (const auto& rank : runs) {
      for (std::size_t run = 0; run < rank.size(); ++run) order.push_back(order.size());
    }
    std::ranges::shuffle(order, random);
    expect_exact(runs, words, all_up_to(total_of(runs)), seed, 5, order);
  }
}

TEST(Cuts, GoOnToTheNextWordAmongTies) {
  std::mt19937_64 random(9);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto runs = made_ranks(3, 3, 20, random, [](auto& r) { return r() % 2 * ~0ULL; });
    expect_exact(runs, 3, all_up_to(total_of(runs)), seed);
  }
}

TEST(Cuts, TakeTheLeastAndTheGreatestValue) {
  expect_exact({{{{0}, {~0ULL}}}, {{{0}, {0}, {~0ULL}}}, {}}, 1, all_up_to(5), 1);
  expect_exact({{{{~0ULL}, {~0ULL}}}, {{{~0ULL}}}}, 1, all_up_to(3), 2);
  expect_exact({{}, {{}}}, 1, {0, 0}, 3);
}

// The bytes that reading a block of these runs takes, on average.
double bytes_of_a_block(gsort::test::RunsOnDisk& runs, std::size_t block_bytes) {
  const std::uint64_t before = runs.store().bytes_read();
  std::vector<std::byte> elements(block_bytes);
  const io::Arena scratch(runs.store().scratch_bytes(), "the test");
  std::size_t blocks = 0;
  for (const io::Run& run : runs.runs()) {
    for (std::size_t block = 0; block < run.fences().block_count(); ++block) {
      (void)run.read_block(block, elements, scratch.bytes());
      ++blocks;
    }
  }
  return static_cast<double>(runs.store().bytes_read() - before) / static_cast<double>(blocks);
}

// The cost of a search, and how many blocks it read for a position and run of all processes.
struct Measured {
  CutCost cost;
  std::uint64_t rounds = 0;  // as seen on the network: there and back
  double blocks = 0;
};

// Searches random keys in four processes with three runs each. Parts have at least two blocks of
// each run, as those of a sort do.
template <class Key>
Measured measured(std::uint64_t borders, std::size_t block, std::uint64_t seed) {
  constexpr std::size_t kRunKeys = 8'200;
  constexpr std::size_t kRuns = 12;
  std::mt19937_64 random(seed);
  std::vector<std::vector<std::vector<Key>>> ranks(4, std::vector<std::vector<Key>>(kRuns / 4));
  std::vector<Key> all;
  for (auto& runs : ranks) {
    for (std::vector<Key>& run : runs) {
      run.resize(kRunKeys);
      std::ranges::generate(run, [&] { return static_cast<Key>(random()); });
      std::ranges::sort(run);
      all.insert(all.end(), run.begin(), run.end());
    }
  }
  std::ranges::sort(all);
  std::vector<std::uint64_t> positions;
  for (std::uint64_t i = 1; i <= borders; ++i) positions.push_back(all.size() * i / (borders + 1));
  LocalNetwork network(4, seed);
  std::uint32_t last_number = 0;  // of a step that all processes take together
  network.set_liar([&](unsigned, unsigned, const Message& message) {
    const Envelope envelope = test::envelope_of(message);
    if (envelope.kind == MessageKind::kCollective) {
      last_number = std::max(last_number, envelope.number);
    }
    return 1U;
  });
  Measured measured;
  std::mutex mutex;
  test::run_job(network, [&](Team& team) {
    gsort::test::RunsOnDisk runs(sizeof(Key), block, {}, Packing::kOff);
    for (const std::vector<Key>& run : ranks[team.rank()]) runs.add(std::as_bytes(std::span(run)));
    RunBlocks counts(runs.to_cut(), static_cast<unsigned>(borders));
    CutCost own;
    const std::vector<Cuts> cuts = find_cuts(team, counts, all.size(), positions, 1, &own);
    std::uint64_t before[3] = {};  // of a cut, all elements in front of it and none behind it
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const Key last = all[positions[i] - 1];
      for (std::size_t run = 0; run < cuts[i].size(); ++run) {
        const std::vector<Key>& keys = ranks[team.rank()][run];
        const std::uint64_t cut = cuts[i][run];
        EXPECT_LE(cut > 0 ? keys[cut - 1] : 0, last);
        EXPECT_GE(cut < keys.size() ? keys[cut] : last, last);
        EXPECT_GE(cut, std::exchange(before[run], cut));
      }
    }
    const auto read = static_cast<double>(runs.store().bytes_read());
    const double blocks = read / bytes_of_a_block(runs, block * sizeof(Key));
    const std::scoped_lock lock(mutex);
    measured.blocks += blocks / static_cast<double>(positions.size() * kRuns);
    if (team.rank() == 0) measured.cost = own;
  });
  // The numbers 0 and 1 are of the processes' names.
  measured.rounds = (last_number - 1) / 2;
  EXPECT_EQ(measured.rounds, measured.cost.fence_rounds + measured.cost.rounds) << seed;
  return measured;
}

void expect_cheap(const Measured& found, std::uint64_t rounds, std::uint64_t sum_bytes) {
  EXPECT_LE(found.rounds, rounds);
  EXPECT_LE(found.cost.sum_bytes, sum_bytes);
  EXPECT_LE(found.blocks, 2);
}

TEST(Cuts, TakeFewRoundsOfRandomKeysForBordersOfProcesses) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    expect_cheap(measured<std::uint32_t>(3, 512, seed), 6, 3 * 3'000);
    expect_cheap(measured<std::uint64_t>(3, 512, seed), 6, 3 * 3'000);
  }
}

TEST(Cuts, TakeFewBytesOfRandomKeysForBordersOfParts) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    expect_cheap(measured<std::uint32_t>(63, 64, seed), 6, 63 * 1'200);
    expect_cheap(measured<std::uint64_t>(63, 64, seed), 6, 63 * 1'200);
  }
}

TEST(Cuts, RefuseRunsThatAreNotInOrder) {
  const std::vector<std::vector<SortedRun>> ranks = {{{{9}, {3}, {7}, {1}}}, {{{2}, {4}}}};
  LocalNetwork network(2);
  const std::string error = test::error_of_job(network, [&](Team& team) {
    MemoryCounts counts(ranks[team.rank()], 1, 1, 2);
    const std::vector<std::uint64_t> positions = all_up_to(6);
    const std::vector<Cuts> cuts = find_cuts(team, counts, 6, positions, 1);
    // The cuts nevertheless add up to the positions.
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      std::uint64_t total = cuts[i].front();
      team.sum(std::span(&total, 1));
      EXPECT_EQ(total, positions[i]);
    }
  });
  EXPECT_TRUE(error.empty() || error.find("not in order") != std::string::npos) << error;
}

// Calls functions before it looks at fences or counts.
class WatchedCounts final : public MemoryCounts {
 public:
  WatchedCounts(const std::vector<SortedRun>& runs, std::size_t block,
                std::function<void()> on_bounds, std::function<void(unsigned slot)> on_count)
      : MemoryCounts(runs, 1, 8, block),
        on_bounds_(std::move(on_bounds)),
        on_count_(std::move(on_count)) {}
  [[nodiscard]] Bounds bounds(std::size_t run, std::uint64_t value) const override {
    on_bounds_();
    return MemoryCounts::bounds(run, value);
  }
  [[nodiscard]] std::uint64_t count(unsigned slot, std::size_t run, std::size_t word,
                                    std::uint64_t value, std::uint64_t low,
                                    std::uint64_t high) override {
    on_count_(slot);
    return MemoryCounts::count(slot, run, word, value, low, high);
  }

 private:
  std::function<void()> on_bounds_;
  std::function<void(unsigned slot)> on_count_;
};

std::vector<SortedRun> one_run_of(std::uint64_t keys) {
  std::vector<SortedRun> runs(1);
  for (std::uint64_t key = 0; key < keys; ++key) runs[0].push_back({key << 50U});
  return runs;
}

// A round of 496 searches of fences, and then one of 248 counts, takes 4 s, which is longer than
// the other process waits for a silent one.
TEST(Cuts, TellOthersOfAProcessThatReadsForLong) {
  const std::vector<SortedRun> runs = one_run_of(1000);
  LocalNetwork network(2, 1);
  const auto job = [&](Team& team) {
    std::vector<std::uint64_t> positions;
    for (std::uint64_t at = 1001; at < 1017; at += 2) positions.push_back(at);
    const auto slow = [&](int& left, int ms) {
      if (team.rank() == 0 || left == 0) return;
      --left;
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    };
    int bounds_left = 496;
    int counts_left = 248;
    WatchedCounts watched(
        runs, 1000, [&] { slow(bounds_left, 8); }, [&](unsigned) { slow(counts_left, 16); });
    const auto cuts = find_cuts(team, watched, 2000, positions, 1);
    EXPECT_EQ(cuts[0][0], team.rank() == 0 ? 501U : 500U);
    EXPECT_EQ(cuts[7][0], team.rank() == 0 ? 508U : 507U);
  };
  test::run_job(network, job, [](const Peers&) {
    TeamOptions options;
    options.peer_timeout = std::chrono::seconds(3);
    return options;
  });
}

std::string error_of_cuts(const std::function<void(unsigned slot)>& on_count) {
  const std::vector<SortedRun> runs = one_run_of(1000);
  LocalNetwork network(1);
  return test::error_of_job(network, [&](Team& team) {
    const std::vector<std::uint64_t> positions = {201, 403, 605, 807};
    WatchedCounts watched(
        runs, 100, [] {}, on_count);
    for (std::size_t i = 0; const Cuts& cuts : find_cuts(team, watched, 1000, positions, 4)) {
      EXPECT_EQ(cuts[0], positions[i++]);
    }
  });
}

// The first one waits for a second one.
TEST(Cuts, ReadForSeveralPositionsAtOnceButNotForOne) {
  std::mutex mutex;
  std::condition_variable came;
  std::set<unsigned> reading;
  bool have_met = false;
  bool has_waited = false;
  const std::string error = error_of_cuts([&](unsigned slot) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(reading.insert(slot).second);
    have_met = have_met || reading.size() > 1;
    came.notify_all();
    if (!has_waited) came.wait_for(lock, std::chrono::seconds(20), [&] { return have_met; });
    has_waited = true;
    reading.erase(slot);
  });
  EXPECT_EQ(error, "");
  EXPECT_TRUE(have_met);
}

TEST(Cuts, EndWithWhatReadingThrows) {
  const std::string error = error_of_cuts([](unsigned slot) {
    if (slot == 2) throw Error(ErrorKind::kTemporary, "reading a block", "the disk is gone");
  });
  EXPECT_NE(error.find("the disk is gone"), std::string::npos) << error;
}

}  // namespace
}  // namespace gsort::cluster
