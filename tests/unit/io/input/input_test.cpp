#include "io/input/input.hpp"

#include <array>
#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parallel.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

class ParkedInput : public testing::Test {
 protected:
  // The descriptors of this process, but for the one that lists them.
  static std::size_t open_files() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all))) - 1;
  }

  test::TempFolder folder_;
  std::string path_ = folder_ / "in";
  test::Bytes data_ = test::random_bytes(100'000);
};

TEST_F(ParkedInput, KeepsNoDescriptorAndReadsTheSame) {
  test::write_file(path_, data_);
  const std::size_t before = open_files();
  Input input(path_);
  input.choose_way({DirectIo::kOn});
  input.park();
  EXPECT_EQ(open_files(), before);
  EXPECT_EQ(input.path(), path_);
  EXPECT_EQ(input.size(), data_.size());
  test::Bytes read(data_.size());
  run_workers(10, [&](unsigned tenth) {
    const std::size_t at = std::size_t{tenth} * 10'000;
    input.read_at(ByteSpan(read).subspan(at, 10'000), 10'000, at);
  });
  EXPECT_EQ(read, data_);
  input.check_unchanged();
  EXPECT_EQ(open_files(), before);
}

TEST_F(ParkedInput, NoticesAnotherFileInItsPlace) {
  test::write_file(path_, data_);
  Input input(path_);
  input.park();
  test::write_file(folder_ / "other", data_);
  std::filesystem::rename(folder_ / "other", path_);
  std::array<std::byte, 8> room{};
  const Error error = error_of([&] { input.read_at(room, room.size(), 0); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_TRUE(contains(error.what(), "the file was replaced"));
  EXPECT_TRUE(contains(error_of([&] { input.check_unchanged(); }).what(), "the file was replaced"));
}

TEST_F(ParkedInput, NoticesAFileThatChangedOrWent) {
  test::write_file(path_, data_);
  Input input(path_);
  input.park();
  std::array<std::byte, 8> room{};
  test::write_file(path_, test::random_bytes(200'000));
  EXPECT_TRUE(contains(error_of([&] { input.read_at(room, 8, 0); }).what(), "grew"));
  std::filesystem::remove(path_);
  EXPECT_TRUE(contains(error_of([&] { input.check_unchanged(); }).what(), "No such file"));
}

// The child ends by SIGALRM if it waits for threads that only its parent has.
TEST_F(ParkedInput, IsReadInAProcessThatWasForkedWhileOthersAreRead) {
  test::write_file(path_, data_);
  Input input(path_);
  input.park();
  const auto read = [&] {
    std::array<std::byte, 8> room{};
    input.read_at(room, room.size(), 0);
  };
  constexpr int kReaders = 3;
  std::atomic<bool> has_forked{false};
  std::atomic<int> reading{0};
  sys::FaultPlan plan;
  plan.call = sys::Call::kPread;
  plan.from_then_on = true;
  plan.instead = [&] {
    ++reading;
    has_forked.wait(false);
  };
  const test::FaultScope waits(plan);
  std::vector<std::jthread> readers;
  for (int reader = 0; reader < kReaders; ++reader) readers.emplace_back(read);
  while (reading < kReaders - 1) std::this_thread::yield();  // the last one waits for another
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    has_forked = true;
    read();
    ::_exit(0);
  }
  has_forked = true;
  has_forked.notify_all();
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// No page of a file that is one hole is cached.
TEST(InputOfOneThread, IsReadAheadByTheKernel) {
  const test::TempFolder folder;
  const std::string path = folder / "in";
  test::write_file(path, {});
  std::filesystem::resize_file(path, std::uint64_t{32} << 20);
  Input alone(path);
  alone.choose_way({DirectIo::kAuto, true});
  EXPECT_FALSE(alone.is_cached());
  EXPECT_FALSE(alone.is_direct());
  EXPECT_TRUE(contains(alone.note(), "not cached, read ahead by the kernel"));
  Input with_others(path);
  with_others.choose_way({DirectIo::kAuto});
  EXPECT_TRUE(contains(with_others.note(), "O_DIRECT"));
}

TEST(InputOfOneThread, GoesAroundThePageCacheIfAsked) {
  const test::TempFolder folder;
  const std::string path = folder / "in";
  test::write_file(path, {});
  std::filesystem::resize_file(path, std::uint64_t{32} << 20);
  Input input(path);
  input.choose_way({DirectIo::kOn, true});
  EXPECT_TRUE(contains(input.note(), "O_DIRECT"));
}

// A product with their seconds that overflows is undefined: UBSan ends the test there.
TEST(InputState, KnowsDatesThatNanosecondsCannotCount) {
  const test::TempFolder folder;
  test::write_file(folder / "in", test::random_bytes(8));
  for (const std::int64_t seconds :
       {std::int64_t{0}, std::int64_t{13'569'465'600}}) {  // 1970, 2400
    const std::array<timespec, 2> times = {timespec{seconds, 5}, timespec{seconds, 5}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder / "in").c_str(), times.data(), 0), 0);
    const auto state = Input(folder / "in").state();
    ASSERT_TRUE(state);
    EXPECT_EQ(state->bytes, 8U);
    EXPECT_EQ(state->changed_ns == 5, seconds == 0);
    EXPECT_GT(state->changed_ns, 0);
  }
}

TEST_F(ParkedInput, IsNoStream) {
  const std::size_t before = open_files();
  {
    Input input("/dev/zero");
    input.park();
    EXPECT_EQ(open_files(), before + 1);
    std::array<std::byte, 8> room{};
    EXPECT_EQ(input.read_next(room), room.size());
  }
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace gsort::io
