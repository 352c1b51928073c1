// Sorts that end early, at every run and in every merge, and are continued: the bytes are those of
// an undisturbed sort, and at most the unfinished run is made again.
#include "pipeline/run_folder.hpp"

#include <filesystem>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "io/codecs/compress.hpp"
#include "support/decimal_text.hpp"
#include "support/resumable_sort.hpp"
#include "support/stably_sorted.hpp"
#include "support/typed_keys.hpp"

namespace gsort {
namespace {

using io::test::contains;
using io::test::error_of;
using test::Bytes;
using test::Interruption;
using test::ProcessResult;
using test::ResumableSort;

constexpr KeyFormat kU32{KeyType::kU32, false, false};
constexpr std::uint64_t kKeys = 3'000'000;  // some runs with the usual 12M

const Bytes& input() {
  static const Bytes bytes = test::generated(kU32, Distribution::kUniform, kKeys);
  return bytes;
}

const Bytes& sorted_input() {
  static const Bytes bytes = test::sorted_copy(input(), kU32);
  return bytes;
}

Interruption in_chunk(unsigned chunk) {
  return {chunk, std::nullopt};
}

Interruption in_merge(unsigned merge) {
  return {std::nullopt, merge};
}

// The process was ended by the test, and has left the folder alone, if there is a run in it.
void expect_ended(const ResumableSort& sort, const ProcessResult& result, bool has_runs = true) {
  ASSERT_TRUE(result.error.has_value());
  EXPECT_TRUE(contains(result.error->what(), "ends as the test wanted")) << result.error->what();
  using Names = std::vector<std::string>;
  EXPECT_EQ(sort.others(), has_runs ? Names{"dir"} : Names{});
}

void expect_done(const ResumableSort& sort, const ProcessResult& result, const Bytes& wanted) {
  ASSERT_FALSE(result.error.has_value()) << result.error->what();
  EXPECT_TRUE(sort.output() == wanted);
  EXPECT_EQ(sort.others(), std::vector<std::string>{});
}

class ResumedOnEngine : public testing::TestWithParam<const char*> {};

TEST_P(ResumedOnEngine, AfterEveryRunFormsTheOthersOnly) {
  unsigned runs = 1;
  for (unsigned run = 0; run < runs; ++run) {
    SCOPED_TRACE(run);
    ResumableSort sort({input()});
    sort.engine = GetParam();
    const ProcessResult ended = sort.run(in_chunk(run));
    expect_ended(sort, ended, run > 0);
    runs = static_cast<unsigned>(ended.plan.run.count);
    const ProcessResult done = sort.run();
    expect_done(sort, done, sorted_input());
    EXPECT_EQ(done.plan.resumed.runs, run);
    EXPECT_EQ(done.outcome.resumed_runs, run);
    EXPECT_EQ(done.outcome.runs, runs);
    EXPECT_EQ(done.outcome.run_key_bytes,
              input().size() - run * ended.plan.chunk.chunk_elements * sizeof(std::uint32_t));
    EXPECT_EQ(done.outcome.elements, kKeys);
  }
  EXPECT_GT(runs, 2U);
}

TEST_P(ResumedOnEngine, InEveryMergeKeepsWhatHasBeenMerged) {
  bool is_done = false;
  for (unsigned merge = 0; !is_done; ++merge) {
    SCOPED_TRACE(merge);
    ResumableSort sort({input()});
    sort.engine = GetParam();
    sort.options.batch_size = 2;
    const ProcessResult ended = sort.run(in_merge(merge));
    is_done = !ended.error.has_value();
    if (is_done) {
      EXPECT_EQ(merge, ended.plan.run.count - 1) << "a merge of two for every run but one";
      return expect_done(sort, ended, sorted_input());
    }
    expect_ended(sort, ended);
    const ProcessResult done = sort.run();
    expect_done(sort, done, sorted_input());
    EXPECT_EQ(done.outcome.resumed_runs, ended.plan.run.count - merge);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, ResumedOnEngine, testing::Values("cpu", "std"),
                         [](const auto& engine) { return std::string(engine.param); });

TEST(RunFolder, ComesToAnEndWhereEveryProcessTakesOneStep) {
  ResumableSort sort({input()});
  sort.options.batch_size = 2;
  const Interruption in_the_second = {1, 1};
  ProcessResult result = sort.run(in_the_second);
  const std::uint64_t runs = result.plan.run.count;
  std::uint64_t processes = 1;
  while (result.error) {
    expect_ended(sort, result);
    const ResumedRuns before = result.plan.resumed;
    result = sort.run(in_the_second);
    const ResumedRuns now = result.plan.resumed;
    ASSERT_TRUE(now.elements > before.elements || now.runs < before.runs) << "no headway";
    ++processes;
  }
  expect_done(sort, result, sorted_input());
  EXPECT_EQ(processes, 2 * runs - 2) << "runs and merges, of which two processes take two";
}

TEST(RunFolder, MayHaveOtherResourcesEveryTime) {
  struct Resources {
    const char* budget;
    const char* engine;
    unsigned threads;
    std::optional<unsigned> batch_size;
    Packing packing;
    unsigned devices_before = 0;
    unsigned devices = 0;
  };
  const Resources others[] = {
      {"12M", "cpu", 1, std::nullopt, Packing::kOff},
      {"12M", "std", 4, std::nullopt, Packing::kOn},
      {"8M", "cpu", 2, std::nullopt, Packing::kAuto},
      {"8M", "std", 1, 2, Packing::kAuto},
      {"64M", "cpu", 2, 2, Packing::kOff},
      {"1G", "std", 4, 3, Packing::kAuto},
      {"1G", "std", 2, std::nullopt, Packing::kAuto, 0, 4},
      {"1G", "std", 2, std::nullopt, Packing::kAuto, 3, 1},
      {"1G", "std", 2, std::nullopt, Packing::kAuto, 1, 2},
      {"64M", "cpu", 2, std::nullopt, Packing::kAuto, 2, 0},
  };
  for (const Resources& other : others) {
    SCOPED_TRACE(testing::Message() << other.budget << other.threads << other.engine
                                    << other.devices_before << other.devices);
    ResumableSort sort({input()});
    sort.options.gpu_memory = "20M";
    sort.devices = other.devices_before;
    sort.engine = sort.devices > 0 ? "std" : "cpu";
    if (sort.devices > 0) sort.options.buffer_size = "1G";
    const ProcessResult ended = sort.run(in_chunk(2));
    expect_ended(sort, ended);
    sort.options.buffer_size = other.budget;
    sort.options.parallel = other.threads;
    sort.options.batch_size = other.batch_size;
    sort.options.packing = other.packing;
    sort.engine = other.engine;
    sort.devices = other.devices;
    const ProcessResult done = sort.run();
    expect_done(sort, done, sorted_input());
    EXPECT_EQ(ended.plan.devices.size(), other.devices_before);
    EXPECT_EQ(done.plan.devices.size(), other.devices);
    EXPECT_EQ(done.outcome.resumed_runs, 2U);
    EXPECT_EQ(done.plan.run.block_elements, ended.plan.run.block_elements);
  }
}

// From much memory to little, and the other way.
TEST(RunFolder, KeepsToTheBlocksThatAreThere) {
  for (const auto& [first, second] : {std::pair("24M", "8M"), std::pair("8M", "24M")}) {
    const Bytes keys = test::generated(kU32, Distribution::kUniform, 6'000'000);
    ResumableSort sort({keys});
    sort.options.buffer_size = first;
    expect_ended(sort, sort.run(in_chunk(1)));
    sort.options.buffer_size = second;
    expect_done(sort, sort.run(), test::sorted_copy(keys, kU32));
  }
}

TEST(RunFolder, TakesSeveralInputsAsOne) {
  const auto at = [](std::size_t key) {
    return input().begin() + static_cast<std::ptrdiff_t>(key * sizeof(std::uint32_t));
  };
  const std::vector<Bytes> parts = {{at(0), at(1)},
                                    {},
                                    {at(1), at(1'000'001)},
                                    {at(1'000'001), at(2'400'000)},
                                    {at(2'400'000), at(kKeys)}};
  for (unsigned run = 0; run < 3; ++run) {
    ResumableSort sort(parts);
    expect_ended(sort, sort.run(in_chunk(run)), run > 0);
    const ProcessResult done = sort.run();
    expect_done(sort, done, sorted_input());
    EXPECT_EQ(done.outcome.resumed_runs, run);
  }
}

// Inputs of which only reading tells the size, as the options say them.
struct Form {
  const char* name;
  InputForm form;
  Bytes (*of)(const Bytes& raw);
};

Bytes as_text(const Bytes& raw) {
  return io::test::bytes_of(test::decimal_text(test::keys_of<std::uint32_t>(raw)));
}

Bytes as_gzip(const Bytes& raw) {
  Bytes compressed;
  io::compress(Codec::kGzip, 1, raw, compressed);
  return compressed;
}

const Form kForms[] = {{"text", {FileFormat::kText, Codec::kNone}, as_text},
                       {"gzip", {FileFormat::kBinary, Codec::kGzip}, as_gzip}};

TEST(RunFolder, ReadsInputsOfUnknownSizeAgainUpToWhereTheRunsEnd) {
  for (const Form& form : kForms) {
    for (const bool verify : {true, false}) {
      SCOPED_TRACE(testing::Message() << form.name << verify);
      ResumableSort sort({form.of(input())});
      sort.options.input_form = form.form;
      sort.options.buffer_size = "32M";
      sort.options.verify = verify;
      const ProcessResult ended = sort.run(in_chunk(1));
      expect_ended(sort, ended);
      Meter meter;
      sort.meter = &meter;
      const ProcessResult done = sort.run();
      expect_done(sort, done, sorted_input());
      EXPECT_EQ(done.outcome.resumed_runs, 1U);
      EXPECT_EQ(done.outcome.run_key_bytes,
                input().size() - ended.plan.chunk.chunk_elements * sizeof(std::uint32_t));
      EXPECT_EQ(meter.phases().front().total_bytes, 0U) << "nobody knows it";
    }
  }
}

TEST(RunFolder, OfRecordsKeepsTheOrderOfEqualOnes) {
  RecordFormat format;
  format.bytes = 24;
  format.keys = {{2, 1, KeyType::kU8, false, false}, {8, 10, std::nullopt, false, true}};
  Bytes records = io::test::random_bytes(24 * 400'000);
  for (std::byte& byte : records) byte &= std::byte{1};  // many are equal
  const Bytes wanted = test::stably_sorted(records, format);
  for (const unsigned batch_size : {2U, 100U}) {
    for (const Interruption& interruption : {in_chunk(1), in_chunk(2), in_merge(0)}) {
      ResumableSort sort({records});
      sort.options.records = format;
      sort.options.batch_size = batch_size;
      expect_ended(sort, sort.run(interruption));
      const ProcessResult done = sort.run();
      expect_done(sort, done, wanted);
      EXPECT_GT(done.outcome.resumed_runs, 0U);
    }
  }
}

TEST(RunFolder, MayAskForAnotherPartOfTheResult) {
  const std::vector<std::uint32_t> sorted = test::keys_of<std::uint32_t>(sorted_input());
  const std::set<std::uint32_t> distinct(sorted.begin(), sorted.end());
  const std::vector<std::uint32_t> unique(distinct.begin(), distinct.end());
  ASSERT_LT(unique.size(), sorted.size());
  const std::function<void(Options&)> ways[] = {
      [](Options&) {},
      [](Options& options) { options.unique = true; },
      [](Options& options) { options.top = 1'000; },
      [](Options& options) { options.top = kKeys - 1; },
  };
  const std::span<const std::uint32_t> wanted[] = {sorted, unique, std::span(sorted).first(1'000),
                                                   std::span(sorted).first(kKeys - 1)};
  for (std::size_t first = 0; first < std::size(ways); ++first) {
    if (first == 2) continue;  // selects, and makes no runs
    for (std::size_t second = 0; second < std::size(ways); ++second) {
      SCOPED_TRACE(testing::Message() << first << ' ' << second);
      ResumableSort sort({input()});
      sort.options.buffer_size = "16M";
      const Options as_usual = sort.options;
      ways[first](sort.options);
      expect_ended(sort, sort.run(in_merge(0)));
      sort.options = as_usual;
      ways[second](sort.options);
      const ProcessResult done = sort.run();
      expect_done(sort, done, test::bytes_of_keys(wanted[second]));
      EXPECT_EQ(done.outcome.resumed_runs, done.outcome.runs);
    }
  }
}

TEST(RunFolder, OfOneChunkLeavesNothing) {
  ResumableSort sort({input()});
  sort.options.buffer_size = "256M";
  const ProcessResult done = sort.run();
  expect_done(sort, done, sorted_input());
  EXPECT_EQ(done.outcome.runs, 0U);
}

// Whatever kills a process, the next one finds who made the folder.
TEST(RunFolder, IsOnTheDiskBeforeTheFirstChunkIsRead) {
  ResumableSort sort({input()});
  bool is_seen = false;
  sort.before_reading = [&] {
    const io::ResumeFolder folder(sort.folder(), io::ResumeAccess::kLook);
    is_seen = folder.found() && folder.found()->folder_is_made && folder.found()->runs.empty();
  };
  expect_done(sort, sort.run(), sorted_input());
  EXPECT_TRUE(is_seen);
}

// Whoever goes on may have so much memory that no run is needed.
TEST(RunFolder, OfAKilledSortMayTurnOutToBeOfOneChunk) {
  ResumableSort sort({input()});
  const io::test::TempFolder elsewhere;
  const std::string killed = elsewhere / "dir";
  sort.before_reading = [&] { std::filesystem::copy(sort.folder(), killed); };
  expect_ended(sort, sort.run(in_chunk(0)), false);
  std::filesystem::rename(killed, sort.folder());
  sort.before_reading = nullptr;
  sort.options.buffer_size = "256M";
  const ProcessResult done = sort.run();
  expect_done(sort, done, sorted_input());
  EXPECT_EQ(done.outcome.runs, 0U);
}

// As after a kill between the rename that put the output in place and the clearing of the folder.
TEST(RunFolder, OfAnInputThatItsOutputHasReplacedIsRefused) {
  using io::sys::Call;
  ResumableSort sort({input()});
  sort.options.output = sort.input(0);
  const std::uint64_t renames = [&] {
    ResumableSort other({input()});
    other.options.output = other.input(0);
    const io::test::FaultScope counting({Call::kRename, UINT64_MAX, EIO});
    EXPECT_FALSE(other.run().error.has_value());
    return io::sys::counted_calls();
  }();
  {
    const io::test::FaultScope fault({Call::kRename, renames, EIO});
    EXPECT_FALSE(sort.run().error.has_value());
  }
  ASSERT_TRUE(sort.has_folder());
  EXPECT_TRUE(sort.output() == sorted_input());
  const Error error = error_of([&] { sort.run(); });
  EXPECT_TRUE(contains(error.what(), "about to be put in place")) << error.what();
  EXPECT_TRUE(contains(error.hint(), "the sort is complete")) << error.hint();
  EXPECT_TRUE(sort.output() == sorted_input());
}

TEST(RunFolder, ThatCouldNotCommitGoesOnAtTheLastMerge) {
  using io::sys::Call;
  ResumableSort sort({input()});
  const auto without_output = [&] {
    const io::test::FaultScope fault({Call::kMode, 1, EIO});
    return sort.run();
  }();
  ASSERT_TRUE(without_output.error.has_value());
  const ProcessResult done = sort.run();
  expect_done(sort, done, sorted_input());
  EXPECT_GT(done.plan.resumed.runs, 1U);
}

TEST(RunFolder, LeavesAFolderThatWasThere) {
  ResumableSort sort({input()});
  std::filesystem::create_directory(sort.folder());
  expect_ended(sort, sort.run(in_chunk(1)));
  EXPECT_FALSE(sort.run().error.has_value());
  ASSERT_TRUE(sort.has_folder());
  EXPECT_TRUE(std::filesystem::is_empty(sort.folder()));
}

// The change between two processes, and the message of the second one.
struct Change {
  const char* says;
  std::function<void(ResumableSort&)> make;
};

// Writes to a file and gives it the time that it had.
void write_unseen(const std::string& path, std::size_t at, const Bytes& bytes) {
  const auto time = std::filesystem::last_write_time(path);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at));
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::filesystem::last_write_time(path, time);
}

void touch(const std::string& path) {
  std::filesystem::last_write_time(
      path, std::filesystem::last_write_time(path) + std::chrono::nanoseconds(1));
}

const Change kChanges[] = {
    {"in0 has changed since", [](ResumableSort& sort) { touch(sort.input(0)); }},
    {"in0 had 12000000 bytes, and",
     [](ResumableSort& sort) { std::filesystem::resize_file(sort.input(0), 12'000'004); }},
    {"the inputs hold other elements than before",
     [](ResumableSort& sort) { write_unseen(sort.input(0), 0, Bytes(4)); }},
    {"the saved sort is of 1 input, this one of 2",
     [](ResumableSort& sort) { sort.options.inputs.push_back(sort.input(0)); }},
    {"the saved sort differs: it was 'u32 little endian ascending;",
     [](ResumableSort& sort) { sort.options.key.type = KeyType::kI32; }},
    {"this one is 'u32 little endian descending;",
     [](ResumableSort& sort) { sort.options.key.descending = true; }},
    {"this one is 'u32 big endian ascending;",
     [](ResumableSort& sort) { sort.options.key.big_endian = true; }},
    {"; not verified'", [](ResumableSort& sort) { sort.options.verify = false; }},
    {"; skip 4;", [](ResumableSort& sort) { sort.options.input_form.skip_bytes = 4; }},
    {"input as text,",
     [](ResumableSort& sort) { sort.options.input_form.format = FileFormat::kText; }},
    {"this one is 'records of 4 bytes, u16 of 2 at 1 little endian descending;",
     [](ResumableSort& sort) {
       sort.options.records.emplace();
       sort.options.records->bytes = 4;
       sort.options.records->keys = {{1, 2, KeyType::kU16, false, true}};
     }},
};

TEST(RunFolder, RefusesWhatIsNotTheSameSort) {
  for (const Change& change : kChanges) {
    SCOPED_TRACE(change.says);
    ResumableSort other({input()});
    expect_ended(other, other.run(in_chunk(1)));
    change.make(other);
    const Error error = error_of([&] { (void)other.run(); });
    EXPECT_EQ(error.kind(), ErrorKind::kTemporary);
    EXPECT_TRUE(contains(error.what(), change.says)) << error.what();
    EXPECT_TRUE(contains(error.hint(), "to start again")) << error.hint();
    EXPECT_EQ(other.others(), std::vector<std::string>{"dir"}) << "what is there stays";
  }
}

TEST(RunFolder, ComparesInputsOfUnknownSizeWhileReadingThemAgain) {
  ResumableSort sort({as_text(input())});
  sort.options.input_form = kForms[0].form;
  sort.options.buffer_size = "20M";
  expect_ended(sort, sort.run(in_chunk(1)));
  const Bytes first = io::test::read_file(sort.input(0));
  write_unseen(sort.input(0), 0, {first[0] == std::byte{'1'} ? std::byte{'2'} : std::byte{'1'}});
  const ProcessResult result = sort.run();
  ASSERT_TRUE(result.error.has_value());
  EXPECT_TRUE(contains(result.error->what(), "the inputs hold other elements than before"))
      << result.error->what();
}

// Changes the manifest as somebody would who knows the format.
void tamper(const ResumableSort& sort, const std::function<void(io::Manifest&)>& change) {
  const std::string path = sort.folder() + "/gsort.manifest";
  io::Manifest manifest;
  ASSERT_EQ(io::parse_manifest(io::test::read_file(path), manifest), "");
  change(manifest);
  io::test::write_file(path, io::encode_manifest(manifest));
}

TEST(RunFolder, RefusesMoreElementsThanTheInputsHold) {
  ResumableSort sort({input()});
  expect_ended(sort, sort.run(in_chunk(1)));
  tamper(sort, [](io::Manifest& manifest) {
    manifest.runs[0].input.count = kKeys + 1;
    manifest.runs[0].index.blocks = kKeys;
  });
  const Error error = error_of([&] { (void)sort.run(); });
  EXPECT_TRUE(contains(error.what(), "its contents are inconsistent")) << error.what();
}

TEST(RunFolder, ProvesTheRunsOfBeforeToo) {
  ResumableSort sort({input()});
  expect_ended(sort, sort.run(in_chunk(2)));
  tamper(sort, [](io::Manifest& manifest) { ++manifest.runs[1].input.first; });
  const ProcessResult result = sort.run();
  ASSERT_TRUE(result.error.has_value());
  EXPECT_EQ(result.error->kind(), ErrorKind::kCorrupt);
  EXPECT_FALSE(std::filesystem::exists(*sort.options.output));
}

TEST(RunFolder, NoticesARunThatTheDiskHasChanged) {
  ResumableSort sort({input()});
  expect_ended(sort, sort.run(in_chunk(2)));
  const std::string runs = sort.folder() + "/gsort.runs";
  Bytes bytes = io::test::read_file(runs);
  bytes[100'000] ^= std::byte{1};
  io::test::write_file(runs, bytes);
  const ProcessResult result = sort.run();
  ASSERT_TRUE(result.error.has_value());
  EXPECT_EQ(result.error->kind(), ErrorKind::kCorrupt);
  EXPECT_TRUE(contains(result.error->what(), "of run 0")) << result.error->what();
  EXPECT_FALSE(std::filesystem::exists(*sort.options.output));
}

}  // namespace
}  // namespace gsort
