#include "io/output/output.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <random>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/parallel.hpp"
#include "io/input/reader.hpp"
#include "io/system/linkable_file.hpp"
#include "io/system/temporary_file.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

void write_whole(Output& output, ConstByteSpan bytes) {
  output.prepare(bytes.size());
  output.write_at(0, bytes);
  output.commit(bytes.size());
}

class OutputFile : public testing::Test {
 protected:
  const TempFolder folder_;
};

TEST_F(OutputFile, AppearsWholeWhenCommitted) {
  const Bytes data = random_bytes(100'000);
  Output output(folder_ / "out");
  EXPECT_FALSE(output.is_stream());
  EXPECT_EQ(output.path(), folder_ / "out");
  EXPECT_EQ(output.folder(), folder_.path());
  output.prepare(data.size());
  output.write_at(0, data);
  EXPECT_TRUE(folder_.entries().empty());
  output.commit(data.size());
  EXPECT_EQ(read_file(folder_ / "out"), data);
  EXPECT_EQ(folder_.entries().size(), 1U);
}

TEST_F(OutputFile, MayBeginAgain) {
  const Bytes data = random_bytes(100'000);
  Output output(folder_ / "out");
  output.prepare(200'000);
  output.write_at(50'000, random_bytes(150'000, 2));
  ASSERT_TRUE(output.restart());
  output.prepare(data.size());
  output.write_at(0, data);
  EXPECT_TRUE(folder_.entries().empty());
  output.commit(data.size());
  EXPECT_EQ(read_file(folder_ / "out"), data);
  EXPECT_EQ(folder_.entries().size(), 1U);
}

TEST_F(OutputFile, HasItsSizeButNoBlocksBeforeItIsWritten) {
  Output output(folder_ / "out", {.direct_io = DirectIo::kOff});
  output.prepare(300'000);
  struct stat facts = {};
  ASSERT_EQ(::fstat(test::file_in(folder_.path()), &facts), 0);
  EXPECT_EQ(facts.st_size, 300'000);
  EXPECT_EQ(facts.st_blocks, 0);
}

TEST_F(OutputFile, IsNotFilledWithZerosWhereFilesHaveNoHoles) {
  Output output(folder_ / "out", {.direct_io = DirectIo::kOff});
  const FaultScope fault({sys::Call::kFallocate, 1, EOPNOTSUPP, true});
  output.prepare(300'000);
  struct stat facts = {};
  ASSERT_EQ(::fstat(test::file_in(folder_.path()), &facts), 0);
  EXPECT_EQ(facts.st_size, 0);
}

// By /proc, as if to free the space of a removed file.
TEST_F(OutputFile, IsRefusedIfAnotherProgramMakesItShorter) {
  const Bytes data = random_bytes(300'000);
  for (const DirectIo policy : {DirectIo::kOff, DirectIo::kOn}) {
    for (const std::size_t before : {100'000U, 200'000U, 300'000U}) {
      Output output(folder_ / "out", {.direct_io = policy});
      output.prepare(data.size());
      output.write_at(0, ConstByteSpan(data).first(before));
      ASSERT_EQ(::ftruncate(test::file_in(folder_.path()), 50'000), 0);
      const Error error = test::error_of([&] {
        output.write_at(before, ConstByteSpan(data).subspan(before));
        output.commit(data.size());
      });
      EXPECT_EQ(error.reason(), "another program has made the file shorter");
      EXPECT_EQ(error.path(), folder_ / "out");
    }
  }
  EXPECT_TRUE(folder_.entries().empty());
}

TEST_F(OutputFile, LeavesNothingAndTheOldFileWithoutCommit) {
  write_file(folder_ / "old", bytes_of("old content"));
  {
    Output replaced(folder_ / "old");
    Output fresh(folder_ / "new");
    replaced.write_at(0, random_bytes(1000));
    fresh.write_at(0, random_bytes(1000));
  }
  EXPECT_EQ(read_file(folder_ / "old"), bytes_of("old content"));
  EXPECT_EQ(folder_.entries().size(), 1U);
}

TEST_F(OutputFile, TakesPiecesOfEveryAlignmentFromManyThreads) {
  const Arena memory(std::size_t{3} << 20, "tests");
  const Bytes random = random_bytes(memory.size());
  std::copy(random.begin(), random.end(), memory.data());
  for (const DirectIo policy : {DirectIo::kOff, DirectIo::kOn}) {
    for (const std::size_t shift : {0U, 4U}) {  // 4: addresses out of step with offsets
      const ConstByteSpan data = ConstByteSpan(memory.bytes()).subspan(shift, memory.size() - 100);
      Output output(folder_ / "out", {.direct_io = policy});
      output.prepare(data.size());
      std::vector<std::size_t> cuts = {0, data.size()};
      std::mt19937 numbers(7);
      for (int i = 0; i < 60; ++i) cuts.push_back(numbers() % data.size());
      for (std::size_t i = 1; i < 20; ++i) cuts.push_back(i * 8192);
      std::sort(cuts.begin(), cuts.end());
      for_each_number(4, cuts.size() - 1, [&](unsigned, std::uint64_t i) {
        output.write_at(cuts[i], data.subspan(cuts[i], cuts[i + 1] - cuts[i]));
      });
      output.commit(data.size());
      EXPECT_TRUE(std::ranges::equal(read_file(folder_ / "out"), data));
    }
  }
}

TEST_F(OutputFile, FallsBackWhereDirectWritesAreRefused) {
  const Arena data(std::size_t{1} << 20, "tests");
  Output output(folder_ / "out", {.direct_io = DirectIo::kOn});
  output.prepare(data.size());
  {
    const FaultScope fault({sys::Call::kPwrite, 1, EINVAL});
    output.write_at(0, data.bytes());
  }
  EXPECT_TRUE(contains(output.notes().back(), "O_DIRECT is not supported here"));
  output.commit(data.size());
  EXPECT_EQ(read_file(folder_ / "out").size(), data.size());
}

TEST_F(OutputFile, MakesRoomForDirectWritesBeforeTheFirst) {
  Output output(folder_ / "out", {.direct_io = DirectIo::kOn});
  const FaultScope fault({sys::Call::kFallocate, 1, ENOSPC});
  const Error error = error_of([&] { output.prepare(1 << 20); });
  EXPECT_EQ(error.error_number(), ENOSPC);
  EXPECT_TRUE(contains(error.what(), "making room for " + (folder_ / "out")));
  EXPECT_FALSE(error.hint().empty());
}

TEST_F(OutputFile, DoesWithoutRoomMadeAheadWhereTheFileSystemCannot) {
  const Bytes data = random_bytes(100'000);
  const FaultScope fault({sys::Call::kFallocate, 1, EOPNOTSUPP});
  Output output(folder_ / "out", {.direct_io = DirectIo::kOn});
  write_whole(output, data);
  EXPECT_EQ(read_file(folder_ / "out"), data);
}

TEST_F(OutputFile, WritesAnEmptyFile) {
  Output output(folder_ / "out");
  write_whole(output, {});
  EXPECT_EQ(std::filesystem::file_size(folder_ / "out"), 0U);
}

TEST_F(OutputFile, MayBeItsInput) {
  const Bytes before = random_bytes(50'000, 1);
  const Bytes after = random_bytes(50'000, 2);
  write_file(folder_ / "f", before);
  Reader reader({folder_ / "f"});
  Output output(folder_ / "f");
  output.prepare(after.size());
  output.write_at(0, after);
  const Arena buffer(65536, "tests");
  const auto block = reader.next(buffer.bytes());
  ASSERT_TRUE(block);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), buffer.data()));
  reader.check_unchanged();
  output.commit(after.size());
  EXPECT_EQ(read_file(folder_ / "f"), after);
}

struct Stretch {
  std::size_t begin;
  std::size_t end;
};

// The writes of a faulty writer for an output of 30,000 bytes.
struct Lie {
  const char* what;
  std::vector<Stretch> written;
  std::size_t committed = 30'000;
};

const std::vector<Lie>& lies() {
  static const std::vector<Lie> all = {
      {"nothing is written", {}},
      {"the beginning is missing", {{8, 30'000}}},
      {"a place in the middle is missing", {{0, 10'000}, {10'100, 30'000}}},
      {"the end is missing", {{0, 20'000}}},
      {"a piece is put twice", {{0, 20'000}, {10'000, 20'000}, {20'000, 30'000}}},
      {"a piece is put twice in place of another", {{0, 10'000}, {0, 10'000}, {20'000, 30'000}}},
      {"pieces of a window are put twice in place of others",
       {{0, 16'384}, {16'384, 20'480}, {16'384, 20'480}, {24'576, 30'000}}},
      {"a window is put twice in place of another", {{0, 8192}, {0, 8192}, {16'384, 30'000}}},
      {"a piece is put a little further behind", {{0, 10'000}, {10'008, 20'008}, {20'008, 30'000}}},
      {"a piece is put over the next one", {{0, 10'008}, {10'000, 30'000}}},
      {"more is put than there is", {{0, 30'008}}},
      {"the end is cut off", {{0, 30'000}}, 20'000},
  };
  return all;
}

class OutputOf : public testing::TestWithParam<DirectIo> {};
INSTANTIATE_TEST_SUITE_P(Policies, OutputOf, testing::Values(DirectIo::kOn, DirectIo::kOff));

TEST_P(OutputOf, DoesNotAppearWhereNotEveryByteWasWrittenOnce) {
  const TempFolder folder;
  const Bytes data = random_bytes(40'000);
  for (const Lie& lie : lies()) {
    SCOPED_TRACE(lie.what);
    write_file(folder / "out", bytes_of("old"));
    const Error error = error_of([&] {
      Output output(folder / "out", {.direct_io = GetParam()});
      output.prepare(30'000, {.bytes = 8192, .count = 4});
      for (const auto [begin, end] : lie.written) {
        output.write_at(begin, ConstByteSpan(data).subspan(begin, end - begin));
      }
      output.commit(lie.committed);
    });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
    EXPECT_EQ(error.path(), folder / "out");
    EXPECT_TRUE(contains(error.hint(), "bug in gsort"));
    EXPECT_EQ(read_file(folder / "out"), bytes_of("old"));
    EXPECT_EQ(folder.entries().size(), 1U);
  }
}

// A file that the kernel makes longer or shorter than it was told to.
TEST_F(OutputFile, DoesNotAppearWithAnotherSize) {
  const Folder place = open_folder(folder_.path(), ErrorKind::kOutput);
  LinkableFile file(place, "other", "other");
  file.file().write_full_at(bytes_of("whole"), 0);
  file.file().truncate(4);
  EXPECT_EQ(error_of([&] { file.put_in_place(false, 5); }).kind(), ErrorKind::kCorrupt);
  EXPECT_TRUE(folder_.entries().empty());
}

TEST_F(OutputFile, SaysWhereItIsNotWhatWasWritten) {
  const Folder place = open_folder(folder_.path(), ErrorKind::kOutput);
  const auto expect_error = [&](const std::vector<Stretch>& written, std::size_t bytes,
                                const char* what, std::uint64_t offset) {
    LinkableFile file(place, "other", "other");
    for (const auto [begin, end] : written) {
      file.file().write_full_at(random_bytes(end - begin), begin);
    }
    const Error error = error_of([&] { file.put_in_place(false, bytes); });
    EXPECT_TRUE(contains(error.what(), what)) << error.what();
    EXPECT_EQ(error.offset_bytes(), offset);
  };
  expect_error({{0, 10}, {20, 30}}, 30, "data is missing here", 10);
  expect_error({{0, 10}, {20, 30}}, 10, "data was written past the end", 10);
  expect_error({{0, 30}}, 10, "data was written past the end", 10);
}

TEST_F(OutputFile, KeepsTheModeOfWhatItReplaces) {
  write_file(folder_ / "f", bytes_of("x"));
  ASSERT_EQ(::chmod((folder_ / "f").c_str(), 0640), 0);
  Output output(folder_ / "f");
  write_whole(output, bytes_of("y"));
  EXPECT_EQ(mode_of(folder_ / "f"), 0640U);
}

TEST_F(OutputFile, GivesANewFileTheModeOfTheUser) {
  for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{077}}) {
    const mode_t saved = ::umask(mask);
    Output output(folder_ / std::to_string(mask));
    write_whole(output, bytes_of("y"));
    EXPECT_EQ(::umask(saved), mask);  // left as it was
    EXPECT_EQ(mode_of(folder_ / std::to_string(mask)), 0666U & ~mask);
  }
}

TEST_F(OutputFile, KeepsTheOwnerOfWhatItReplacesForRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  write_file(folder_ / "f", bytes_of("x"));
  ASSERT_EQ(::chown((folder_ / "f").c_str(), 1234, 2345), 0);
  Output output(folder_ / "f");
  write_whole(output, bytes_of("y"));
  struct stat facts = {};
  ASSERT_EQ(::stat((folder_ / "f").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_uid, 1234U);
  EXPECT_EQ(facts.st_gid, 2345U);
}

TEST_F(OutputFile, GivesTheGroupNoMoreThanOthersWhenTheOwnerCannotBeKept) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file of somebody else";
  write_file(folder_ / "f", bytes_of("x"));
  ASSERT_EQ(::chown((folder_ / "f").c_str(), 1234, 2345), 0);
  ASSERT_EQ(::chmod((folder_ / "f").c_str(), 04664), 0);
  Output output(folder_ / "f");
  output.write_at(0, bytes_of("y"));
  {
    // Both fchown calls fail, and fchmod then works: the third call of the kind.
    const FaultScope fault({sys::Call::kMode, 1, EPERM});
    output.commit(1);
  }
  EXPECT_EQ(mode_of(folder_ / "f") & 04000U, 0U);
}

TEST_F(OutputFile, ReplacesWhatASymbolicLinkPointsTo) {
  std::filesystem::create_directory(folder_ / "sub");
  write_file(folder_ / "sub/real", bytes_of("old"));
  std::filesystem::create_symlink("sub/real", folder_ / "link");
  std::filesystem::create_symlink("link", folder_ / "link2");
  Output output(folder_ / "link2");
  write_whole(output, bytes_of("new"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link2"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "sub/real"), bytes_of("new"));
  std::filesystem::create_symlink("sub/fresh", folder_ / "dangling");
  Output dangling(folder_ / "dangling");
  write_whole(dangling, bytes_of("made"));
  EXPECT_EQ(read_file(folder_ / "sub/fresh"), bytes_of("made"));
}

TEST_F(OutputFile, TakesAHiddenNameWhereThereAreNoUnnamedFiles) {
  write_file(folder_ / "out", bytes_of("old"));
  for (const bool commit : {false, true}) {
    // Calls of open: the folder, what the mask for new files is, then the unnamed file.
    const FaultScope fault({sys::Call::kOpen, 3, EOPNOTSUPP});
    Output output(folder_ / "out");
    EXPECT_EQ(folder_.entries().size(), 2U);
    output.write_at(0, bytes_of("new"));
    if (commit) output.commit(3);
    EXPECT_TRUE(contains(output.notes().at(0), "no unnamed files"));
  }
  EXPECT_EQ(read_file(folder_ / "out"), bytes_of("new"));
  EXPECT_EQ(folder_.entries().size(), 1U);
}

TEST_F(OutputFile, GoesThroughAHiddenNameWhenSomebodyTookItsName) {
  Output output(folder_ / "out");
  output.write_at(0, bytes_of("ours"));
  write_file(folder_ / "out", bytes_of("theirs"));
  output.commit(4);
  EXPECT_EQ(read_file(folder_ / "out"), bytes_of("ours"));
  EXPECT_EQ(folder_.entries().size(), 1U);
}

// As after a kill between link and rename, and somebody has moved the old output away since.
TEST_F(OutputFile, RemovesTheHiddenNameThatAKilledSortLeftThoughItNeedsNone) {
  const TempFolder temp;
  {
    const Folder folder = open_folder(temp.path(), ErrorKind::kOutput);
    NewFile killed = create_linkable(folder, "out", "out");
    if (killed.name.empty()) {
      ASSERT_EQ(link_hidden(killed.file, folder, "out", killed.name), 0);
    }
  }
  ASSERT_EQ(temp.entries().size(), 1U);
  Output output(temp / "out");
  write_whole(output, bytes_of("new content"));
  EXPECT_EQ(temp.entries(), std::vector<std::string>{"out"});
}

TEST_F(OutputFile, StaysAsItWasWhenTheNewOneCannotBeSynced) {
  write_file(folder_ / "out", bytes_of("old content"));
  {
    Output output(folder_ / "out");
    const FaultScope fault({sys::Call::kFsync, 1, EIO});
    EXPECT_EQ(error_of([&] { write_whole(output, bytes_of("new")); }).error_number(), EIO);
  }
  EXPECT_EQ(read_file(folder_ / "out"), bytes_of("old content"));
  EXPECT_EQ(folder_.entries().size(), 1U);
}

TEST_F(OutputFile, SaysThatItsNameMayNotBeOnTheDisk) {
  Output output(folder_ / "out");
  const FaultScope fault({sys::Call::kFsync, 2, EIO});
  const Error error = error_of([&] { write_whole(output, bytes_of("new")); });
  EXPECT_EQ(error.error_number(), EIO);
  EXPECT_EQ(error.what(), "syncing " + folder_.path() +
                              ": Input/output error\n"
                              "  the new output is in place, but may not survive a power cut; the "
                              "disk reported an error; see the system log");
  EXPECT_EQ(read_file(folder_ / "out"), bytes_of("new"));
}

TEST_F(OutputFile, OfSeveralSyncsTheFolderOfEachName) {
  for (std::uint64_t nth = 1; nth <= 2; ++nth) {  // sync of a folder
    const TempFolder first;
    const TempFolder second;
    std::vector<Output> outputs;
    for (const TempFolder* folder : {&first, &second}) {
      outputs.emplace_back(*folder / "out").prepare(3);
      outputs.back().write_at(0, bytes_of("new"));
      outputs.back().finish(3);
    }
    const FaultScope fault({sys::Call::kFsync, nth, EIO});
    EXPECT_EQ(error_of([&] { commit_all(outputs); }).error_number(), EIO) << nth;
    EXPECT_EQ(read_file(first / "out"), bytes_of("new"));
    EXPECT_EQ(read_file(second / "out"), bytes_of("new"));
  }
}

TEST_F(OutputFile, IsTakenBackWhereItsNameCannotBeSyncedBeforeOthersKnowOfIt) {
  std::vector<Output> outputs;
  outputs.emplace_back(folder_ / "out").prepare(0);
  outputs.back().finish(0);
  const FaultScope fault({sys::Call::kFsync, 1, EIO});
  const Error error =
      error_of([&] { commit_all(outputs, [] { ADD_FAILURE() << "others were told"; }); });
  EXPECT_EQ(error.error_number(), EIO);
  EXPECT_FALSE(contains(error.hint(), "in place"));
  EXPECT_TRUE(folder_.entries().empty());
}

TEST_F(OutputFile, SyncsTheFileSystemWhereItsFolderMayNotBeRead) {
  const auto unreadable = [&] {
    const FaultScope fault({sys::Call::kOpen, 1, EACCES});
    return std::make_unique<Output>(folder_ / "out");
  }();
  ASSERT_FALSE(unreadable->notes().empty());
  EXPECT_TRUE(contains(unreadable->notes().back(), "not readable"));
  const FaultScope fault({sys::Call::kFsync, 2, EIO});
  const Error error = error_of([&] { write_whole(*unreadable, bytes_of("new")); });
  EXPECT_TRUE(contains(error.what(), "syncing the file system of")) << error.what();
  EXPECT_TRUE(contains(error.hint(), "is in place, but may not survive a power cut"));
  EXPECT_EQ(read_file(folder_ / "out"), bytes_of("new"));
}

TEST_F(OutputFile, SaysWhatIsWrongWithTheTarget) {
  write_file(folder_ / "file", bytes_of("x"));
  std::filesystem::create_symlink("loop", folder_ / "loop");
  const auto refusal = [](const std::string& path) {
    const Error error = error_of([&] { const Output output(path); });
    EXPECT_EQ(error.kind(), ErrorKind::kOutput);
    return error.error_number();
  };
  EXPECT_EQ(refusal(folder_.path()), EISDIR);
  EXPECT_EQ(refusal(folder_ / "none/out"), ENOENT);
  EXPECT_EQ(refusal(folder_ / "file/out"), ENOTDIR);
  EXPECT_EQ(refusal(folder_ / "loop"), ELOOP);
  EXPECT_EQ(refusal(folder_ / "new/"), ENOENT);
}

TEST_F(OutputFile, RefusesFoldersAndFilesThatMayNotBeWritten) {
  if (::geteuid() == 0) GTEST_SKIP() << "root can write everywhere";
  write_file(folder_ / "file", bytes_of("x"));
  ASSERT_EQ(::chmod((folder_ / "file").c_str(), 0444), 0);
  EXPECT_EQ(error_of([&] { const Output output(folder_ / "file"); }).error_number(), EACCES);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
  EXPECT_EQ(error_of([&] { const Output output(folder_ / "new"); }).error_number(), EACCES);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
}

TEST_F(OutputFile, ChecksSpaceBeforeTheFirstByte) {
  Output output(folder_ / "out");
  const Error error = error_of([&] { output.prepare(std::uint64_t{1} << 60); });
  EXPECT_EQ(error.kind(), ErrorKind::kResource);
  EXPECT_TRUE(contains(error.what(),
                       "making room for the output in " + folder_.path() + ": 1 EiB needed, "));
}

TEST_F(OutputFile, ChecksTheLimitOnFileSizes) {
  struct rlimit saved = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &saved), 0);
  const struct rlimit small = {1 << 20, saved.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  ::signal(SIGXFSZ, SIG_IGN);
  Output output(folder_ / "out");
  const Error checked = error_of([&] { output.prepare(2 << 20); });
  const Error hit = error_of([&] { output.write_at(2 << 20, bytes_of("x")); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &saved), 0);
  EXPECT_EQ(checked.kind(), ErrorKind::kResource);
  EXPECT_EQ(hit.error_number(), EFBIG);
  EXPECT_TRUE(contains(hit.what(), "ulimit -f"));
}

TEST_F(OutputFile, ChoosesDirectWritesInOnePlace) {
  EXPECT_FALSE(wants_direct_output(DirectIo::kOff, std::uint64_t{1} << 40, false));
  EXPECT_TRUE(wants_direct_output(DirectIo::kOn, 1, true));
  EXPECT_TRUE(wants_direct_output(DirectIo::kAuto, std::uint64_t{1} << 30, false));
  EXPECT_FALSE(wants_direct_output(DirectIo::kAuto, std::uint64_t{1} << 30, true));
  EXPECT_FALSE(wants_direct_output(DirectIo::kAuto, 1000, false));
}

}  // namespace
}  // namespace gsort::io
