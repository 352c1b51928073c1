// A folder of runs after each step of each of its uses: a process does some steps and is killed.
// Another one then finds the runs that a model names, with their elements, and continues to the
// same end.
#include <cerrno>
#include <filesystem>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/system/memory.hpp"
#include "pipeline/run_folder.hpp"
#include "support/stably_sorted.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

constexpr std::uint64_t kKeptKeys = 3000;  // of the input: 0, 1, 2, ...
constexpr std::uint64_t kRunElements = 1000;
constexpr std::uint64_t kKeptBlock = 100;

enum class Use : std::uint8_t { kResume, kShare, kRank };

// The content of the folder.
struct Held {
  bool is_there = false;
  bool is_committing = false;
  bool is_share = false;
  std::vector<std::uint64_t> runs;  // their elements, in the order of the input

  [[nodiscard]] std::uint64_t elements() const {
    return std::accumulate(runs.begin(), runs.end(), std::uint64_t{0});
  }
};

// A process that uses the folder.
class Process {
 public:
  Process(const std::string& input, const std::string& folder, Use use)
      : reader_({input}, {4, {DirectIo::kAuto}, {FileFormat::kBinary, Codec::kNone}}),
        kept_({folder, wanted(use)}, io::ResumeAccess::kUse, reader_),
        store_({folder}, 4, options()) {}

  [[nodiscard]] RunFolder& kept() { return kept_; }

  void take_up() {
    Proof proof(ElementFormat{{KeyType::kU32, false, false}, {}}, true);
    runs_ = kept_.take_up(store_, proof);
    EXPECT_EQ(proof.input().count, kept_.found().elements);
  }

  void add(std::uint64_t begin) {
    runs_.push_back(written(begin, kRunElements));
    kept_.begin_at(begin);
    kept_.add(store_, runs_.back(), {kRunElements, begin, 0});
  }

  // Merges all runs.
  void merge() {
    const io::Run merged = written(0, kKeptKeys);
    kept_.replace(store_, 0, runs_, merged);
    runs_.clear();
  }

 private:
  [[nodiscard]] io::Manifest wanted(Use use) const {
    io::Manifest manifest = manifest_of("a job", 4, reader_);
    manifest.has_places = use == Use::kRank;
    return manifest;
  }

  io::RunStoreOptions options() {
    io::RunStoreOptions options;
    options.block_elements = kKeptBlock;
    options.persistent = kept_.begin(kKeptBlock);
    return options;
  }

  io::Run written(std::uint64_t begin, std::uint64_t count) {
    std::vector<std::uint32_t> keys(count);
    std::iota(keys.begin(), keys.end(), static_cast<std::uint32_t>(begin));
    io::RunWriter writer = store_.begin_run(count);
    writer.put(0, std::as_bytes(std::span(keys)));
    return writer.finish();
  }

  io::Reader reader_;
  RunFolder kept_;
  io::RunStore store_;
  std::vector<io::Run> runs_;
};

struct Step {
  std::function<void(Process&)> act;
  std::function<void(Held&)> expect;
};

Step adding(std::uint64_t run) {
  return {[run](Process& process) { process.add(run * kRunElements); },
          [](Held& held) { held.runs.push_back(kRunElements); }};
}

std::vector<Step> steps_of(Use use) {
  std::vector<Step> steps;
  for (std::uint64_t run = 0; run < kKeptKeys / kRunElements; ++run) steps.push_back(adding(run));
  if (use == Use::kShare) {
    steps.push_back({[](Process& process) { process.kept().complete(io::ManifestShare{}); },
                     [](Held& held) { held.is_share = true; }});
    return steps;
  }
  if (use == Use::kResume) {
    steps.push_back(
        {[](Process& process) { process.merge(); }, [](Held& held) { held.runs = {kKeptKeys}; }});
  }
  steps.push_back({[](Process& process) { process.kept().expect_commit(); },
                   [](Held& held) { held.is_committing = true; }});
  steps.push_back(
      {[](Process& process) { process.kept().remove(); }, [](Held& held) { held = {}; }});
  return steps;
}

class KeptFolder : public testing::TestWithParam<Use> {
 protected:
  KeptFolder() {
    std::vector<std::uint32_t> keys(kKeptKeys);
    std::iota(keys.begin(), keys.end(), 0U);
    io::test::write_file(input_, std::as_bytes(std::span(keys)));
  }

