// Disks that are really full: small tmpfs mounts. Needs the right to mount; says so where it is
// missing. Tests that do not need that right are in fault_loop_test.cpp.
#include <algorithm>
#include <cerrno>

#include <sys/mount.h>

#include "io/output/output.hpp"
#include "io/runs/run_store.hpp"
#include "io/system/host_facts.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

// A tmpfs of `options` until the end of the scope.
class SmallDisk {
 public:
  explicit SmallDisk(const char* options)
      : mounted_(::mount("none", folder_.path().c_str(), "tmpfs", 0, options) == 0) {}
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  [[nodiscard]] bool mounted() const { return mounted_; }
  [[nodiscard]] const std::string& path() const { return folder_.path(); }

 private:
  const TempFolder folder_;
  bool mounted_;
};

#define SKIP_UNLESS_MOUNTED(disk) \
  if (!(disk).mounted()) GTEST_SKIP() << "mounting a small file system is not permitted here"

RunStoreOptions small_blocks(DirectIo policy) {
  RunStoreOptions options;
  options.block_elements = 1008;
  options.write_buffer_bytes = 65536;
  options.direct_io = policy;
  options.packing = Packing::kOff;  // the tests count on the room that plain blocks take
  return options;
}

TEST(FullDisk, IsNoticedBeforeTheFirstByteOfTheOutput) {
  const SmallDisk disk("size=1M");
  SKIP_UNLESS_MOUNTED(disk);
  Output output(disk.path() + "/out");
  output.prepare(1 << 20);
  const Error error = error_of([&] { output.prepare((1 << 20) + 1); });
  EXPECT_EQ(error.kind(), ErrorKind::kResource);
  EXPECT_TRUE(contains(error.what(), "1 MiB free")) << error.what();
}

TEST(FullDisk, WithoutInodesIsNoticedToo) {
  const SmallDisk disk("size=1M,nr_inodes=3");
  SKIP_UNLESS_MOUNTED(disk);
  Output first(disk.path() + "/a");
  Output second(disk.path() + "/b");
  const Error error = error_of([&] { Output(disk.path() + "/c").prepare(1); });
  EXPECT_TRUE(error.error_number() == ENOSPC || error.kind() == ErrorKind::kResource);
}

TEST(FullDisk, FilledMidwayLeavesTheOldOutput) {
  const SmallDisk disk("size=1M");
  SKIP_UNLESS_MOUNTED(disk);
  const std::string path = disk.path() + "/out";
  test::write_file(path, test::bytes_of("old"));
  const Arena data(900'000, "tests");
  {
    Output output(path, {.direct_io = DirectIo::kOff});
    output.prepare(data.size());
    test::write_file(disk.path() + "/other", test::random_bytes(400'000));
    const Error error = error_of([&] { output.write_at(0, data.bytes()); });
    EXPECT_EQ(error.kind(), ErrorKind::kOutput);
    EXPECT_EQ(error.error_number(), ENOSPC);
    EXPECT_EQ(error.path(), path);
    EXPECT_FALSE(error.hint().empty());
  }
  EXPECT_EQ(test::read_file(path), test::bytes_of("old"));
  EXPECT_GT(folder_facts(disk.path())->free_bytes, 500'000U);
}

TEST(FullDisk, CannotTakeTheRoomOfAnOutputWrittenDirectly) {
  const SmallDisk disk("size=1M");
  SKIP_UNLESS_MOUNTED(disk);
  const std::string path = disk.path() + "/out";
  const Arena data(900'000, "tests");
  Output output(path, {.direct_io = DirectIo::kOn});
  output.prepare(data.size());
  EXPECT_LT(folder_facts(disk.path())->free_bytes, 200'000U);
  output.write_at(0, data.bytes());
  output.commit(data.size());
  EXPECT_EQ(test::read_file(path).size(), data.size());
}

TEST(FullDisk, SendsRunsToTheNextFolder) {
  for (const DirectIo policy : {DirectIo::kOn, DirectIo::kOff}) {
    const SmallDisk disk("size=256K");
    SKIP_UNLESS_MOUNTED(disk);
    const TempFolder other;
    std::vector<std::uint32_t> keys(300'000);
    for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = i;
    RunStore store({disk.path(), other.path()}, 4, small_blocks(policy));
    RunWriter writer = store.begin_run(keys.size());
    writer.put(0, std::as_bytes(std::span(keys)));
    const io::Run run = writer.finish();
    std::vector<std::uint32_t> back(keys.size());
    const Arena scratch(65536, "tests");
    run.read_range(0, keys.size(), std::as_writable_bytes(std::span(back)), scratch.bytes());
    EXPECT_EQ(back, keys);
    const auto notes = store.notes();
    EXPECT_TRUE(std::ranges::any_of(
        notes, [&](const std::string& note) { return contains(note, disk.path() + ": full"); }));
  }
}

TEST(FullDisk, NamesRunAndFolderWhenAllAreFull) {
  const SmallDisk disk("size=256K");
  SKIP_UNLESS_MOUNTED(disk);
  const std::vector<std::uint32_t> keys(300'000, 1);
  RunStore store({disk.path()}, 4, small_blocks(DirectIo::kAuto));
  const std::uint64_t before = folder_facts(disk.path())->free_bytes;
  {
    RunWriter writer = store.begin_run(keys.size());
    const Error error = error_of([&] { writer.put(0, std::as_bytes(std::span(keys))); });
    EXPECT_EQ(error.kind(), ErrorKind::kTemporary);
    EXPECT_EQ(error.error_number(), ENOSPC);
    EXPECT_TRUE(contains(error.what(), "writing run 0 in " + disk.path() + " at byte "));
    EXPECT_TRUE(contains(error.hint(), "-T"));
  }
  EXPECT_EQ(folder_facts(disk.path())->free_bytes, before);  // the failed write, too
  // Space that was given back is used again, though the folder has been full.
  RunWriter again = store.begin_run(10'000);
  again.put(0, std::as_bytes(std::span(keys)).first(40'000));
  EXPECT_EQ(again.finish().elements(), 10'000U);
}

}  // namespace
}  // namespace gsort::io
