// Whole exchanges in one process: every rank has runs in a folder of its own, cuts them with the
// others, and merges its parts. Messages take random times, so every test sees other schedules.
#include "cluster/exchange.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "cluster/cuts/run_blocks.hpp"
#include "cluster/frame.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "engine/footprint.hpp"
#include "engine/record_footprint.hpp"
#include "support/runs_on_disk.hpp"
#include "support/sorted_copy.hpp"
#include "unit/cluster/local_team.hpp"

namespace gsort::cluster {
namespace {

using gsort::test::raw_of;
using test::LocalNetwork;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kBlockElements = 50;

// The elements that are exchanged, by rank and run; each run is in order.
struct Elements {
  KeyFormat key{KeyType::kU64};
  std::optional<RecordFormat> records = {};
  std::vector<std::vector<Bytes>> runs = {};

  [[nodiscard]] std::uint64_t bytes() const {
    return records ? records->bytes : bytes_of(key.type);
  }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t total = 0;
    for (const auto& rank : runs) {
      for (const Bytes& run : rank) total += run.size() / bytes();
    }
    return total;
  }
  // All of them in order, equal ones as they are.
  [[nodiscard]] Bytes merged() const {
    std::vector<Bytes> all;
    for (const auto& rank : runs) {
      for (const Bytes& run : rank) {
        for (std::size_t at = 0; at < run.size(); at += bytes()) {
          const auto begin = run.begin() + static_cast<std::ptrdiff_t>(at);
          all.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(bytes()));
        }
      }
    }
    std::ranges::stable_sort(all, [&](const Bytes& a, const Bytes& b) { return before(a, b); });
    Bytes merged;
    for (const Bytes& element : all) merged.insert(merged.end(), element.begin(), element.end());
    return merged;
  }
  [[nodiscard]] bool before(const Bytes& a, const Bytes& b) const {
    if (records) return RecordOrder(*records).compare(a.data(), b.data()) < 0;
    std::uint64_t left = 0;
    std::uint64_t right = 0;
    std::memcpy(&left, a.data(), a.size());
    std::memcpy(&right, b.data(), b.size());
    return left < right;
  }
};

// The whole output, in memory.
class OutputInMemory final : public PieceSink {
 public:
  OutputInMemory(Bytes& output, std::uint64_t element_bytes)
      : output_(output), element_bytes_(element_bytes) {}
  void put(std::uint64_t position, ConstByteSpan keys) override {
    ASSERT_LE(position * element_bytes_ + keys.size(), output_.size());
    std::memcpy(output_.data() + position * element_bytes_, keys.data(), keys.size());
  }

 private:
  Bytes& output_;
  std::uint64_t element_bytes_;
};

struct Exchanged {
  Bytes output;
  std::vector<std::optional<Verdict>> verdicts;
  std::vector<Statistics> costs;
};

void exchange_one(Team& team, const Elements& elements, std::uint64_t part_elements,
                  unsigned lane_count, Exchanged& exchanged) {
  gsort::test::RunsOnDisk runs(elements.bytes(), kBlockElements, elements.records);
  for (const Bytes& run : elements.runs[team.rank()]) runs.add(run);
  const PartTable parts({elements.count(), team.count(), part_elements, 1, 0});
  RunBlocks counts(runs.to_cut(), 3);
  const std::vector<Cuts> cuts = find_cuts(team, counts, elements.count(), parts.borders(), 2);
  const std::uint64_t lane_bytes =
      elements.records ? CpuRecordMergeFootprint::of(part_elements, elements.bytes()).arena_bytes()
                       : CpuMergeFootprint::of(part_elements, elements.bytes()).arena_bytes();
  const io::Arena arena(lane_bytes * lane_count, "the test");
  EngineShape shape;
  shape.format = elements.key;
  shape.records = elements.records;
  const auto engine = cpu::make_cpu_engine(shape, arena.bytes());
  const auto lanes = engine->make_merge_lanes(lane_count, part_elements);
  const std::uint64_t scratch =
      exchange_scratch_bytes(runs.store().scratch_bytes(), elements.bytes());
  const io::Arena scratches(2 * scratch, "the test");
  OutputInMemory sink(exchanged.output, elements.bytes());
  const ExchangeContext context{
      runs_to_exchange(runs.runs()),
      parts,
      cuts,
      elements.bytes(),
      true,
      lanes,
      {scratches.bytes().first(scratch), scratches.bytes().subspan(scratch)}};
  exchange(team, context, sink, exchanged.costs[team.rank()]);
}

