// Whole jobs of gsort-mpi, by threads of one process instead of processes of several machines.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "app/files.hpp"
#include "cluster/cluster_sort.hpp"
#include "cluster/input/check.hpp"
#include "cluster/output/rank_output.hpp"
#include "pipeline/check_order.hpp"
#include "support/some_of.hpp"
#include "unit/cluster/local_peers.hpp"
#include "unit/cluster/sort_words.hpp"
#include "unit/io/support.hpp"

namespace gsort::cluster {
namespace {

using test::bytes_of;
using test::Keys;
using test::LocalNetwork;
using test::options_of;
using test::random_keys;
void run_by(unsigned processes, const std::function<void(Team&)>& job) {
  LocalNetwork network(processes, processes);
  test::run_together(network, [&](Peers& peers) {
    Team team(peers, {});
    const auto verdict = team.run_job([&] { job(team); });
    EXPECT_FALSE(verdict) << verdict->text;
  });
}

void sort_by(unsigned processes, Options options) {
  if (options.parts) options.split_output = processes;
  run_by(processes, [&](Team& team) {
    std::function<void()> on_leave;
    (void)sort_on_cluster(team, options, on_leave, nullptr);
  });
}

// The message with which a job ends everywhere.
std::string refused_by(unsigned processes, const std::function<void(Team&)>& job) {
  std::string text;
  LocalNetwork network(processes, processes);
  test::run_together(network, [&](Peers& peers) {
    Team team(peers, {});
    const auto verdict = team.run_job([&] { job(team); });
    if (peers.rank() == 0 && verdict) text = verdict->text;
  });
  return text;
}

std::string refused_by(unsigned processes, Options options) {
  if (options.parts) options.split_output = processes;
  return refused_by(processes, [&](Team& team) {
    std::function<void()> on_leave;
    (void)sort_on_cluster(team, options, on_leave, nullptr);
  });
}

CheckOutcome checked_by(unsigned processes, const Options& options) {
  CheckOutcome outcome;
  run_by(processes, [&](Team& team) {
    const ClusterCheck check = check_on_cluster(team, options);
    if (team.rank() == 0) outcome = check.outcome;
  });
  return outcome;
}

CheckOutcome checked_alone(const Options& options) {
  io::Reader reader(options.inputs, reader_options(options));
  const Job job = job_of(options, reader);
  return check_order(job.element, wanted_order(job), reader, 1);
}

class WholeJobs : public testing::Test {
 protected:
  std::string write(const std::string& name, ConstByteSpan bytes) const {
    io::test::write_file(folder_ / name, bytes);
    return folder_ / name;
  }

  // Several processes find what one finds.
  void expect_same_check(const Keys& keys, std::vector<const char*> words) const {
    const std::string path = write("in.u32", bytes_of(keys));
    words.push_back(path.c_str());
    const Options options = options_of(words);
    const CheckOutcome wanted = checked_alone(options);
    for (const unsigned processes : {1U, 2U, 3U, 5U}) {
      const CheckOutcome found = checked_by(processes, options);
      EXPECT_EQ(found.in_order, wanted.in_order);
      if (!wanted.in_order) {
        EXPECT_EQ(found.disorder_element, wanted.disorder_element) << processes << " processes";
        EXPECT_EQ(found.value, wanted.value);
        EXPECT_EQ(found.value_before, wanted.value_before);
      } else {
        EXPECT_EQ(found.elements, wanted.elements);
        EXPECT_EQ(found.distinct, wanted.distinct) << processes << " processes";
        EXPECT_EQ(found.fingerprint, wanted.fingerprint) << processes << " processes";
      }
    }
  }

  // The contents of the files of all processes, one after the other.
  [[nodiscard]] std::vector<std::byte> joined(const Options& options, unsigned processes) const {
    Options parts = options;
    parts.split_output = processes;
    std::vector<std::byte> all;
    for (const std::string& name : parts.outputs()) {
      const std::vector<std::byte> part = io::test::read_file(name);
      all.insert(all.end(), part.begin(), part.end());
      std::filesystem::remove(name);
    }
    return all;
  }

