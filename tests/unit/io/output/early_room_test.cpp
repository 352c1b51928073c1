#include "io/output/early_room.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/units.hpp"
#include "io/output/output.hpp"
#include "io/system/host_facts.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

constexpr const char* kMemory = "/dev/shm";
constexpr std::uint64_t kRoom = 70 * kMiB;
constexpr std::uint64_t kMuchRoom = kGiB;

std::uint64_t bytes_of_pages(const struct stat& facts) {
  return static_cast<std::uint64_t>(facts.st_blocks) * 512;
}

class EarlyRoomTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto facts = folder_facts(kMemory);
    if (!facts || !facts->is_memory()) GTEST_SKIP() << "no tmpfs here";
    if (facts->free_bytes < 2 * kMuchRoom) GTEST_SKIP() << kMemory << " is too small";
    folder_.emplace(kMemory);
  }
  [[nodiscard]] File opened(int flags) const {
    const std::string path = *folder_ / "file";
    return {::open(path.c_str(), flags | O_CREAT | O_CLOEXEC, 0600), path, ErrorKind::kOutput};
  }

  std::optional<TempFolder> folder_;
};

TEST_F(EarlyRoomTest, AllocatesAllThatIsAskedFor) {
  const File file = opened(O_RDWR);
  EarlyRoom room(file, kRoom);
  EXPECT_EQ(room.finish(), kRoom);
  EXPECT_EQ(bytes_of_pages(file.facts()), kRoom);
}

TEST_F(EarlyRoomTest, StopsWhenItIsNotNeeded) {
  const File file = opened(O_RDWR);
  { const EarlyRoom room(file, kMuchRoom); }
  EXPECT_LT(bytes_of_pages(file.facts()), kMuchRoom);
}

TEST_F(EarlyRoomTest, EndsWhereNothingCanBeAllocated) {
  const File file = opened(O_RDONLY);
  EarlyRoom room(file, kRoom);
  EXPECT_EQ(room.finish(), 0U);
  EXPECT_EQ(bytes_of_pages(file.facts()), 0U);
}

TEST_F(EarlyRoomTest, IsGivenBackIfTheOutputIsShorter) {
  const Bytes data = random_bytes(3 * kMiB);
  const std::size_t half = data.size() / 2;
  Output output(*folder_ / "out");
  output.make_room_early(kRoom);
  output.prepare(kRoom);
  output.write_at(half, ConstByteSpan(data).subspan(half));
  output.write_at(0, ConstByteSpan(data).first(half));
  EXPECT_TRUE(folder_->entries().empty());
  output.commit(data.size());
  EXPECT_EQ(read_file(*folder_ / "out"), data);
  struct stat facts = {};
  ASSERT_EQ(::stat((*folder_ / "out").c_str(), &facts), 0);
  EXPECT_EQ(bytes_of_pages(facts), data.size());
}

TEST_F(EarlyRoomTest, IsOfTheOutputBeforeItIsWritten) {
  Output output(*folder_ / "out");
  const std::uint64_t free_before = folder_facts(kMemory)->free_bytes;
  output.make_room_early(kMuchRoom);
  output.prepare(kMuchRoom);  // waits for it
  EXPECT_LT(folder_facts(kMemory)->free_bytes, free_before - kMuchRoom / 2);
}

TEST_F(EarlyRoomTest, IsNotOfAnOutputAroundThePageCache) {
  Output output(*folder_ / "out", OutputOptions{.direct_io = DirectIo::kOn});
  const std::uint64_t free_before = folder_facts(kMemory)->free_bytes;
  output.make_room_early(kMuchRoom);
  EXPECT_GT(folder_facts(kMemory)->free_bytes, free_before - kMuchRoom / 2);
}

}  // namespace
}  // namespace gsort::io