Exchanged exchanged(const Elements& elements, LocalNetwork& network, std::uint64_t part_elements,
                    unsigned lanes = 2) {
  Exchanged result;
  result.output.resize(elements.count() * elements.bytes());
  result.costs.resize(network.count());
  result.verdicts = test::verdicts_of(
      network, [&](Team& team) { exchange_one(team, elements, part_elements, lanes, result); },
      [](const Peers&) {
        TeamOptions options;
        options.peer_timeout = std::chrono::seconds(20);
        return options;
      });
  return result;
}

void expect_merged(const Elements& elements, std::uint64_t seed, std::uint64_t part_elements) {
  LocalNetwork network(static_cast<unsigned>(elements.runs.size()), seed);
  const Exchanged result = exchanged(elements, network, part_elements);
  for (const auto& verdict : result.verdicts) ASSERT_FALSE(verdict) << verdict->text;
  EXPECT_TRUE(result.output == elements.merged()) << "seed " << seed;
}

template <class Key, class Make>
Elements keys_of(unsigned ranks, std::size_t most, std::mt19937_64& random, const Make& make) {
  Elements elements;
  elements.key.type = sizeof(Key) == 8 ? KeyType::kU64 : KeyType::kU32;
  for (unsigned rank = 0; rank < ranks; ++rank) {
    auto& runs = elements.runs.emplace_back();
    for (std::uint64_t run = random() % 4; run > 0; --run) {
      std::vector<Key> keys(random() % most);
      for (Key& key : keys) key = static_cast<Key>(make(random, rank));
      std::ranges::sort(keys);
      runs.push_back(raw_of(keys));
    }
  }
  return elements;
}

// Calls `test` with a seed for each random schedule: as many as GSORT_SCHEDULES says, from the seed
// GSORT_FIRST_SCHEDULE on. Prints where it is, and stops at the first seed that fails.
template <class Test>
void for_each_schedule(const Test& test) {
  constexpr std::uint64_t kBetweenLines = 50;
  const std::uint64_t first = test::number_in("GSORT_FIRST_SCHEDULE", 0);
  const std::uint64_t count = test::number_in("GSORT_SCHEDULES", 6);
  for (std::uint64_t done = 0; done < count; ++done) {
    const std::uint64_t seed = first + done;
    std::mt19937_64 random(seed);
    test(seed, random);
    ASSERT_FALSE(testing::Test::HasFailure())
        << "repeat with GSORT_SCHEDULES=1 GSORT_FIRST_SCHEDULE=" << seed;
    if ((done + 1) % kBetweenLines == 0) {
      std::printf("schedule %ju of %ju, seed %ju\n", std::uintmax_t{done + 1},
                  std::uintmax_t{count}, std::uintmax_t{seed});
      std::fflush(stdout);
    }
  }
}

TEST(Exchange, MergesRandomKeysOfAllRanks) {
  for_each_schedule([&](std::uint64_t seed, auto& random) {
    const auto ranks = static_cast<unsigned>(1 + seed % 5);
    expect_merged(keys_of<std::uint64_t>(ranks, 700, random, [](auto& r, auto) { return r(); }),
                  seed, 1 + random() % 100);
    expect_merged(
        keys_of<std::uint32_t>(ranks, 700, random, [](auto& r, auto) { return r() % 1000; }), seed,
        1 + random() % 100);
  });
}