  io::test::TempFolder folder_;
};

TEST_F(WholeJobs, CheckWhatIsInOrder) {
  Keys keys(1000);
  std::ranges::generate(keys, [n = 0U]() mutable { return n++ / 3; });
  expect_same_check(keys, {"-c"});
  expect_same_check(Keys(30, 7), {"-c"});
  for (const std::size_t few : {0U, 1U, 2U, 4U}) {
    expect_same_check({keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(few)}, {"-c"});
  }
  std::ranges::reverse(keys);
  expect_same_check(keys, {"-c", "-r"});
}

TEST_F(WholeJobs, FindTheFirstDisorderWhereverItIs) {
  for (std::size_t at = 1; at < 12; ++at) {
    Keys keys{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21};
    keys[at] = 5;
    expect_same_check(keys, {"-c"});
    if (at < 10) keys[10] = 4;  // another one behind it
    expect_same_check(keys, {"-c"});
    std::ranges::sort(keys);
    keys[at] = keys[at - 1];
    expect_same_check(keys, {"-c", "-u"});
  }
}

TEST_F(WholeJobs, CheckInputsOfEachProcess) {
  // Some processes have nothing; equal keys lie on both sides of a border; the last two are wrong.
  const std::vector<std::vector<Keys>> cases = {{{1, 2}, {2}, {}, {2, 2, 5, 6, 6, 9}},
                                                {{}, {1, 2, 2, 2, 2, 5, 6}, {6, 9}, {}},
                                                {{}, {}, {}, {}},
                                                {{3, 4}, {}, {2, 1}, {7}},
                                                {{1, 2}, {3, 3}, {4, 3}, {1}}};
  for (const auto& inputs : cases) {
    Keys all;
    for (const Keys& some : inputs) all.insert(all.end(), some.begin(), some.end());
    for (const char* const unique : {"-r", "-u", "--endian=little"}) {
      const std::string whole = write("whole.u32", bytes_of(all));
      const CheckOutcome wanted = checked_alone(options_of({"-c", unique, whole.c_str()}));
      CheckOutcome found;
      run_by(4, [&](Team& team) {
        const std::string name = "in-" + std::to_string(team.rank()) + ".u32";
        const std::string input = write(name, bytes_of(inputs[team.rank()]));
        const ClusterCheck check =
            check_on_cluster(team, options_of({"-c", unique, "--inputs-here", input.c_str()}));
        if (team.rank() == 0) found = check.outcome;
      });
      EXPECT_EQ(found.in_order, wanted.in_order);
      EXPECT_EQ(found.disorder_element, wanted.disorder_element) << unique;
      EXPECT_EQ(found.value, wanted.value);
      EXPECT_EQ(found.value_before, wanted.value_before);
      if (!wanted.in_order) continue;
      EXPECT_EQ(found.elements, wanted.elements);
      EXPECT_EQ(found.distinct, wanted.distinct);
      EXPECT_EQ(found.fingerprint, wanted.fingerprint);
    }
  }
}

TEST_F(WholeJobs, AddUpTheFingerprint) {
  const Keys keys = random_keys(777, 1U << 31);
  const std::string path = write("in.u32", bytes_of(keys));
  const Options options = options_of({"--fingerprint", path.c_str()});
  const Fingerprint wanted = fingerprint_of(bytes_of(keys), 4);
  for (const unsigned processes : {1U, 3U, 4U}) {
    EXPECT_EQ(checked_by(processes, options).fingerprint, wanted) << processes << " processes";
  }
}

TEST_F(WholeJobs, AddUpTheFingerprintOfInputsOfEachProcess) {
  const std::vector<Keys> inputs = {{9, 2}, {2, 2}, {}, {2, 1}};
  CheckOutcome found;
  run_by(4, [&](Team& team) {
    const std::string name = "in-" + std::to_string(team.rank()) + ".u32";
    const std::string input = write(name, bytes_of(inputs[team.rank()]));
    const ClusterCheck check =
        check_on_cluster(team, options_of({"--fingerprint", "--inputs-here", input.c_str()}));
    if (team.rank() == 0) found = check.outcome;
  });
  EXPECT_EQ(found.fingerprint, fingerprint_of(bytes_of({9, 2, 2, 2, 2, 1}), 4));
  EXPECT_EQ(found.distinct, 0);  // they are not counted
  EXPECT_TRUE(found.in_order);   // the order is not checked
}

TEST_F(WholeJobs, CountNarrowKeys) {
  for (const unsigned processes : {1U, 2U, 4U}) {
    for (const std::size_t count : {0U, 3U, 70'000U}) {
      const auto keys = io::test::random_bytes(count, processes);
      auto wanted = keys;
      std::ranges::sort(wanted, std::greater());
      const std::string input = write("in.u8", keys);
      const std::string output = folder_ / "out.u8";
      sort_by(processes, options_of({"-r", input.c_str(), "-o", output.c_str()}));
      EXPECT_TRUE(io::test::read_file(output) == wanted) << count << " keys, " << processes;
    }
  }
}

TEST_F(WholeJobs, WriteConsecutivePartsOfEqualSize) {
  const std::string output = folder_ / "out-{rank}.u32";
  for (const unsigned processes : {1U, 2U, 3U, 4U, 11U}) {
    for (const std::size_t count : {0U, 1U, 3U, 5000U}) {
      Keys keys = random_keys(count, 1000);
      const std::string input = write("in.u32", bytes_of(keys));
      const Options options = options_of({"--parts", input.c_str(), "-o", output.c_str()});
      sort_by(processes, options);
      Options parts = options;
      parts.split_output = processes;
      for (const std::string& name : parts.outputs()) {
        const std::uint64_t part = std::filesystem::file_size(name) / sizeof(keys[0]);
        EXPECT_TRUE(part == count / processes || part == count / processes + 1) << name;
      }
      std::ranges::sort(keys);
      EXPECT_TRUE(std::ranges::equal(joined(options, processes), bytes_of(keys)))
          << count << " keys, " << processes << " processes";
    }
  }
}

TEST_F(WholeJobs, WriteTextAsConsecutiveParts) {
  const std::string output = folder_ / "out-{rank}.txt";
  for (const unsigned processes : {1U, 2U, 3U, 11U}) {
    for (const bool unique : {false, true}) {
      Keys keys = random_keys(5000, 3000);
      const std::string input = write("in.u32", bytes_of(keys));
      std::vector<const char*> words = {"--parts", input.c_str(), "-o", output.c_str()};
      if (unique) words.push_back("-u");
      const Options options = options_of(words);
      sort_by(processes, options);
      std::ranges::sort(keys);
      if (unique) keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
      std::string wanted;
      for (const std::uint32_t key : keys) wanted += std::to_string(key) + "\n";
      EXPECT_TRUE(std::ranges::equal(joined(options, processes), std::as_bytes(std::span(wanted))))
          << processes << " processes";
    }
  }
}

TEST_F(WholeJobs, RefuseTextAndCompressionInOneFile) {
  const std::string input = write("in.u32", bytes_of(random_keys(10, 10)));
  for (const char* const name : {"out.txt", "out.u32.gz"}) {
    const std::string output = folder_ / name;
    const std::string text = refused_by(2, options_of({input.c_str(), "-o", output.c_str()}));
    EXPECT_NE(text.find("into one file"), std::string::npos) << text;
    EXPECT_NE(text.find("--parts"), std::string::npos) << text;
    EXPECT_FALSE(std::filesystem::exists(output));
  }
}

TEST_F(WholeJobs, WriteOneOfEachKeyWhereverPartsMeet) {
  gsort::test::SomeOf cases(4);
  for (const unsigned processes : {1U, 2U, 3U, 4U, 7U}) {
    for (const std::uint32_t kinds : {1U, 2U, 5U, 1000U, 1U << 31}) {
      for (const std::size_t count : {0U, 1U, 3U, 4000U}) {
        for (const bool into_parts : {false, true}) {
          if (!cases.takes()) continue;
          Keys keys = random_keys(count, kinds);
          const std::string input = write("in.u32", bytes_of(keys));
          const std::string output = folder_ / (into_parts ? "out-{rank}.u32" : "out.u32");
          const Options options = options_of(
              {"-u", into_parts ? "--parts" : "-r", input.c_str(), "-o", output.c_str()});
          sort_by(processes, options);
          std::ranges::sort(keys);
          keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
          if (!into_parts) std::ranges::reverse(keys);
          const auto found = into_parts ? joined(options, processes) : io::test::read_file(output);
          EXPECT_TRUE(std::ranges::equal(found, bytes_of(keys)))
              << count << " keys of " << kinds << " kinds, " << processes << " processes";
        }
      }
    }
  }
}

// All keys are equal: after the first merge, one process has a run, and the others have none.
TEST_F(WholeJobs, ReportTheRunsOfTheInput) {
  const std::string input = write("in.u32", bytes_of(Keys(3000, 7)));
  const std::string output = folder_ / "out.u32";
  const Options options = options_of({"-u", input.c_str(), "-o", output.c_str()});
  run_by(3, [&](Team& team) {
    std::function<void()> on_leave;
    const ClusterOutcome outcome = sort_on_cluster(team, options, on_leave, nullptr);
    EXPECT_EQ(outcome.runs, team.rank() == 0 ? 3 : 0);
    for (const RankReport& rank : outcome.ranks) EXPECT_EQ(rank.runs, 1);
    EXPECT_EQ(outcome.ranks.size(), team.rank() == 0 ? 3 : 0);
  });
}

TEST_F(WholeJobs, WriteTheFirstOfDistinctKeys) {
  const std::string output = folder_ / "out-{rank}.u32";
  for (const unsigned processes : {1U, 2U, 4U}) {
    for (const char* const top : {"0", "1", "30", "499", "500", "99999999"}) {
      Keys keys = random_keys(4000, 500);
      const std::string input = write("in.u32", bytes_of(keys));
      const Options options =
          options_of({"-u", "--top", top, "--parts", input.c_str(), "-o", output.c_str()});
      sort_by(processes, options);
      std::ranges::sort(keys);
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
      keys.resize(std::min<std::size_t>(keys.size(), std::stoul(top)));
      EXPECT_TRUE(std::ranges::equal(joined(options, processes), bytes_of(keys)))
          << "the first " << top << ", " << processes << " processes";
    }
  }
}

TEST_F(WholeJobs, CountDistinctNarrowKeys) {
  const std::string output = folder_ / "out.u8";
  for (const unsigned processes : {1U, 3U, 5U}) {
    for (const char* const top : {"0", "1", "100", "1000"}) {
      for (const std::size_t count : {0U, 3U, 20'000U}) {
        auto keys = io::test::random_bytes(count, processes);
        const std::string input = write("in.u8", keys);
        sort_by(processes, options_of({"-u", "--top", top, input.c_str(), "-o", output.c_str()}));
        std::ranges::sort(keys);
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        keys.resize(std::min<std::size_t>(keys.size(), std::stoul(top)));
        EXPECT_TRUE(io::test::read_file(output) == keys)
            << "the first " << top << " of " << count << " keys, " << processes << " processes";
      }
    }
  }
}

TEST_F(WholeJobs, ReadInputsOfEachProcess) {
  // Inputs of very different lengths, one of them empty.
  const std::vector<std::size_t> counts = {700, 0, 4000, 1};
  const std::string output = folder_ / "out.u32";
  for (const unsigned processes : {1U, 2U, 3U, 4U}) {
    Keys all;
    std::vector<Options> options;
    for (unsigned rank = 0; rank < processes; ++rank) {
      const Keys keys = random_keys(counts[rank], 500 * (rank + 1));
      all.insert(all.end(), keys.begin(), keys.end());
      const std::string input = write("in-" + std::to_string(rank) + ".u32", bytes_of(keys));
      options.push_back(options_of({"--inputs-here", input.c_str(), "-o", output.c_str()}));
    }
    for (const bool unique : {false, true}) {
      run_by(processes, [&](Team& team) {
        Options own = options[team.rank()];
        own.unique = unique;
        std::function<void()> on_leave;
        (void)sort_on_cluster(team, own, on_leave, nullptr);
      });
      std::ranges::sort(all);
      if (unique) all.erase(std::unique(all.begin(), all.end()), all.end());
      EXPECT_TRUE(std::ranges::equal(io::test::read_file(output), bytes_of(all))) << processes;
    }
  }
}

TEST_F(WholeJobs, WriteTheFirstElements) {
  const std::string output = folder_ / "out.u32";
  gsort::test::SomeOf cases(2);
  for (const unsigned processes : {1U, 2U, 3U, 4U}) {
    for (const char* const top : {"0", "1", "2", "1234", "4999", "5000", "99999999"}) {
      if (!cases.takes()) continue;
      Keys keys = random_keys(5000, processes % 2 == 0 ? 1000 : 1U << 31);
      const std::string input = write("in.u32", bytes_of(keys));
      sort_by(processes, options_of({"--top", top, "-r", input.c_str(), "-o", output.c_str()}));
      std::ranges::sort(keys, std::greater());
      keys.resize(std::min<std::size_t>(keys.size(), std::stoul(top)));
      EXPECT_TRUE(std::ranges::equal(io::test::read_file(output), bytes_of(keys)))
          << top << " of 5000 keys, " << processes << " processes";
    }
  }
}

TEST_F(WholeJobs, LeaveNoPartIfOneCannotHaveItsName) {
  const std::string input = write("in.u32", bytes_of(random_keys(1000, 1000)));
  // Two processes write to the same folder.
  for (const char* const name : {"0", "1"}) std::filesystem::create_directory(folder_ / name);
  const std::string output = folder_ / "{rank}/out.u32";
  const Options options = options_of({"--parts", input.c_str(), "-o", output.c_str()});
  std::filesystem::create_directory_symlink(folder_ / "1", folder_ / "2");
  EXPECT_NE(refused_by(3, options).find("out.u32"), std::string::npos);
  for (const char* const name : {"0", "1"}) {
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / name)) << name;
  }
  write("1/out.u32", {});
  EXPECT_NE(refused_by(2, options).find("it exists already"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "0"));
}

// Rank 0 is the last one to come: it may yet find an error in what all have written.
TEST_F(WholeJobs, NameNoPartBeforeAllAreReady) {
  run_by(3, [&](Team& team) {
    const auto part = [&](unsigned rank) { return folder_ / ("part-" + std::to_string(rank)); };
    std::function<void()> on_leave;
    Meter meter;
    RankOutput output(team, part(team.rank()), io::DirectIo::kAuto, on_leave, meter);
    output.begin(Plan(), 0, {}, {});
    const PartTable none({0, team.count(), 1, 1, 0});
    output.finish(none, 0);
    if (team.rank() == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      EXPECT_FALSE(std::filesystem::exists(part(1)) || std::filesystem::exists(part(2)));
    }
    output.put_in_place(team, none, [] {});
    EXPECT_TRUE(std::filesystem::exists(part(team.rank())));
  });
}

// Also by --explain, which reads nothing.
TEST_F(WholeJobs, RefuseMemoryThatIsTooLittleForTheExchangeAndNameTheLeast) {
  const std::string path = write("in.u32", bytes_of(random_keys(300'000, 1U << 31U)));
  const std::string out = folder_ / "out";
  // 23 MiB are too little for forming runs, too.
  for (const auto& [processes, size] : {std::pair{2U, "25M"}, {6U, "25M"}, {2U, "23M"}}) {
    std::vector<const char*> words = {"-S", size, "--parallel=1", path.c_str(), "-o", out.c_str()};
    const std::string text = refused_by(processes, options_of(words));
    EXPECT_NE(text.find(" MiB: is too small for this sort"), std::string::npos) << text;
    words.push_back("--explain");
    EXPECT_EQ(refused_by(processes,
                         [&](Team& team) { (void)explain_on_cluster(team, options_of(words)); })
                  .substr(text.find(": ")),
              text.substr(text.find(": ")));
    words.pop_back();
    const std::string before = "use at least ";
    const std::size_t at = text.find(before);
    ASSERT_NE(at, std::string::npos) << text;
    const std::string least = text.substr(at + before.size());
    words[1] = least.c_str();
    sort_by(processes, options_of(words));
    std::filesystem::remove(out);
  }
}

TEST_F(WholeJobs, NameTheHostWithAnInputOfAnotherKind) {
  const std::string keys = write("in.u32", bytes_of(random_keys(4, 9)));
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& other : {pipe, write("in.txt", bytes_of({0x0a31, 0x0a32}))}) {
    const std::string text = refused_by(3, [&](Team& team) {
      const std::string& own = team.rank() == 1 ? other : keys;
      (void)explain_on_cluster(team, options_of({"-tu32", own.c_str(), "-o", "out.u32"}));
    });
    EXPECT_TRUE(text.starts_with("on localhost (rank 1): reading ")) << text;
  }
}

TEST_F(WholeJobs, OfOneProcessExchangeNothing) {
  Keys keys = random_keys(100'000, 1'000'000);
  const std::string path = write("in.u32", bytes_of(keys));
  std::ranges::sort(keys);
  const std::string out = folder_ / "out-{rank}.u32";
  Options options = options_of({"--parts", path.c_str(), "-o", out.c_str()});
  options.split_output = 1;
  run_by(1, [&](Team& team) {
    std::function<void()> on_leave;
    JobProgress progress;
    const ClusterOutcome outcome = sort_on_cluster(team, options, on_leave, &progress);
    EXPECT_EQ(outcome.runs, 0);
    EXPECT_EQ(outcome.cuts.rounds, 0);
    ASSERT_EQ(outcome.ranks.size(), 1);
    EXPECT_EQ(outcome.ranks[0].elements_read, keys.size());
    EXPECT_EQ(outcome.ranks[0].output_elements, keys.size());
    EXPECT_EQ(outcome.ranks[0].sent_frames, 0);
  });
  EXPECT_TRUE(std::ranges::equal(io::test::read_file(options.outputs()[0]), bytes_of(keys)));
  EXPECT_NE(refused_by(1, options), "");  // the file is there
}

}  // namespace
}  // namespace gsort::cluster
