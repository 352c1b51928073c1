// Sorts by threads of one process that end before their time in every phase, and others, by another
// number of processes, that go on with the runs that they have left.
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "cluster/rank_report.hpp"
#include "cluster/runs/kept_runs.hpp"
#include "io/system/sys.hpp"
#include "unit/cluster/sort_words.hpp"
#include "unit/io/support.hpp"

namespace gsort::cluster {
namespace {

namespace fs = std::filesystem;
using io::test::contains;
using io::test::FaultScope;
using test::bytes_of;
using test::Ended;
using test::Keys;
using test::LocalNetwork;
using test::options_of;
using test::OptionsOf;
using test::random_keys;
using Bytes = std::vector<std::byte>;

// The first process that sends the nth message of a kind ends instead.
struct Interruption {
  MessageKind kind;
  unsigned nth = 1;
};

Ended sort_by(unsigned processes, const OptionsOf& options_of_rank,
              const std::optional<Interruption>& interruption = {}) {
  LocalNetwork network(processes, processes);
  unsigned seen = 0;
  if (interruption) {
    network.set_liar([&](unsigned, unsigned, const Message& message) {
      if (test::envelope_of(message).kind != interruption->kind) return 1U;
      if (++seen != interruption->nth) return 1U;
      throw Error(ErrorKind::kResource, "a process", "ends as the test wanted");
    });
  }
  return test::sort_by(network, options_of_rank);
}

Ended sort_by(unsigned processes, const Options& options,
              const std::optional<Interruption>& interruption = {}) {
  return sort_by(
      processes, [&](unsigned) { return options; }, interruption);
}

class ResumedOnCluster : public testing::Test {
 protected:
  [[nodiscard]] std::string write(const std::string& name, ConstByteSpan bytes) const {
    io::test::write_file(folder_ / name, bytes);
    return folder_ / name;
  }

  // A sort of the file `in` to `out` that keeps its runs in `dir`.
  [[nodiscard]] Options options(std::vector<const char*> words, const std::string& input) const {
    const std::string output = folder_ / "out";
    words.insert(words.end(), {"-S31M", "--parallel=1", input.c_str(), "-o", output.c_str()});
    Options parsed = options_of(words);
    parsed.resume = folder_ / "dir";
    return parsed;
  }

  // The manifests in a folder of --resume.
  [[nodiscard]] std::vector<io::Manifest> manifests(const std::string& dir = "dir") const {
    std::vector<io::Manifest> found;
    if (!fs::exists(folder_ / dir)) return found;
    for (const auto& entry : fs::directory_iterator(folder_ / dir)) {
      const std::string path = entry.path() / "gsort.manifest";
      if (!fs::exists(path)) continue;
      EXPECT_EQ(io::parse_manifest(io::test::read_file(path), found.emplace_back()), "");
    }
    return found;
  }
  [[nodiscard]] std::uint64_t elements_kept(const std::string& dir = "dir") const {
    std::uint64_t elements = 0;
    for (const io::Manifest& manifest : manifests(dir)) {
      for (const io::ManifestRun& run : manifest.runs) elements += run.input.count;
    }
    return elements;
  }

  // One of those in the folder of --resume.
  [[nodiscard]] std::string a_kept_folder() const {
    for (const auto& entry : fs::directory_iterator(folder_ / "dir")) {
      if (entry.is_directory()) return entry.path();
    }
    return {};
  }

  [[nodiscard]] bool output_is(ConstByteSpan wanted) const {
    return std::ranges::equal(io::test::read_file(folder_ / "out"), wanted);
  }

  // Nothing but the input and the output is there.
  void expect_nothing_left() const {
    for (const std::string& name : folder_.entries()) {
      EXPECT_TRUE(name == "out" || name.starts_with("in")) << name;
    }
  }

  void remove_output() const { fs::remove(folder_ / "out"); }