TEST(Exchange, MergesKeysThatAllLieInOnePlace) {
  for_each_schedule([&](std::uint64_t seed, auto& random) {
    expect_merged(keys_of<std::uint64_t>(4, 500, random, [](auto&, auto) { return 7; }), seed, 64);
    expect_merged(keys_of<std::uint64_t>(
                      4, 500, random, [](auto& r, auto rank) { return rank * 1000 + r() % 900; }),
                  seed, 64);
    expect_merged(
        keys_of<std::uint64_t>(4, 500, random,
                               [](auto& r, auto rank) { return (3 - rank) * 1000 + r() % 900; }),
        seed, 64);
  });
}

TEST(Exchange, MergesFewElements) {
  for_each_schedule([&](std::uint64_t seed, auto& random) {
    expect_merged(keys_of<std::uint32_t>(5, 3, random, [](auto& r, auto) { return r() % 4; }), seed,
                  1 + random() % 3);
  });
}

TEST(Exchange, KeepsTheOrderOfEqualRecords) {
  RecordFormat format;
  format.bytes = 24;
  format.keys = {KeyField{2, 12, {}, false, false}};
  const RecordOrder order(format);
  for_each_schedule([&](std::uint64_t seed, auto& random) {
    Elements elements;
    elements.records = format;
    std::uint64_t number = 0;  // tells equal records apart
    for (unsigned rank = 0; rank < 4; ++rank) {
      auto& runs = elements.runs.emplace_back();
      for (std::uint64_t run = random() % 3; run > 0; --run) {
        std::vector<Bytes> records(random() % 300, Bytes(format.bytes));
        for (Bytes& record : records) {
          record[9] = std::byte(random() % 2);
          record[13] = std::byte(random() % 3);
          std::memcpy(record.data() + 16, &number, sizeof number);
          ++number;
        }
        std::ranges::stable_sort(records, [&](const Bytes& a, const Bytes& b) {
          return order.compare(a.data(), b.data()) < 0;
        });
        Bytes& bytes = runs.emplace_back();
        for (const Bytes& record : records) {
          bytes.insert(bytes.end(), record.begin(), record.end());
        }
      }
    }
    expect_merged(elements, seed, 1 + random() % 80);
  });
}

TEST(Exchange, SendsNothingOfSortedInput) {
  Elements elements;
  for (std::uint64_t rank = 0; rank < 3; ++rank) {
    const std::vector<std::uint64_t> keys(1000, 5);
    elements.runs.push_back({raw_of(keys)});
  }
  LocalNetwork network(3);
  for (const Statistics& cost : exchanged(elements, network, 100).costs) {
    EXPECT_EQ(cost.sent_frames, 0);
    EXPECT_EQ(cost.own_bytes, 8000);
  }
}

