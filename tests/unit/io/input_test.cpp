#include "io/input.hpp"

#include <array>
#include <filesystem>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

using test::contains;
using test::error_of;

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
  input.choose_way(DirectIo::kOn);
  input.park();
  EXPECT_EQ(open_files(), before);
  EXPECT_EQ(input.path(), path_);
  EXPECT_EQ(input.size(), data_.size());
  test::Bytes read(data_.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t at = 0; at < data_.size(); at += 10'000) {
      threads.emplace_back(
          [&, at] { input.read_at(ByteSpan(read).subspan(at, 10'000), 10'000, at); });
    }
  }
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
  EXPECT_TRUE(contains(error.what(), "another file took the place"));
  EXPECT_TRUE(contains(error_of([&] { input.check_unchanged(); }).what(), "another file"));
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