  const io::test::TempFolder folder_;
};

// Equal records, in the order of the input.
Bytes records_of(std::size_t count, std::uint32_t kinds, bool is_descending = false) {
  Keys keys = random_keys(count, kinds);
  if (is_descending) std::ranges::sort(keys, std::greater());
  Bytes records(count * 8);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::memcpy(records.data() + std::size_t{i} * 8, &keys[i], 4);
    std::memcpy(records.data() + std::size_t{i} * 8 + 4, &i, 4);
  }
  return records;
}

Bytes stably_sorted(const Bytes& records) {
  struct Record {
    std::uint32_t key;
    std::uint32_t number;
  };
  std::vector<Record> sorted(records.size() / sizeof(Record));
  std::memcpy(sorted.data(), records.data(), records.size());
  std::ranges::stable_sort(sorted, {}, &Record::key);
  Bytes bytes(records.size());
  std::memcpy(bytes.data(), sorted.data(), bytes.size());
  return bytes;
}

constexpr unsigned kMostProcesses = 4;

// Whatever the phase and the numbers of processes, nothing is read again, and equal records keep
// their order.
TEST_F(ResumedOnCluster, AfterEveryPhaseWithAnotherNumberOfProcesses) {
  const Bytes records = records_of(30'000, 7, true);
  const Bytes wanted = stably_sorted(records);
  const Options sort = options({"--record=8", "--key=0:u32"}, write("in", records));
  unsigned first_is_elsewhere = 0;
  const Interruption phases[] = {{MessageKind::kCounts, 1},  // all cuts are there
                                 {MessageKind::kCredit, 2},  // merging
                                 {MessageKind::kFrame, 1}};  // sending
  for (const Interruption& phase : phases) {
    for (unsigned before = 2; before <= kMostProcesses; ++before) {
      for (unsigned after = 1; after <= kMostProcesses; ++after) {
        SCOPED_TRACE(fmt::format("message {} of {} processes, then {}",
                                 static_cast<unsigned>(phase.kind), before, after));
        remove_output();
        const Ended ended = sort_by(before, sort, phase);
        ASSERT_TRUE(contains(ended.error, "ends as the test wanted")) << ended.error;
        EXPECT_FALSE(fs::exists(folder_ / "out"));
        EXPECT_EQ(elements_kept(), 30'000);
        EXPECT_EQ(manifests().size(), before);
        const Ended resumed = sort_by(after, sort);
        ASSERT_EQ(resumed.error, "");
        EXPECT_EQ(resumed.outcome.resumed_elements, 30'000);
        EXPECT_EQ(resumed.outcome.resumed_runs, before);
        for (const RankReport& rank : resumed.outcome.ranks) EXPECT_EQ(rank.elements_read, 0);
        if (resumed.outcome.ranks[0].share > 0) ++first_is_elsewhere;
        EXPECT_TRUE(output_is(wanted));
        expect_nothing_left();
      }
    }
  }
  EXPECT_GT(first_is_elsewhere, 0);  // in how many cases is a matter of time
}

// A call of the system fails, one after the other: while processes look for runs, form them, sync
// the output, give it its name, or remove what they kept.
TEST_F(ResumedOnCluster, AfterAnyFault) {
  constexpr std::size_t kKeys = 1'000'000;  // for one process, several runs
  Keys keys = random_keys(kKeys, 1U << 31);
  const Options sort = options({"-t", "u32"}, write("in", bytes_of(keys)));
  std::ranges::sort(keys);
  unsigned in_forming = 0;
  for (const io::sys::Call call :
       {io::sys::Call::kFdatasync, io::sys::Call::kRename, io::sys::Call::kPwrite}) {
    for (unsigned before = 1; before <= kMostProcesses; ++before) {
      std::uint64_t calls = 0;
      {
        const FaultScope counting({call, UINT64_MAX, EIO});
        ASSERT_EQ(sort_by(before, sort).error, "");
        calls = io::sys::counted_calls();
      }
      expect_nothing_left();
      for (std::uint64_t nth = 1; nth <= calls; nth += 1 + calls / 4) {
        const unsigned after = 1 + static_cast<unsigned>(nth + before) % kMostProcesses;
        SCOPED_TRACE(fmt::format("{} {} of {} processes, then {}", io::sys::name_of(call), nth,
                                 before, after));
        remove_output();
        {
          const FaultScope fault({call, nth, EIO});
          const Ended ended = sort_by(before, sort);
          EXPECT_TRUE(!ended.error.empty() || output_is(bytes_of(keys)));
        }
        const std::uint64_t kept = elements_kept();
        in_forming += kept > 0 && kept < kKeys ? 1 : 0;
        const Ended resumed = sort_by(after, sort);
        ASSERT_EQ(resumed.error, "");
        EXPECT_EQ(resumed.outcome.resumed_elements, kept);
        std::uint64_t read = 0;
        for (const RankReport& rank : resumed.outcome.ranks) read += rank.elements_read;
        EXPECT_EQ(read, kKeys - kept);
        EXPECT_TRUE(output_is(bytes_of(keys)));
        expect_nothing_left();
      }
    }
  }
  EXPECT_GE(in_forming, 5U);
}

// Each host has a disk of its own.
TEST_F(ResumedOnCluster, OnOtherHostsWithWhatTheySee) {
  const Bytes records = records_of(30'000, 5);
  const Bytes wanted = stably_sorted(records);
  const Options sort = options({"--record=8", "--key=0:u32"}, write("in", records));
  const auto on = [&](const std::vector<std::string>& hosts) {
    return [&sort, this, hosts](unsigned rank) {
      Options own = sort;
      own.resume = folder_ / hosts[rank];
      return own;
    };
  };
  ASSERT_NE(sort_by(3, on({"h0", "h1", "h2"}), Interruption{MessageKind::kFrame}).error, "");
  for (const char* const host : {"h0", "h1", "h2"}) EXPECT_EQ(elements_kept(host), 10'000) << host;

  // Without the second one, in another order, and with a new one, which ends early, too.
  ASSERT_NE(sort_by(3, on({"h2", "h3", "h0"}), Interruption{MessageKind::kFrame}).error, "");
  EXPECT_EQ(elements_kept("h3") + elements_kept("h2") + elements_kept("h0"), 30'000);
  EXPECT_GT(elements_kept("h3"), 3'000);

  // It has come back: what it has was formed meanwhile, and some of that is on a host that is away.
  const Ended resumed = sort_by(3, on({"h1", "h2", "h0"}));
  ASSERT_EQ(resumed.error, "");
  EXPECT_EQ(resumed.outcome.resumed_elements, 30'000);
  EXPECT_TRUE(output_is(wanted));
  for (const char* const host : {"h0", "h1", "h2"}) {
    EXPECT_FALSE(fs::exists(folder_ / host)) << host;
  }
  EXPECT_TRUE(fs::exists(folder_ / "h3"));

  const Ended last = sort_by(2, on({"h3", "h4"}));
  ASSERT_EQ(last.error, "");
  EXPECT_GT(last.outcome.resumed_elements, 3'000);
  EXPECT_TRUE(output_is(wanted));
  expect_nothing_left();
}

TEST_F(ResumedOnCluster, WithInputsOfEachProcess) {
  const Bytes records = records_of(9'000, 5);
  const Bytes wanted = stably_sorted(records);
  const std::vector<std::size_t> borders = {0, 8 * 1'000, 8 * 1'000, 8 * 9'000};
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto begin = records.begin() + static_cast<std::ptrdiff_t>(borders[i]);
    const auto end = records.begin() + static_cast<std::ptrdiff_t>(borders[i + 1]);
    inputs.push_back(write("in" + std::to_string(i), Bytes(begin, end)));
  }
  const auto sort = [&](unsigned rank) {
    return options({"--inputs-here", "--record=8", "--key=0:u32"}, inputs[rank]);
  };
  const auto end_early = [&] {
    ASSERT_NE(sort_by(3, sort, Interruption{MessageKind::kFrame}).error, "");
    EXPECT_EQ(elements_kept(), 9'000);
  };
  end_early();
  const Ended resumed = sort_by(3, sort);
  ASSERT_EQ(resumed.error, "");
  EXPECT_EQ(resumed.outcome.resumed_elements, 9'000);
  EXPECT_TRUE(output_is(wanted));
  expect_nothing_left();

  // One is no more what it was, and no other process has it.
  end_early();
  io::test::write_file(inputs[2], Bytes(records.begin(), records.begin() + 8 * 8'000));
  const std::string error = sort_by(3, sort).error;
  EXPECT_TRUE(contains(error, "in2")) << error;
  EXPECT_TRUE(contains(error, "has changed since")) << error;
  EXPECT_EQ(elements_kept(), 9'000);
  const std::string none = sort_by(2, sort).error;
  EXPECT_TRUE(contains(none, "in2, which no process reads as its first input")) << none;
}

TEST_F(ResumedOnCluster, ToAnyOutput) {
  const Keys keys = random_keys(20'000, 3'000);
  const std::string input = write("in", bytes_of(keys));
  Keys distinct = keys;
  std::ranges::sort(distinct);
  Keys first(distinct.begin(), distinct.begin() + 500);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (const unsigned after : {1U, 2U, 4U}) {
    ASSERT_NE(sort_by(3, options({"-tu32"}, input), Interruption{MessageKind::kFrame}).error, "");
    // With -u, runs are exchanged twice.
    ASSERT_NE(
        sort_by(2, options({"-tu32", "-u"}, input), Interruption{MessageKind::kFrame, 6}).error,
        "");
    Ended resumed = sort_by(after, options({"-tu32", "-u"}, input));
    ASSERT_EQ(resumed.error, "");
    EXPECT_EQ(resumed.outcome.resumed_elements, 20'000);
    EXPECT_TRUE(output_is(bytes_of(distinct)));
    expect_nothing_left();

    ASSERT_NE(sort_by(3, options({"-tu32"}, input), Interruption{MessageKind::kCounts}).error, "");
    resumed = sort_by(after, options({"-tu32", "--top=500"}, input));
    ASSERT_EQ(resumed.error, "");
    EXPECT_EQ(resumed.outcome.resumed_elements, 20'000);
    EXPECT_TRUE(output_is(bytes_of(first)));
    expect_nothing_left();
  }
}

TEST_F(ResumedOnCluster, SaysHowManyRunsWereFormed) {
  const Options sort = options({"-tu32"}, write("in", bytes_of(random_keys(3'000, 9))));
  const auto summary = [&] { return cluster_summary(sort_by(2, sort).outcome, 2); };
  EXPECT_TRUE(contains(summary(), ": 2 runs formed in "));
  ASSERT_NE(sort_by(2, sort, Interruption{MessageKind::kCounts}).error, "");
  EXPECT_TRUE(contains(summary(), ": 2 runs (0 formed, 2 resumed) in "));
  ASSERT_NE(sort_by(2, sort, Interruption{MessageKind::kCounts}).error, "");
  fs::remove_all(a_kept_folder());
  EXPECT_TRUE(contains(summary(), ": 3 runs (2 formed, 1 resumed) in "));
}

TEST_F(ResumedOnCluster, LeavesAFolderThatWasThere) {
  const std::string input = write("in", bytes_of(random_keys(1'000, 9)));
  fs::create_directories(folder_ / "dir/gsort-0123456789abcdef");  // killed before it had runs
  fs::create_directories(folder_ / "dir/gsort-notes");
  (void)write("dir/mine", {});
  ASSERT_NE(sort_by(2, options({"-tu32"}, input), Interruption{MessageKind::kCounts}).error, "");
  ASSERT_EQ(sort_by(2, options({"-tu32"}, input)).error, "");
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder_ / "dir")) {
    left.push_back(entry.path().filename());
  }
  std::ranges::sort(left);
  EXPECT_EQ(left, (std::vector<std::string>{"gsort-notes", "mine"}));
}

TEST_F(ResumedOnCluster, LeavesNothingWithoutRuns) {
  const std::string input = write("in", bytes_of(random_keys(1'000, 9)));
  // Before anything is formed; and nothing is ever formed of narrow keys.
  ASSERT_NE(sort_by(3, options({"-tu32"}, input), Interruption{MessageKind::kCollective, 15}).error,
            "");
  EXPECT_EQ(elements_kept(), 0);
  EXPECT_FALSE(fs::exists(folder_ / "dir"));
  ASSERT_EQ(sort_by(3, options({"-tu8"}, input)).error, "");
  expect_nothing_left();
  const std::string plan = sort_by(2, options({"-tu32", "--explain"}, input)).plan;
  EXPECT_TRUE(contains(plan, "reads 1.95 KiB")) << plan;
  expect_nothing_left();
}

TEST_F(ResumedOnCluster, IsExplained) {
  const std::string input = write("in", bytes_of(random_keys(1'024, 9)));
  ASSERT_NE(sort_by(3, options({"-tu32"}, input), Interruption{MessageKind::kCounts}).error, "");
  const std::string plan = sort_by(1, options({"-tu32", "--explain"}, input)).plan;
  EXPECT_TRUE(contains(plan, "reads 0 B, 3 runs (3 of 4 KiB there already)")) << plan;
  EXPECT_EQ(elements_kept(), 1'024);
}

TEST_F(ResumedOnCluster, NeedsOpenFilesForEachFolder) {
  const std::string input = write("in", bytes_of(random_keys(1'000, 9)));
  ASSERT_NE(sort_by(3, options({"-tu32"}, input), Interruption{MessageKind::kCounts}).error, "");
  rlimit usual = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit few = {47, usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const std::string error = sort_by(1, options({"-tu32"}, input)).error;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_TRUE(contains(error, "a process needs 48, and the limit is 47")) << error;
}

TEST_F(ResumedOnCluster, RefusesAnotherSort) {
  const Keys keys = random_keys(1'000, 9);
  const std::string input = write("in", bytes_of(keys));
  ASSERT_NE(sort_by(3, options({"-tu32"}, input), Interruption{MessageKind::kCounts}).error, "");
  const auto expect_refused = [&](const Options& sort, const char* reason, const char* way_out) {
    for (const unsigned processes : {1U, 2U}) {
      const std::string error = sort_by(processes, sort).error;
      EXPECT_TRUE(contains(error, reason)) << error;
      EXPECT_TRUE(contains(error, way_out)) << error;
      EXPECT_EQ(elements_kept(), 1'000);
      EXPECT_FALSE(fs::exists(folder_ / "out"));
    }
  };
  const std::string remove =
      "if no other sort uses it, remove " + folder_ / "dir/gsort-*" + " to start again";
  expect_refused(options({"-ti32"}, input), "the saved sort differs: it was 'u32", remove.c_str());
  expect_refused(options({"-tu32", "--no-verify"}, input), "not verified", remove.c_str());
  {
    const std::string folder = a_kept_folder();
    const io::ResumeFolder used(folder, io::ResumeAccess::kUse);
    expect_refused(options({"-tu32"}, input), "another gsort is using it", "wait until it ends");
  }
  fs::last_write_time(input, fs::last_write_time(input) + std::chrono::seconds(1));
  expect_refused(options({"-tu32"}, input), "has changed since", remove.c_str());
  (void)write("in", bytes_of(random_keys(1'001, 9)));
  expect_refused(options({"-tu32"}, input), "had 4000 bytes", remove.c_str());
}

TEST_F(ResumedOnCluster, RefusesWhatIsDamagedOrOfGsort) {
  const std::string input = write("in", bytes_of(random_keys(1'000, 9)));
  const Options sort = options({"-tu32"}, input);
  ASSERT_NE(sort_by(2, sort, Interruption{MessageKind::kCounts}).error, "");
  const std::string folder = a_kept_folder();
  Bytes manifest = io::test::read_file(folder + "/gsort.manifest");
  manifest[70] ^= std::byte{1};
  io::test::write_file(folder + "/gsort.manifest", manifest);
  EXPECT_TRUE(contains(sort_by(2, sort).error, "its checksum does not match"));
  manifest[70] ^= std::byte{1};
  io::test::write_file(folder + "/gsort.manifest", manifest);
  const Bytes runs = io::test::read_file(folder + "/gsort.runs");
  io::test::write_file(folder + "/gsort.runs", Bytes(runs.begin(), runs.begin() + 64));
  EXPECT_TRUE(contains(sort_by(2, sort).error, "of 8192 that were written"))
      << sort_by(2, sort).error;
  io::test::write_file(folder + "/gsort.runs", runs);
  ASSERT_EQ(sort_by(2, sort).error, "");
  expect_nothing_left();
  (void)write("gsort.manifest", {});
  Options of_gsort = sort;
  of_gsort.resume = folder_.path();
  const std::string error = sort_by(2, of_gsort).error;
  EXPECT_TRUE(contains(error, "it holds runs of gsort")) << error;
}

// The output takes the place of the input; then, before the runs are removed, the processes end.
TEST_F(ResumedOnCluster, TellsThatTheOutputMayHaveReplacedTheInput) {
  Keys keys = random_keys(1'000, 1U << 31);
  const std::string input = write("in", bytes_of(keys));
  Options sort = options({"-tu32"}, input);
  sort.output = input;
  ASSERT_NE(sort_by(2, sort, Interruption{MessageKind::kCounts}).error, "");
  const fs::path kept = folder_ / "kept";
  fs::copy(folder_ / "dir", kept, fs::copy_options::recursive);
  ASSERT_EQ(sort_by(2, sort).error, "");
  // As it was just before the removal.
  fs::create_directory(folder_ / "dir");
  for (const auto& entry : fs::directory_iterator(kept)) {
    if (!entry.is_directory()) continue;
    const std::string path = folder_ / "dir/" + entry.path().filename().string();
    fs::copy(entry.path(), path, fs::copy_options::recursive);
    io::ResumeFolder folder(path, io::ResumeAccess::kUse);
    io::Manifest manifest = *folder.found();
    manifest.is_committing = true;
    folder.save(manifest);
  }
  fs::remove_all(kept);
  const std::string error = sort_by(3, sort).error;
  EXPECT_TRUE(contains(error, "if the output has replaced that input, the sort is complete"))
      << error;
  std::ranges::sort(keys);
  EXPECT_TRUE(std::ranges::equal(io::test::read_file(input), bytes_of(keys)));
}

}  // namespace
}  // namespace gsort::cluster
