// gsort-mpi by threads of one process: for every number of processes, distribution and kind of
// elements, the bytes are those of a stable sort, and every process writes an exact share. None
// sends more than it does if keys are in random order.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/part_table.hpp"
#include "io/system/sys.hpp"
#include "pipeline/share/share_range.hpp"
#include "support/some_of.hpp"
#include "unit/cluster/sort_words.hpp"
#include "unit/io/support.hpp"

namespace gsort::cluster {
namespace {

using test::LocalNetwork;
using test::options_of;
using Bytes = std::vector<std::byte>;

// The key of place i of n.
struct Distribution {
  const char* name;
  std::function<std::uint64_t(std::uint64_t i, std::uint64_t n, std::mt19937_64& random)> key;
};

std::uint64_t skewed(std::mt19937_64& random) {
  const double place = static_cast<double>(random() >> 11) * 0x1p-53;
  return static_cast<std::uint64_t>(std::pow(1e9, place));  // small ones are frequent
}

const std::vector<Distribution>& distributions() {
  static const std::vector<Distribution> kAll = {
      {"random", [](auto, auto, auto& random) { return random(); }},
      {"equal", [](auto, auto, auto&) { return 7; }},
      {"few", [](auto, auto, auto& random) { return random() % 3; }},
      {"sorted", [](auto i, auto, auto&) { return i; }},
      {"reversed", [](auto i, auto n, auto&) { return n - i; }},
      {"saw", [](auto i, auto, auto&) { return i % 97; }},
      {"organ pipe", [](auto i, auto n, auto&) { return std::min(i, n - i); }},
      {"greatest", [](auto i, auto, auto&) { return ~(i % 2); }},
      {"skewed", [](auto, auto, auto& random) { return skewed(random); }},
      {"one far key", [](auto i, auto n, auto&) { return i == n / 2 ? 1ULL << 62 : i % 5; }},
      {"almost sorted", [](auto i, auto, auto& random) { return i + random() % 20; }},
      // All processes need the same sender at the same time.
      {"by sender",
       [](auto i, auto n, auto& random) { return i * 8 / (n + 1) * 1000 + random() % 9; }}};
  return kAll;
}

struct Kind {
  const char* name;
  std::vector<const char*> words;
  std::size_t bytes;
  std::function<void(std::byte* element, std::uint64_t key)> put;
  std::function<bool(const std::byte* a, const std::byte* b)> less;
};

template <class Key>
Key at(const std::byte* element) {
  Key key;
  std::memcpy(&key, element, sizeof key);
  return key;
}

template <class Key>
Kind numbers(const char* name) {
  return {name,
          {"-t", name},
          sizeof(Key),
          [](std::byte* element, std::uint64_t key) {
            const auto number = static_cast<Key>(key);
            std::memcpy(element, &number, sizeof number);
          },
          [](const std::byte* a, const std::byte* b) { return at<Key>(a) < at<Key>(b); }};
}

// The keys are 4 of 12 bytes, four neighbours have the same one; the others number the records.
Kind records() {
  return {"records",
          {"--record=12", "--key=0:u32"},
          12,
          [next = std::uint64_t{0}](std::byte* element, std::uint64_t key) mutable {
            const auto often = static_cast<std::uint32_t>(key / 4);
            std::memcpy(element, &often, sizeof often);
            std::memcpy(element + sizeof often, &next, sizeof next);
            ++next;
          },
          [](const std::byte* a, const std::byte* b) {
            return at<std::uint32_t>(a) < at<std::uint32_t>(b);
          }};
}

Bytes array_header(std::size_t count) {
  std::string text =
      "{'descr': '<u8', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
  text.resize(117, ' ');
  text = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text + "\n";
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// The places of the elements in the input, in their order.
std::vector<std::size_t> order_of(const Bytes& elements, const Kind& kind) {
  std::vector<std::size_t> order(elements.size() / kind.bytes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto element = [&](std::size_t place) { return elements.data() + place * kind.bytes; };
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return kind.less(element(a), element(b)); });
  return order;
}

Bytes sorted(const Bytes& elements, const Kind& kind) {
  Bytes result;
  for (const std::size_t place : order_of(elements, kind)) {
    const auto element = elements.begin() + static_cast<std::ptrdiff_t>(place * kind.bytes);
    result.insert(result.end(), element, element + static_cast<std::ptrdiff_t>(kind.bytes));
  }
  return result;
}

std::vector<RankReport> sort_by(unsigned processes, const Options& options,
                                std::size_t most_message_bytes) {
  LocalNetwork network(processes, processes);
  network.set_most_message_bytes(most_message_bytes);
  if (processes == 1) {
    network.set_liar([](unsigned, unsigned, Message&) {
      ADD_FAILURE() << "a process alone sends a message";
      return 1U;
    });
  }
  test::Ended ended = test::sort_by(network, options);
  EXPECT_EQ(ended.error, "");
  return std::move(ended.outcome.ranks);
}

// Expects that the processes have sent little of a file whose elements come out in this order.
void expect_little_sent(const std::vector<RankReport>& reports,
                        const std::vector<std::size_t>& order, std::size_t element_bytes) {
  const auto processes = static_cast<unsigned>(reports.size());
  const auto begin_of = [&](unsigned share) {
    return share_border(order.size(), share, processes);
  };
  std::vector<bool> is_written(processes, false);
  for (unsigned rank = 0; rank < processes; ++rank) {
    const auto share = static_cast<unsigned>(reports[rank].share);
    ASSERT_LT(share, processes);
    EXPECT_FALSE(is_written[share]);
    is_written[share] = true;
    EXPECT_EQ(reports[rank].output_elements, begin_of(share + 1) - begin_of(share));
    std::uint64_t sent = begin_of(rank + 1) - begin_of(rank);
    for (std::uint64_t place = begin_of(share); place < begin_of(share + 1); ++place) {
      if (order[place] >= begin_of(rank) && order[place] < begin_of(rank + 1)) --sent;
    }
    EXPECT_EQ(reports[rank].sent_bytes, sent * element_bytes);
    if (order.size() < 1000) continue;
    const std::uint64_t own = order.size() / processes;
    EXPECT_LE(sent, own - own / processes + own / 50);
  }
}

class SameBytes : public testing::TestWithParam<unsigned> {
 protected:
  void expect_same(const Kind& kind, const Distribution& distribution, std::size_t count,
                   bool is_array = false) {
    const std::string what = std::string(kind.name) + (is_array ? " of an array, " : ", ") +
                             distribution.name + ", " + std::to_string(count);
    std::mt19937_64 random(count);
    Bytes elements(count * kind.bytes);
    for (std::size_t i = 0; i < count; ++i) {
      kind.put(elements.data() + i * kind.bytes, distribution.key(i, count, random));
    }
    const Bytes header = is_array ? array_header(count) : Bytes();
    const auto whole = [&](const Bytes& content) {
      Bytes file = header;
      file.insert(file.end(), content.begin(), content.end());
      return file;
    };
    const std::string suffix = is_array ? ".npy" : ".dat";
    const std::string input = folder_ / ("in" + suffix);
    const std::string output = folder_ / ("out" + suffix);
    io::test::write_file(input, whole(elements));
    std::vector<const char*> words = kind.words;
    if (is_array) words.clear();
    for (const char* const word :
         {"-S", "40M", "--parallel=1", input.c_str(), "-o", output.c_str()}) {
      words.push_back(word);
    }
    SCOPED_TRACE(what);
    const auto reports = sort_by(GetParam(), options_of(words), most_message_bytes_);
    EXPECT_TRUE(io::test::read_file(output) == whole(sorted(elements, kind)));
    ASSERT_EQ(reports.size(), GetParam());
    expect_little_sent(reports, order_of(elements, kind), kind.bytes);
  }

