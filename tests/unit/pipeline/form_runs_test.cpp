#include "pipeline/form_runs.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/system/memory.hpp"
#include "support/engines.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using Keys = std::vector<std::uint32_t>;

Keys random_keys(std::size_t count) {
  Keys keys(count);
  std::mt19937 random(1);
  for (auto& key : keys) key = static_cast<std::uint32_t>(random());
  return keys;
}

// A plan for this many devices, each with three lanes.
Plan plan_of_devices(unsigned devices, std::uint64_t chunk_elements) {
  Plan plan;
  plan.job.element.key = {KeyType::kU32, false, false};
  plan.job.forms_share = true;
  plan.element_bytes = sizeof(Keys::value_type);
  plan.strategy = Spill{};
  plan.devices.resize(devices);
  plan.chunk.block_bytes = 8192;
  plan.chunk.chunk_elements = chunk_elements;
  plan.chunk.lanes = 3 * devices;
  plan.chunk.readers = 4;
  plan.chunk.spillers = devices;
  return plan;
}

// Runs of an input in a file, where runs are all that is wanted.
class Formation {
 public:
  Formation(const Keys& input, Plan plan, const std::string& engine = "std")
      : input_(input), plan_(std::move(plan)), engine_(engine, shape_of(plan_)) {}

  FormedRuns form(RunFolder* run_folder = nullptr) {
    // Else chunks are filled one after the other anyway.
    EXPECT_TRUE(reader_.is_cached() || input_.empty());
    const SortContext context{.plan = plan_,
                              .reader = &reader_,
                              .run_folder = run_folder,
                              .proof = &proof_,
                              .engine = engine_.operator->(),
                              .store = [this]() -> io::RunStore& { return store_; }};
    FormedRuns formed = form_runs(
        context, [](auto) -> PieceSink& { throw std::logic_error("nothing goes to the output"); });
    EXPECT_EQ(formed.elements, input_.size());
    EXPECT_EQ(proof_.input().count, input_.size());
    return formed;
  }
  // As a process of several, in a folder.
  FormedRuns form_kept(const std::string& folder) {
    io::Manifest wanted = manifest_of("job", sizeof(Keys::value_type), reader_);
    wanted.has_places = true;
    RunFolder run_folder({folder, std::move(wanted)}, io::ResumeAccess::kUse, reader_);
    (void)run_folder.begin(short_blocks().block_elements);
    return form(&run_folder);
  }
  [[nodiscard]] Keys keys_of(const io::Run& run) const {
    Keys keys(run.elements());
    const io::Arena scratch(store_.scratch_bytes(), "the test");
    run.read_range(0, run.elements(), std::as_writable_bytes(std::span(keys)), scratch.bytes());
    return keys;
  }
  [[nodiscard]] Fingerprint look(std::span<const std::uint32_t> keys) const {
    return proof_.look(std::as_bytes(keys));
  }

 private:
  static EngineShape shape_of(const Plan& plan) {
    EngineShape shape = test::shape_for(plan.job.element.key, plan.chunk.chunk_elements,
                                        plan.chunk.readers, plan.chunk.block_bytes);
    shape.chunk_lanes = plan.chunk.lanes;
    return shape;
  }
  static io::RunStoreOptions short_blocks() {
    io::RunStoreOptions options;
    options.block_elements = 1000;
    return options;
  }

  const Keys& input_;
  const Plan plan_;
  const io::test::TempFolder folder_;
  io::Reader reader_ = [this] {
    io::test::write_file(folder_ / "in", std::as_bytes(std::span(input_)));
    return io::Reader(
        {folder_ / "in"},
        {sizeof(Keys::value_type), {DirectIo::kAuto}, {FileFormat::kBinary, Codec::kNone}});
  }();
  test::EngineUnderTest engine_;
  Proof proof_{plan_.job.element, true};
  io::RunStore store_{{folder_.path()}, plan_.element_bytes, short_blocks()};
};

// A resumed sort reads the elements again that no run holds, by their place in the input.
TEST(FormRuns, KeepsRunsOfElementsThatFollowEachOther) {
  Keys input(2'000'000);
  std::iota(input.begin(), input.end(), 0U);
  Formation formation(input, plan_of_devices(1, 9000));
  const io::test::TempFolder folder;
  const FormedRuns formed = formation.form_kept(folder / "kept");
  const auto kept = io::ResumeFolder(folder / "kept", io::ResumeAccess::kRead).found().value().runs;
  ASSERT_EQ(kept.size(), formed.runs.size());
  std::uint64_t begin = 0;
  for (std::size_t run = 0; run < kept.size(); ++run) {
    EXPECT_EQ(formed.runs[run].elements(), kept[run].input.count);
    EXPECT_EQ(kept[run].first_element, begin);
    const auto stretch = std::span(input).subspan(begin, kept[run].input.count);
    EXPECT_EQ(formation.look(stretch), kept[run].input) << "from element " << begin;
    begin += kept[run].input.count;
  }
  EXPECT_EQ(begin, input.size());
}

// At the end of the input each reader finds a chunk that stays empty, and others are open.
TEST(FormRuns, MakesNoEmptyRunWhereChunksAreFilledSideBySide) {
  for (const unsigned devices : {1U, 3U}) {
    for (const std::uint64_t chunk : {2'000U, 9'000U}) {
      for (const unsigned readers : {1U, 4U}) {
        for (const std::size_t count : {1U, 2'048U, 18'000U, 27'001U, 40'000U}) {
          SCOPED_TRACE(testing::Message()
                       << devices << " devices, " << count << " keys in chunks of " << chunk << ", "
                       << readers << " readers");
          const Keys input = random_keys(count);
          Plan plan = plan_of_devices(devices, chunk);
          plan.chunk.readers = readers;
          Formation formation(input, std::move(plan));
          std::uint64_t elements = 0;
          for (const io::Run& run : formation.form().runs) {
            EXPECT_GT(run.elements(), 0U);
            elements += run.elements();
          }
          EXPECT_EQ(elements, count);
        }
      }
    }
  }
}

// The keys of the runs that the CPU engine makes of chunks that follow each other.
std::vector<Keys> runs_of(const Keys& input) {
  Plan plan = plan_of_devices(0, 8192);
  plan.chunk.lanes = plan.chunk.readers = plan.chunk.spillers = 1;
  Formation formation(input, std::move(plan), "cpu");
  std::vector<Keys> runs;
  for (const io::Run& run : formation.form().runs) runs.push_back(formation.keys_of(run));
  return runs;
}

Keys sorted(Keys keys) {
  std::ranges::sort(keys);
  return keys;
}

TEST(FormRuns, MakesARunOfTheOnlyChunkWhereRunsAreWanted) {
  const Keys input = random_keys(5000);
  EXPECT_EQ(runs_of(input), std::vector<Keys>{sorted(input)});
}

TEST(FormRuns, MakesNoRunOfNothing) {
  EXPECT_TRUE(runs_of({}).empty());
}

TEST(FormRuns, MakesNoRunOfWhatIsBehindTheLastChunk) {
  const Keys input = random_keys(16384);
  const Keys first(input.begin(), input.begin() + 8192);
  const Keys second(input.begin() + 8192, input.end());
  EXPECT_EQ(runs_of(input), (std::vector<Keys>{sorted(first), sorted(second)}));
}

}  // namespace
}  // namespace gsort
