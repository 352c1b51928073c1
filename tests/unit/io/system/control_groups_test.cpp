#include "io/system/control_groups.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

// A kernel that says what a test wants it to say.
class ControlGroups : public testing::Test {
 protected:
  void says(const std::string& list) { write_file(places_.list, bytes_of(list)); }

  void has(const std::string& file, const std::string& text) {
    const std::string path = places_.mount + file;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    write_file(path, bytes_of(text));
  }

  [[nodiscard]] MemoryLimit memory() const { return memory_limit_of_groups(places_); }
  [[nodiscard]] std::uint64_t cores() const { return core_limit_of_groups(places_); }

 private:
  TempFolder folder_;
  GroupPlaces places_{folder_ / "list", folder_ / "groups"};
};

TEST_F(ControlGroups, OfVersion2LimitWithAllThatAreAbove) {
  says("0::/a/b\n");
  has("/a/b/memory.max", "max\n");
  has("/a/b/cpu.max", "max 100000\n");
  has("/a/memory.max", "1000000\n");
  has("/a/memory.current", "700000\n");
  has("/a/memory.stat", "anon 200000\ninactive_file 300000\nactive_file 100000\n");
  has("/a/cpu.max", "250000 100000\n");
  has("/memory.max", "2000000\n");
  has("/memory.current", "1999999\n");
  EXPECT_EQ(memory().limit, 1'000'000U);
  EXPECT_EQ(memory().left, 1U);  // above, where all of it is held
  EXPECT_EQ(cores(), 3U);
}

TEST_F(ControlGroups, MaySayThatMoreIsCachedThanCanBeCounted) {
  says("0::/a\n");
  has("/a/memory.max", "1000000\n");
  has("/a/memory.current", "700000\n");
  has("/a/memory.stat", "inactive_file 9223372036854775808\nactive_file 9223372036854775809\n");
  EXPECT_EQ(memory().left, 1'000'000U);
}

TEST_F(ControlGroups, OfVersion2DropWhatIsCached) {
  says("0::/\n");
  has("/memory.max", "1000000\n");
  has("/memory.current", "700000\n");
  has("/memory.stat", "anon 200000\ninactive_file 300000\nactive_file 100000\n");
  EXPECT_EQ(memory().left, 700'000U);
}

TEST_F(ControlGroups, OfVersion2SlowDownAboveALowerLimit) {
  says("0::/\n");
  has("/memory.max", "1000000\n");
  has("/memory.high", "600000\n");
  EXPECT_EQ(memory().limit, 600'000U);
}

TEST_F(ControlGroups, OfVersion1LimitWithAllThatAreAbove) {
  says("5:cpuacct:/x\n4:memory:/a\n3:cpu,cpuset:/a\n");
  has("/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  has("/memory/memory.limit_in_bytes", "1000000\n");
  has("/memory/memory.usage_in_bytes", "700000\n");
  has("/memory/memory.stat", "active_file 9\ntotal_inactive_file 300000\ntotal_active_file 1\n");
  has("/cpu/a/cpu.cfs_quota_us", "-1\n");
  has("/cpu/a/cpu.cfs_period_us", "100000\n");
  has("/cpu/cpu.cfs_quota_us", "50000\n");
  has("/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(memory().limit, 1'000'000U);
  EXPECT_EQ(memory().left, 600'001U);
  EXPECT_EQ(cores(), 1U);
}

// In a container the path may be one that only the host has.
TEST_F(ControlGroups, MayLieWhereOnlyTheMountIsSeen) {
  says("0::/host/only\n");
  has("/memory.max", "1000000\n");
  EXPECT_EQ(memory().limit, 1'000'000U);
}

TEST_F(ControlGroups, LimitNothingWhereThereAreNoneOrTheyMakeNoSense) {
  EXPECT_EQ(memory().limit, kUnlimited);
  EXPECT_EQ(cores(), kUnlimited);
  for (const char* list : {"", "\n", "0", "0::", "0::a", "memory", "0::/\n"}) {
    says(list);
    has("/memory.max", "many\n");
    has("/cpu.max", "100000");
    EXPECT_EQ(memory().limit, kUnlimited) << list;
    EXPECT_EQ(cores(), kUnlimited) << list;
    has("/cpu.max", "100000 0\n");
    EXPECT_EQ(cores(), kUnlimited) << list;
  }
}

}  // namespace
}  // namespace gsort::io
