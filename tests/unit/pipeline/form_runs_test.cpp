#include "pipeline/form_runs.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cpu/cpu_engine.hpp"
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

// Of so many devices, each with three lanes.
Plan plan_of_devices(unsigned devices, std::uint64_t chunk_elements) {
  Plan plan;
  plan.job.element.key = {KeyType::kU32, false, false};
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

// Who resumes a sort reads again what no run holds, by its place in the input.
TEST(FormRuns, KeepsRunsOfElementsThatFollowEachOther) {
  constexpr std::uint64_t kChunk = 9000;
  Keys input(2'000'000);
  std::iota(input.begin(), input.end(), 0U);
  const io::test::TempFolder folder;
  io::test::write_file(folder / "in", std::as_bytes(std::span(input)));
  io::Reader reader(
      {folder / "in"},
      {sizeof(Keys::value_type), DirectIo::kAuto, {FileFormat::kBinary, Codec::kNone}});
  ASSERT_TRUE(reader.is_cached());  // else chunks are filled one after the other anyway
  const Plan plan = plan_of_devices(1, kChunk);
  EngineShape shape =
      test::shape_for(plan.job.element.key, kChunk, plan.chunk.readers, plan.chunk.block_bytes);
  shape.chunk_lanes = plan.chunk.lanes;
  test::EngineUnderTest engine("std", shape);
  Proof proof(plan.job.element, true);
  io::RunStoreOptions options;
  options.block_elements = 1000;
  io::RunStore store({folder.path()}, plan.element_bytes, options);
  FormContext context{plan, *engine.operator->(), reader, proof, nullptr, nullptr};
  context.always_runs = true;
  std::uint64_t kept = 0;
  context.keep = [&](const io::Run& run, const Fingerprint& elements) {
    EXPECT_EQ(run.elements(), elements.count);
    const auto stretch = std::span(input).subspan(kept, elements.count);
    EXPECT_EQ(proof.look(std::as_bytes(stretch)), elements) << "from element " << kept;
    kept += elements.count;
  };
  (void)form_runs(
      context, [&]() -> io::RunStore& { return store; },
      [](auto) -> PieceSink& { throw std::logic_error("nothing goes to the output"); });
  EXPECT_EQ(kept, input.size());
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
          const io::test::TempFolder folder;
          io::test::write_file(folder / "in", std::as_bytes(std::span(input)));
          io::Reader reader(
              {folder / "in"},
              {sizeof(Keys::value_type), DirectIo::kAuto, {FileFormat::kBinary, Codec::kNone}});
          ASSERT_TRUE(reader.is_cached());
          Plan plan = plan_of_devices(devices, chunk);
          plan.chunk.readers = readers;
          EngineShape shape =
              test::shape_for(plan.job.element.key, chunk, readers, plan.chunk.block_bytes);
          shape.chunk_lanes = plan.chunk.lanes;
          test::EngineUnderTest engine("std", shape);
          Proof proof(plan.job.element, true);
          io::RunStoreOptions options;
          options.block_elements = 1000;
          io::RunStore store({folder.path()}, plan.element_bytes, options);
          const FormContext context{.plan = plan,
                                    .engine = *engine.operator->(),
                                    .reader = reader,
                                    .proof = proof,
                                    .meter = nullptr,
                                    .resumption = nullptr,
                                    .always_runs = true};
          const FormedRuns formed = form_runs(
              context, [&]() -> io::RunStore& { return store; },
              [](auto) -> PieceSink& { throw std::logic_error("nothing goes to the output"); });
          EXPECT_EQ(formed.elements, count);
          std::uint64_t elements = 0;
          for (const io::Run& run : formed.runs) {
            EXPECT_GT(run.elements(), 0U);
            elements += run.elements();
          }
          EXPECT_EQ(elements, count);
        }
      }
    }
  }
}

// Forms runs where runs are all that is wanted. Returns their keys.
std::vector<Keys> runs_of(const Keys& input, std::uint64_t chunk_elements) {
  const io::test::TempFolder folder;
  io::test::write_file(folder / "in", std::as_bytes(std::span(input)));
  io::Reader reader(
      {folder / "in"},
      {sizeof(Keys::value_type), DirectIo::kAuto, {FileFormat::kBinary, Codec::kNone}});
  Plan plan;
  plan.job.element.key = {KeyType::kU32, false, false};
  plan.element_bytes = sizeof(Keys::value_type);
  plan.chunk.block_bytes = 4096;
  plan.chunk.chunk_elements = chunk_elements;
  EngineShape shape;
  shape.format = plan.job.element.key;
  shape.threads = 1;
  shape.block_bytes = plan.chunk.block_bytes;
  shape.chunk_elements = chunk_elements;
  shape.chunk_lanes = 1;
  const io::Arena arena(64 << 20, "the test");
  const auto engine = cpu::make_cpu_engine(shape, arena.bytes());
  Proof proof(plan.job.element, true);
  io::RunStoreOptions options;
  options.block_elements = 1000;
  io::RunStore store({folder.path()}, plan.element_bytes, options);
  FormContext context{plan, *engine, reader, proof, nullptr, nullptr};
  context.always_runs = true;
  const FormedRuns formed = form_runs(
      context, [&]() -> io::RunStore& { return store; },
      [](auto) -> PieceSink& { throw std::logic_error("nothing goes to the output"); });
  EXPECT_EQ(formed.elements, input.size());
  EXPECT_EQ(proof.input().count, input.size());
  std::vector<Keys> runs;
  const io::Arena scratch(store.scratch_bytes(), "the test");
  for (const io::Run& run : formed.runs) {
    runs.emplace_back(run.elements());
    run.read_range(0, run.elements(), std::as_writable_bytes(std::span(runs.back())),
                   scratch.bytes());
  }
  return runs;
}

Keys sorted(Keys keys) {
  std::ranges::sort(keys);
  return keys;
}

TEST(FormRuns, MakesARunOfTheOnlyChunkWhereRunsAreWanted) {
  const Keys input = random_keys(5000);
  EXPECT_EQ(runs_of(input, 8192), std::vector<Keys>{sorted(input)});
}

TEST(FormRuns, MakesNoRunOfNothing) {
  EXPECT_TRUE(runs_of({}, 8192).empty());
}

TEST(FormRuns, MakesNoRunOfWhatIsBehindTheLastChunk) {
  const Keys input = random_keys(16384);
  const Keys first(input.begin(), input.begin() + 8192);
  const Keys second(input.begin() + 8192, input.end());
  EXPECT_EQ(runs_of(input, 8192), (std::vector<Keys>{sorted(first), sorted(second)}));
}

}  // namespace
}  // namespace gsort