  io::test::TempFolder folder_;
  std::size_t most_message_bytes_ = Peers::kMostMessageBytes;
};

TEST_P(SameBytes, OfEveryDistributionAndKind) {
  constexpr std::size_t kCount = 4001;
  ASSERT_EQ(distributions().size(), 12);
  const Kind kinds[] = {numbers<std::uint32_t>("u32"), numbers<std::uint64_t>("u64"),
                        numbers<double>("f64"), records()};
  gsort::test::SomeOf cases(4);
  for (const Distribution& distribution : distributions()) {
    for (const Kind& kind : kinds) {
      if (cases.takes()) expect_same(kind, distribution, kCount);
    }
    if (cases.takes()) expect_same(kinds[1], distribution, kCount, true);
  }
}

TEST_P(SameBytes, OfFewElements) {
  gsort::test::SomeOf cases(3);
  for (const std::size_t count : {0U, 1U, 2U, 5U, 1000U}) {
    for (const std::size_t place : {0U, 1U, 2U}) {
      if (!cases.takes()) continue;
      expect_same(numbers<std::uint32_t>("u32"), distributions()[place], count);
      expect_same(numbers<double>("f64"), distributions()[place], count);
      expect_same(records(), distributions()[place], count);
      expect_same(numbers<std::uint64_t>("u64"), distributions()[place], count, true);
    }
  }
}

// Nothing relies on one message for what may be long: counts, elements, sums, reports.
TEST_P(SameBytes, WithMessagesOf1000Bytes) {
  most_message_bytes_ = 1000;
  for (const std::size_t place : {0U, 1U, 4U}) {
    expect_same(numbers<std::uint64_t>("u64"), distributions()[place], 4001);
    expect_same(records(), distributions()[place], 4001);
  }
}

INSTANTIATE_TEST_SUITE_P(Processes, SameBytes, testing::Values(1U, 2U, 3U, 4U, 7U, 8U));

// An input that the output replaces grows while rank 0 syncs, the third to do so: a mark in the new
// output and the share of rank 1 are synced before.
TEST(SameBytes, LoseNothingThatIsAppendedWhileTheOutputIsSynced) {
  const io::test::TempFolder folder;
  const std::string path = folder / "in.u32";
  const test::Keys keys = test::random_keys(50'000, 1'000);
  io::test::write_file(path, test::bytes_of(keys));
  io::sys::inject(
      {io::sys::Call::kFsync, 3, 0, false, [&] { std::ofstream(path, std::ios::app) << "tail"; }});
  const std::string told = test::sort_by(2, options_of({path.c_str(), "-o", path.c_str()})).error;
  EXPECT_EQ(io::sys::counted_calls(), 3U);
  io::sys::clear_faults();
  EXPECT_NE(told.find("in.u32"), std::string::npos) << told;
  Bytes expected(test::bytes_of(keys).begin(), test::bytes_of(keys).end());
  for (const char letter : std::string("tail")) expected.push_back(static_cast<std::byte>(letter));
  EXPECT_EQ(io::test::read_file(path), expected);
}

}  // namespace
}  // namespace gsort::cluster
