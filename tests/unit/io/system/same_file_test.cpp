#include "io/system/same_file.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

class SameFile : public testing::Test {
 protected:
  SameFile() {
    test::write_file(folder_ / "a", {});
    test::write_file(folder_ / "b", {});
    std::filesystem::create_directory(folder_ / "inner");
    std::filesystem::create_symlink(folder_ / "a", folder_ / "link");
    std::filesystem::create_hard_link(folder_ / "a", folder_ / "hard");
  }
  [[nodiscard]] bool same(const std::string& a, const std::string& b) const {
    return same_file(folder_ / a, folder_ / b);
  }
  test::TempFolder folder_;
};

TEST_F(SameFile, IsFoundByAnyOfItsNames) {
  EXPECT_TRUE(same("a", "a"));
  EXPECT_TRUE(same("a", "inner/../a"));
  EXPECT_TRUE(same("a", "link"));
  EXPECT_TRUE(same("hard", "link"));
  EXPECT_FALSE(same("a", "b"));
}

TEST_F(SameFile, IsTheNameInTheFolderWhereThereIsNoFileYet) {
  EXPECT_TRUE(same("new", "inner/../new"));
  EXPECT_FALSE(same("new", "newer"));
  EXPECT_FALSE(same("new", "inner/new"));
  EXPECT_FALSE(same("new", "a"));
  EXPECT_FALSE(same("no/new", "no/new")) << "nothing can be put there";
  EXPECT_TRUE(same_file("no-such-file", "./no-such-file"));
}

TEST_F(SameFile, IsFoundBehindLinksToNoFileYet) {
  std::filesystem::create_symlink("inner/../new", folder_ / "ahead");
  std::filesystem::create_symlink(folder_ / "ahead", folder_ / "inner/far");
  std::filesystem::create_symlink("circle", folder_ / "circle");
  EXPECT_TRUE(same("new", "ahead"));
  EXPECT_TRUE(same("inner/far", "ahead"));
  EXPECT_FALSE(same("ahead", "newer"));
  EXPECT_FALSE(same("circle", "new"));
}

TEST_F(SameFile, DoesNotMeanDevices) {
  EXPECT_FALSE(same_file("/dev/null", "/dev/null"));
}

TEST_F(SameFile, IsNoStreamButAFifoIs) {
  for (const char* const name : {"fifo", "other"}) {
    ASSERT_EQ(::mkfifo((folder_ / name).c_str(), 0600), 0);
  }
  std::filesystem::create_symlink("fifo", folder_ / "behind");
  EXPECT_TRUE(same_stream(folder_ / "fifo", folder_ / "behind"));
  EXPECT_FALSE(same_stream(folder_ / "fifo", folder_ / "other"));
  EXPECT_FALSE(same_stream(folder_ / "fifo", folder_ / "a"));
  EXPECT_FALSE(same_stream(folder_ / "a", folder_ / "a"));
  EXPECT_FALSE(same_stream(folder_ / "new", folder_ / "new"));
  EXPECT_FALSE(same_stream("/dev/null", "/dev/null"));
}

}  // namespace
}  // namespace gsort::io
