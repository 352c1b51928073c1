#include "io/system/space.hpp"

#include <array>

#include <fcntl.h>

#include "io/system/host_facts.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

class Space : public testing::Test {
 protected:
  [[nodiscard]] std::uint64_t free() const { return folder_facts(folder_.path())->free_bytes; }
  const TempFolder folder_;
  const std::vector<std::string> here_ = {folder_.path()};
  const std::vector<std::string> twice_ = {folder_.path(), folder_.path()};
};

TEST_F(Space, IsEnoughForLittle) {
  const std::array needs = {SpaceNeed{here_, 4096, "runs"}, SpaceNeed{here_, 4096, "the output"}};
  EXPECT_NO_THROW(require_space(needs));
}

TEST_F(Space, IsNotCountedTwiceForTwoNeedsOrTwoFolders) {
  const std::uint64_t most = free() / 4 * 3;
  const std::array fits = {SpaceNeed{here_, most, "runs"}};
  EXPECT_NO_THROW(require_space(fits));
  const std::array together = {SpaceNeed{here_, most, "runs"},
                               SpaceNeed{here_, most, "the output"}};
  const Error error = error_of([&] { require_space(together); });
  EXPECT_EQ(error.kind(), ErrorKind::kResource);
  EXPECT_TRUE(contains(error.what(), "making room for the output in " + folder_.path()));
  EXPECT_TRUE(contains(error.what(), "needed, "));
  EXPECT_TRUE(contains(error.hint(), "free "));
  const std::array spread = {SpaceNeed{twice_, free() / 4 * 6, "runs"}};
  EXPECT_EQ(error_of([&] { require_space(spread); }).kind(), ErrorKind::kResource);
}

TEST_F(Space, IsAddedUpOverFileSystems) {
  if (!folder_facts("/dev/shm")) GTEST_SKIP() << "no second file system here";
  const std::vector<std::string> both = {folder_.path(), "/dev/shm"};
  const std::uint64_t memory = folder_facts("/dev/shm")->free_bytes;
  if (memory < 1 << 20) GTEST_SKIP() << "/dev/shm is full";
  const std::array needs = {SpaceNeed{both, free() / 8 * 7 + memory / 8, "runs"}};
  EXPECT_NO_THROW(require_space(needs));
}

TEST_F(Space, IsInFoldersThatMayBeWritten) {
  if (::geteuid() == 0) GTEST_SKIP() << "root can write everywhere";
  const TempFolder other;
  ASSERT_EQ(::chmod(other.path().c_str(), 0500), 0);
  const std::vector<std::string> both = {folder_.path(), other.path()};
  const std::array needs = {SpaceNeed{both, 4096, "runs"}};
  const Error error = error_of([&] { require_space(needs); });
  EXPECT_EQ(error.kind(), ErrorKind::kResource);
  EXPECT_TRUE(contains(error.what(), "making room for runs in " + other.path()));
  const std::array nothing = {SpaceNeed{both, 0, "runs"}};
  EXPECT_NO_THROW(require_space(nothing));
}

TEST_F(Space, IsNotJudgedWhereItCannotBeAsked) {
  const std::vector<std::string> none = {"/none/such"};
  const std::array needs = {SpaceNeed{none, 1, "runs"}};
  EXPECT_NO_THROW(require_space(needs));
}

TEST(MemoryWatch, FindsNoRoomForAllOfTheMemoryOfTheHost) {
  MemoryWatch watch;
  EXPECT_TRUE(watch.has_room_for(1));
  EXPECT_FALSE(watch.has_room_for(host_facts().memory_bytes));
}

TEST(MemoryWatch, NamesTheKindOfMemoryThatIsFull) {
  const File output(::open("/dev/null", O_WRONLY | O_CLOEXEC), "out", ErrorKind::kOutput);
  const std::uint64_t all = host_facts().memory_bytes;
  MemoryWatch on_disk;
  EXPECT_NO_THROW(on_disk.require_room_for(output, all));
  MemoryWatch in_memory("ramfs");
  const Error error = error_of([&] { in_memory.require_room_for(output, all); });
  EXPECT_TRUE(contains(error.hint(), "in memory (ramfs), which is full")) << error.hint();
}

}  // namespace
}  // namespace gsort::io
