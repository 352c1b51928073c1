// Whole jobs of gsort-mpi, by threads of one process instead of processes of several machines.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "app/files.hpp"
#include "cluster/input/check.hpp"
#include "cluster/output/rank_output.hpp"
#include "pipeline/check_order.hpp"
#include "support/some_of.hpp"
#include "unit/cluster/sort_words.hpp"
#include "unit/io/support.hpp"

namespace gsort::cluster {
namespace {

using test::bytes_of;
using test::Keys;
using test::LocalNetwork;
using test::options_of;
using test::random_keys;
using test::sort_by;

void run_by(unsigned processes, const test::TeamJob& job) {
  LocalNetwork network(processes, processes);
  test::run_job(network, job);
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
  return check_order(job_of(options, reader), reader);
}

// A job: its number of processes, its type and its options.
struct AnyJob {
  unsigned processes;
  KeyType type;  // u8 or u32
  bool parts, text, unique, descending;
  std::optional<std::uint64_t> top;
};

Keys wanted_of(const AnyJob& job, Keys keys) {
  std::ranges::sort(keys);
  if (job.descending) std::ranges::reverse(keys);
  if (job.unique) keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  keys.resize(std::min<std::size_t>(keys.size(), job.top.value_or(keys.size())));
  return keys;
}

std::vector<std::byte> raw_keys(const Keys& keys, KeyType type, bool text) {
  std::string raw;
  for (const std::uint32_t key : keys) {
    raw += text ? std::to_string(key) + "\n"
                : std::string(reinterpret_cast<const char*>(&key), gsort::bytes_of(type));
  }
  return io::test::bytes_of(raw);
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

  // The files of all processes, one after the other, hold the expected elements.
  void expect_job(const AnyJob& job, const Keys& keys) const {
    SCOPED_TRACE(testing::Message() << keys.size() << ' ' << name_of(job.type) << " by "
                                    << job.processes << ", " << job.parts << job.text << job.unique
                                    << job.descending << ", top " << job.top.value_or(~0ULL));
    const std::string type = "-t" + std::string(name_of(job.type));
    const std::string top = "--top=" + std::to_string(job.top.value_or(0));
    const std::string input = write("in", raw_keys(keys, job.type, false));
    const std::string output =
        folder_ / (std::string(job.parts ? "out-{rank}" : "out") + (job.text ? ".txt" : ".bin"));
    std::vector<const char*> words = {type.c_str(), input.c_str(), "-o", output.c_str()};
    if (job.parts) words.push_back("--parts");
    if (job.unique) words.push_back("-u");
    if (job.descending) words.push_back("-r");
    if (job.top) words.push_back(top.c_str());
    Options options = options_of(words);
    ASSERT_EQ(sort_by(job.processes, options).error, "");
    const Keys wanted = wanted_of(job, keys);
    if (job.parts) options.split_output = job.processes;
    std::vector<std::byte> all;
    for (const std::string& name : options.outputs()) {
      const std::vector<std::byte> part = io::test::read_file(name);
      all.insert(all.end(), part.begin(), part.end());
      std::filesystem::remove(name);
      if (!job.parts || job.text || job.unique) continue;
      const std::size_t elements = part.size() / gsort::bytes_of(job.type);
      const std::size_t least = wanted.size() / job.processes;
      EXPECT_TRUE(elements == least || elements == least + 1) << name;
    }
    EXPECT_TRUE(all == raw_keys(wanted, job.type, job.text));
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

// For all numbers of processes, of elements and of different keys, the kinds of jobs take turns.
TEST_F(WholeJobs, WriteWhatTheStandardLibraryDoes) {
  constexpr std::optional<std::uint64_t> kTops[] = {{}, 0, {}, 1, {}, 30, {}, 3'999, 99'999'999};
  unsigned turn = 0;
  gsort::test::SomeOf cases(4);
  for (const unsigned processes : {1U, 2U, 3U, 4U, 7U, 11U}) {
    for (const std::uint32_t kinds : {1U, 2U, 5U, 1'000U, 1U << 31}) {
      for (const std::size_t count : {0U, 1U, 3U, 4'000U}) {
        for (const bool unique : {false, true}) {
          for (const bool parts : {false, true}) {
            ++turn;
            if (!cases.takes()) continue;
            const AnyJob job{.processes = processes,
                             .type = turn % 7 == 0 ? KeyType::kU8 : KeyType::kU32,
                             .parts = parts,
                             .text = parts && turn % 3 == 0,
                             .unique = unique,
                             .descending = turn % 5 < 2,
                             .top = kTops[turn % std::size(kTops)]};
            Keys keys = random_keys(count, job.type == KeyType::kU8 ? 256 : kinds);
            expect_job(job, keys);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST_F(WholeJobs, RefuseTextAndCompressionInOneFile) {
  const std::string input = write("in.u32", bytes_of(random_keys(10, 10)));
  for (const char* const name : {"out.txt", "out.u32.gz"}) {
    const std::string output = folder_ / name;
    const std::string text = sort_by(2, options_of({input.c_str(), "-o", output.c_str()})).error;
    EXPECT_NE(text.find("into one file"), std::string::npos) << text;
    EXPECT_NE(text.find("--parts"), std::string::npos) << text;
    EXPECT_FALSE(std::filesystem::exists(output));
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
      LocalNetwork network(processes, processes);
      const test::Ended ended = sort_by(network, [&](unsigned rank) {
        Options own = options[rank];
        own.unique = unique;
        return own;
      });
      EXPECT_EQ(ended.error, "");
      std::ranges::sort(all);
      if (unique) all.erase(std::unique(all.begin(), all.end()), all.end());
      EXPECT_TRUE(std::ranges::equal(io::test::read_file(output), bytes_of(all))) << processes;
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
  EXPECT_NE(sort_by(3, options).error.find("out.u32"), std::string::npos);
  for (const char* const name : {"0", "1"}) {
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / name)) << name;
  }
  write("1/out.u32", {});
  EXPECT_NE(sort_by(2, options).error.find("it exists already"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "0"));
}

// Rank 0 is the last one to come: it may yet find an error in what all have written.
TEST_F(WholeJobs, NameNoPartBeforeAllAreReady) {
  run_by(3, [&](Team& team) {
    const auto part = [&](unsigned rank) { return folder_ / ("part-" + std::to_string(rank)); };
    Request request;
    request.output = folder_ / "part-{rank}";
    request.parts = true;
    request.split_output = team.count();
    std::function<void()> on_leave;
    Meter meter;
    RankOutput output(team, request, on_leave, meter);
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
  // 25 MiB are too little for forming runs, too.
  for (const auto& [processes, size] : {std::pair{2U, "27M"}, {6U, "27M"}, {2U, "25M"}}) {
    std::vector<const char*> words = {"-S", size, "--parallel=1", path.c_str(), "-o", out.c_str()};
    const std::string text = sort_by(processes, options_of(words)).error;
    EXPECT_NE(text.find(" MiB: is too small for this sort"), std::string::npos) << text;
    words.push_back("--explain");
    EXPECT_EQ(sort_by(processes, options_of(words)).error.substr(text.find(": ")),
              text.substr(text.find(": ")));
    words.pop_back();
    const std::string before = "use at least ";
    const std::size_t at = text.find(before);
    ASSERT_NE(at, std::string::npos) << text;
    const std::string least = text.substr(at + before.size());
    words[1] = least.c_str();
    EXPECT_EQ(sort_by(processes, options_of(words)).error, "");
    std::filesystem::remove(out);
  }
}

TEST_F(WholeJobs, NameTheHostWithAnInputOfAnotherKind) {
  const std::string keys = write("in.u32", bytes_of(random_keys(4, 9)));
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& other : {pipe, write("in.txt", bytes_of({0x0a31, 0x0a32}))}) {
    LocalNetwork network(3, 3);
    const auto options_of_rank = [&](unsigned rank) {
      const std::string& own = rank == 1 ? other : keys;
      return options_of({"-tu32", "--explain", own.c_str(), "-o", "out.u32"});
    };
    const std::string text = sort_by(network, options_of_rank).error;
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
  EXPECT_NE(sort_by(1, options).error, "");  // the file is there
}

}  // namespace
}  // namespace gsort::cluster