TEST(Exchange, PacksKeysOnTheWay) {
  std::mt19937_64 random(5);
  Elements elements{.key = {KeyType::kU32}, .runs = std::vector<std::vector<Bytes>>(2)};
  for (auto& runs : elements.runs) {
    std::vector<std::uint32_t> keys(40'000);
    for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random());
    std::ranges::sort(keys);
    runs = {raw_of(keys)};
  }
  LocalNetwork network(2);
  for (const Statistics& cost : exchanged(elements, network, 40'000).costs) {
    EXPECT_GT(cost.sent_bytes, 60'000);
    EXPECT_LT(cost.sent_frame_bytes, cost.sent_bytes * 3 / 4);
  }
}

// Parts are so many that their counts take several messages, and so are the frames of a slice.
TEST(Exchange, SplitsWhatIsLongerThanAMessage) {
  std::mt19937_64 random(7);
  for (const auto& [most, part_elements] : {std::pair(300U, 3U), {3000U, 2000U}}) {
    const Elements elements =
        keys_of<std::uint64_t>(3, most, random, [](auto& r, auto) { return r(); });
    LocalNetwork network(3);
    network.set_most_message_bytes(1000);
    int counts = 0;
    network.set_liar([&](unsigned, unsigned, Message& message) {
      if (test::envelope_of(message).kind == MessageKind::kCounts) ++counts;
      return 1U;
    });
    const Exchanged result = exchanged(elements, network, part_elements);
    for (const auto& verdict : result.verdicts) ASSERT_FALSE(verdict) << verdict->text;
    EXPECT_TRUE(result.output == elements.merged());
    // One from each to each other is too few.
    EXPECT_GT(counts, part_elements == 3 ? 6 : 0);
  }
}

// All that rank 0 has goes to rank 1, and no block is read for two frames.
TEST(Exchange, EndsFramesWhereBlocksEnd) {
  Elements elements;
  for (const std::uint64_t first : {1000U, 0U}) {
    std::vector<std::uint64_t> keys(1000);
    std::iota(keys.begin(), keys.end(), first);
    elements.runs.push_back({raw_of(keys)});
  }
  LocalNetwork network(2);
  network.set_most_message_bytes(1000);  // 118 keys
  std::vector<std::uint64_t> ends;
  network.set_liar([&](unsigned from, unsigned, Message& message) {
    if (test::envelope_of(message).kind == MessageKind::kFrame && from == 0) {
      const FramePlace place = Frame(message).place();
      ends.push_back(place.begin + place.count);
    }
    return 1U;
  });
  EXPECT_TRUE(exchanged(elements, network, 1000).output == elements.merged());
  std::ranges::sort(ends);
  EXPECT_EQ(ends, (std::vector<std::uint64_t>{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}));
}

// The network changes one frame of many.
class ExchangeOverABadNetwork : public testing::Test {
 protected:
  static void expect_error(const std::function<unsigned(Message&)>& lie, const char* reason) {
    std::mt19937_64 random(6);
    Elements full{.runs = std::vector<std::vector<Bytes>>(3)};
    for (auto& runs : full.runs) {
      std::vector<std::uint64_t> keys(2000);
      for (std::uint64_t& key : keys) key = random();
      std::ranges::sort(keys);
      runs = {raw_of(keys)};
    }
    LocalNetwork network(3);
    int frames = 0;
    network.set_liar([&](unsigned from, unsigned, Message& message) {
      const bool is_frame = test::envelope_of(message).kind == MessageKind::kFrame;
      const bool is_chosen = is_frame && from == 1 && ++frames == 3;
      return is_chosen ? lie(message) : 1U;
    });
    const Exchanged result = exchanged(full, network, 64);
    ASSERT_TRUE(result.verdicts[0]);
    EXPECT_NE(result.verdicts[0]->text.find(reason), std::string::npos) << result.verdicts[0]->text;
    for (const auto& verdict : result.verdicts) {
      ASSERT_TRUE(verdict);
      EXPECT_EQ(verdict->text, result.verdicts[0]->text);
    }
  }
};

TEST_F(ExchangeOverABadNetwork, FindsAFlippedBit) {
  for (const std::size_t at : {100U, 60U}) {
    expect_error(
        [at](Message& message) {
          message[std::min(at, message.size() - 1)] ^= std::byte{4};
          return 1U;
        },
        "a frame is damaged");
  }
}

TEST_F(ExchangeOverABadNetwork, FindsAFrameThatClaimsAnotherPlace) {
  expect_error(
      [](Message& message) {
        message[sizeof(Envelope) + 8] ^= std::byte{0x40};  // the part
        return 1U;
      },
      "a frame has a place that was not asked for");
}

TEST_F(ExchangeOverABadNetwork, FindsAFrameThatIsCutShort) {
  const auto cut = [](std::size_t left) {
    return [left](Message& message) {
      message.resize(std::min(left, message.size() - 1));
      return 1U;
    };
  };
  expect_error(cut(SIZE_MAX), "a frame is damaged");
  expect_error(cut(sizeof(Envelope) + kFrameHeadBytes - 1), "it is malformed");
}

TEST_F(ExchangeOverABadNetwork, FindsALostFrameAndOneThatComesTwice) {
  for (const unsigned copies : {0U, 2U}) {
    expect_error([=](Message&) { return copies; }, "a frame was lost or arrived twice");
  }
}

}  // namespace
}  // namespace gsort::cluster