  // Another process does the first steps, and is killed.
  void kill_after(std::size_t steps) const {
    const pid_t child = fork();
    if (child == 0) {
      Process process(input_, folder_, GetParam());
      for (std::size_t step = 0; step < steps; ++step) steps_[step].act(process);
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }

  [[nodiscard]] Held held_after(std::size_t steps) const {
    Held held;
    held.is_there = true;
    for (std::size_t step = 0; step < steps; ++step) steps_[step].expect(held);
    return held;
  }

  // All runs hold the elements of their places.
  void expect_held(const Held& held) const {
    io::ResumeFolder folder(folder_, io::ResumeAccess::kLook);
    ASSERT_EQ(folder.exists(), held.is_there);
    if (!held.is_there) return;
    const io::Manifest& manifest = folder.found().value();
    EXPECT_EQ(manifest.is_committing, held.is_committing);
    EXPECT_EQ(manifest.share.has_value(), held.is_share);
    ASSERT_EQ(manifest.runs.size(), held.runs.size());
    KeptStores stores;
    Plan plan;
    plan.element_bytes = 4;
    const io::RunStore& store = stores.open(plan, folder);
    std::uint32_t begin = 0;
    for (std::size_t run = 0; run < held.runs.size(); ++run) {
      EXPECT_EQ(manifest.runs[run].first_element, GetParam() == Use::kRank ? begin : 0);
      const io::Run found = stores.largest()->find(manifest.runs[run]);
      ASSERT_EQ(found.elements(), held.runs[run]);
      std::vector<std::uint32_t> keys(found.elements());
      const io::Arena scratch(store.scratch_bytes(), "the test");
      found.read_range(0, found.elements(), std::as_writable_bytes(std::span(keys)),
                       scratch.bytes());
      for (const std::uint32_t key : keys) ASSERT_EQ(key, begin++);
    }
  }

  // The next process takes up the runs and does the other steps.
  void go_on_after(std::size_t steps) const {
    Process process(input_, folder_, GetParam());
    EXPECT_EQ(process.kept().found().elements, held_after(steps).elements());
    process.take_up();
    for (std::size_t step = steps; step < steps_.size(); ++step) steps_[step].act(process);
  }

  const io::test::TempFolder outside_;
  const std::string input_ = outside_ / "in";
  const std::string folder_ = outside_ / "kept";
  const std::vector<Step> steps_ = steps_of(GetParam());
};

TEST_P(KeptFolder, IsWhatTheModelSaysAfterAKillBehindAnyStep) {
  for (std::size_t steps = 0; steps < steps_.size(); ++steps) {
    SCOPED_TRACE(testing::Message() << steps << " steps");
    ASSERT_NO_FATAL_FAILURE(kill_after(steps));
    ASSERT_NO_FATAL_FAILURE(expect_held(held_after(steps)));
    go_on_after(steps);
    expect_held(held_after(steps_.size()));
    std::filesystem::remove_all(folder_);
  }
}

TEST_P(KeptFolder, KeepsAFileOfRunsThatIsNotItsOwn) {
  kill_after(0);
  const std::string runs = folder_ + "/gsort.runs";
  std::filesystem::create_hard_link(runs, outside_ / "mine");
  EXPECT_THROW(Process(input_, folder_, GetParam()), Error);
  EXPECT_TRUE(std::filesystem::exists(runs));
}

TEST_P(KeptFolder, HoldsNothingIfItCannotBegin) {
  bool has_begun = false;
  for (std::uint64_t call = 1; !has_begun; ++call) {
    SCOPED_TRACE(testing::Message() << "open " << call);
    try {
      const io::test::FaultScope fault({io::sys::Call::kOpen, call, EMFILE});
      const Process process(input_, folder_, GetParam());
      has_begun = true;
    } catch (const Error&) {
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/gsort.manifest"));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/gsort.runs"));
  }
}

std::string name_of_use(const testing::TestParamInfo<Use>& use) {
  const char* const names[] = {"Resume", "Share", "Rank"};
  return names[static_cast<std::size_t>(use.param)];
}

INSTANTIATE_TEST_SUITE_P(Uses, KeptFolder, testing::Values(Use::kResume, Use::kShare, Use::kRank),
                         name_of_use);

}  // namespace
}  // namespace gsort
