#include "pipeline/survey.hpp"

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/codecs/compress.hpp"
#include "io/system/host_facts.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

TEST(CoresFor, AreAsAskedElseAllThereAre) {
  EXPECT_EQ(cores_for(3), 3U);
  EXPECT_EQ(cores_for(std::nullopt), io::host_facts().cores);
}

TEST(Survey, LooksAtFoldersInputAndMachine) {
  const io::test::TempFolder folder;
  io::test::write_file(folder / "in", io::test::random_bytes(4'000));
  io::Reader reader({folder / "in"}, {4});
  const Machine machine = survey({folder.path()}, folder.path(), reader);
  EXPECT_EQ(machine.input_bytes, 4'000U);
  EXPECT_GE(machine.cores, 1U);
  EXPECT_GT(machine.memory_bytes, 0U);
  EXPECT_LE(machine.available_bytes, machine.memory_bytes);
  ASSERT_EQ(machine.temporary.size(), 1U);
  ASSERT_TRUE(machine.output.has_value());
  EXPECT_EQ(machine.temporary[0].path, folder.path());
  EXPECT_EQ(machine.temporary[0].file_system, machine.output->file_system);
  EXPECT_TRUE(machine.gpus.empty());
  EXPECT_FALSE(machine.no_gpu_reason.empty());
}

TEST(Survey, SaysWhetherTheInputIsCached) {
  const io::test::TempFolder folder;
  io::test::write_file(folder / "in", io::test::random_bytes(std::size_t{64} << 20));
  io::Reader reader({folder / "in"}, {4});
  EXPECT_TRUE(survey({folder.path()}, folder.path(), reader).input_is_cached) << "just written";
  io::test::write_file(folder / "small", io::test::random_bytes(4));
  io::Reader both({folder / "in", folder / "small"}, {4});
  EXPECT_TRUE(survey({folder.path()}, folder.path(), both).input_is_cached);
  io::Reader direct({folder / "in"}, {4, {DirectIo::kOn}});
  EXPECT_FALSE(survey({folder.path()}, folder.path(), direct).input_is_cached);
}

TEST(Survey, LooksAtWhatDecodersNeed) {
  const io::test::TempFolder folder;
  io::test::Bytes xz;
  io::compress(Codec::kXz, 0, io::test::random_bytes(4'000), xz);
  io::test::write_file(folder / "a.xz", xz);
  io::test::write_file(folder / "b", io::test::random_bytes(4'000));
  io::test::write_file(folder / "c", io::test::bytes_of("1\n2\n"));
  io::Reader reader({folder / "a.xz", folder / "b", folder / "c"}, {4});
  const Machine machine = survey({folder.path()}, folder.path(), reader);
  ASSERT_EQ(machine.compressed.size(), 1U);
  EXPECT_EQ(machine.compressed[0].path, folder / "a.xz");
  EXPECT_EQ(machine.compressed[0].need.codec, Codec::kXz);
  EXPECT_GT(machine.compressed[0].need.bytes, 256 * kKiB);
  EXPECT_LT(machine.compressed[0].need.bytes, kMiB);
}

TEST(Survey, KnowsNoFolderOfAStream) {
  const io::test::TempFolder folder;
  io::test::write_file(folder / "in", {});
  io::Reader reader({folder / "in"}, {4});
  EXPECT_FALSE(survey({folder.path()}, "", reader).output.has_value());
}

TEST(Survey, NotesATemporaryFolderThatIsNotThere) {
  const io::test::TempFolder folder;
  io::test::write_file(folder / "in", {});
  io::Reader reader({folder / "in"}, {4});
  const Machine machine = survey({folder / "none"}, "", reader);
  ASSERT_EQ(machine.temporary.size(), 1U);
  EXPECT_EQ(machine.temporary[0].path, folder / "none");
  EXPECT_EQ(machine.temporary[0].problem, ENOENT);
}

TEST(Survey, RefusesAnOutputWhoseFolderCannotBeLookedAt) {
  const io::test::TempFolder folder;
  io::test::write_file(folder / "in", {});
  io::Reader reader({folder / "in"}, {4});
  const Error error =
      io::test::error_of([&] { (void)survey({folder.path()}, folder / "none", reader); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutput);
  EXPECT_EQ(error.path(), folder / "none");
}

}  // namespace
}  // namespace gsort
