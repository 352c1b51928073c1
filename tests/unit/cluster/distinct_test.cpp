// Tests -u of gsort-mpi: with several numbers of processes, kinds of output and orders of merging,
// the output has the elements that std::unique keeps. By default, a seed chooses a fifth of the
// cases; GSORT_ALL_DISTINCT=1 tests all.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/turns.hpp"
#include "unit/cluster/sort_words.hpp"
#include "unit/io/support.hpp"

namespace gsort::cluster {
namespace {

using test::Keys;
using test::LocalNetwork;

constexpr std::size_t kCount = 40'320;  // divisible by every number of processes

enum class Data { kInTurn, kRandom, kEqual };

// kInTurn: the keys of each share come from one process, then from the next, so that processes
// merge in rotated order.
Keys keys_of(Data data, unsigned processes) {
  Keys keys = test::random_keys(kCount, data == Data::kEqual ? 1 : 7'000);
  for (std::size_t place = 0; place < kCount && data == Data::kInTurn; ++place) {
    const auto share = static_cast<std::uint32_t>(place % processes);
    const auto sender = static_cast<std::uint32_t>(place * processes / kCount);
    keys[place] = ((share * processes + sender) << 20U) + keys[place] / processes;
  }
  return keys;
}

struct Case {
  unsigned processes;
  Data data;
  bool parts, text;
  std::optional<std::uint64_t> top;
};

class DistinctSorts : public testing::Test {
 protected:
  // Returns the error; empty if there is none.
  std::string sort(const Case& wanted, const std::string& output) {
    const std::string top = "--top=" + std::to_string(wanted.top.value_or(0));
    const std::string input = folder_ / "in.u32";
    std::vector<const char*> words = {"-u", "-S", "40M", "--parallel=1", "-T"};
    words.insert(words.end(), {folder_.path().c_str(), input.c_str(), "-o", output.c_str()});
    if (wanted.parts) words.push_back("--parts");
    if (wanted.top) words.push_back(top.c_str());
    LocalNetwork network(wanted.processes);
    test::Ended ended = test::sort_by(network, test::options_of(words));
    reports_ = std::move(ended.outcome.ranks);
    return ended.error;
  }

  // The bytes of the one file, or of the files of all processes in order.
  [[nodiscard]] std::string written(const Case& wanted, const std::string& suffix) const {
    std::string all;
    for (unsigned rank = 0; rank < (wanted.parts ? wanted.processes : 1); ++rank) {
      const std::string number = wanted.parts ? "-" + std::to_string(rank) : "";
      const auto bytes = io::test::read_file(folder_ / ("out" + number + suffix));
      all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return all;
  }

  void expect_distinct(const Case& wanted) {
    for (const std::string& name : folder_.entries()) std::filesystem::remove(folder_ / name);
    Keys keys = keys_of(wanted.data, wanted.processes);
    io::test::write_file(folder_ / "in.u32", test::bytes_of(keys));
    const std::string suffix = wanted.text ? ".txt" : ".u32";
    const auto error = sort(wanted, folder_ / ((wanted.parts ? "out-{rank}" : "out") + suffix));
    if (wanted.text && !wanted.parts) {
      EXPECT_NE(error.find("--parts"), std::string::npos) << error;
      return;
    }
    ASSERT_EQ(error, "");
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    if (wanted.top) keys.resize(std::min<std::size_t>(keys.size(), *wanted.top));
    std::string all(reinterpret_cast<const char*>(keys.data()), keys.size() * sizeof(keys[0]));
    if (wanted.text) all.clear();
    for (const std::uint32_t key : keys) all += wanted.text ? std::to_string(key) + '\n' : "";
    EXPECT_TRUE(written(wanted, suffix) == all);
    std::uint64_t deferred = 0;
    for (const RankReport& report : reports_) deferred += report.deferred_bytes;
    const bool rotates = wanted.data == Data::kInTurn && wanted.processes > kNeverRotate;
    EXPECT_EQ(deferred > 0, rotates);
  }

  io::test::TempFolder folder_;
  std::vector<RankReport> reports_;
};

TEST_F(DistinctSorts, AreThoseOfOneProcess) {
  const unsigned seed = std::random_device()();
  const bool takes_all = std::getenv("GSORT_ALL_DISTINCT") != nullptr;
  std::mt19937 random(seed);
  for (const unsigned processes : {1U, 2U, 3U, 7U}) {
    for (const Data data : {Data::kInTurn, Data::kRandom, Data::kEqual}) {
      for (const bool parts : {false, true}) {
        for (const bool text : {false, true}) {
          for (const auto top : {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(0),
                                 std::optional<std::uint64_t>(3'001)}) {
            if (!takes_all && random() % 5 != 0) continue;
            SCOPED_TRACE(testing::Message()
                         << "seed " << seed << ": " << processes << " processes, " << int(data)
                         << parts << text << top.value_or(9));
            expect_distinct({processes, data, parts, text, top});
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace gsort::cluster
