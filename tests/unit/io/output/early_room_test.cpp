#include "io/output/early_room.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/units.hpp"
#include "io/output/output.hpp"
#include "io/system/host_facts.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

using test::Bytes;
using test::random_bytes;
using test::read_file;
using test::TempFolder;

constexpr const char* kMemory = "/dev/shm";
constexpr std::uint64_t kRoom = 70 * kMiB;

std::uint64_t bytes_of_pages(const struct stat& facts) {
  return static_cast<std::uint64_t>(facts.st_blocks) * 512;
}

class EarlyRoomTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto facts = folder_facts(kMemory);
    if (!facts || !facts->is_tmpfs) GTEST_SKIP() << "no tmpfs here";
    ASSERT_GT(facts->free_bytes, 2 * kRoom);
    folder_.emplace(kMemory);
  }
  [[nodiscard]] File opened(int flags) const {
    const std::string path = *folder_ / "file";
    return {::open(path.c_str(), flags | O_CREAT | O_CLOEXEC, 0600), path, ErrorKind::kOutput};
  }

  std::optional<TempFolder> folder_;
};

TEST_F(EarlyRoomTest, MakesPagesOfAllThatIsAskedFor) {
  const File file = opened(O_RDWR);
  EarlyRoom room(file, kRoom);
  room.wait_until(kRoom);
  EXPECT_EQ(bytes_of_pages(file.facts()), kRoom);
}

TEST_F(EarlyRoomTest, IsNotWaitedForWhereItCannotBeMade) {
  const File file = opened(O_RDONLY);
  EarlyRoom room(file, kRoom);
  room.wait_until(kRoom);
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

}  // namespace
}  // namespace gsort::io
