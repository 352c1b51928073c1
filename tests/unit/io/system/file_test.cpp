#include "io/system/file.hpp"

#include <array>
#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

File create(const std::string& path) {
  return {sys::open_at(AT_FDCWD, path.c_str(), O_RDWR | O_CREAT, 0600), path, ErrorKind::kOutput};
}

TEST(File, WritesAndReadsAtOffsets) {
  const TempFolder folder;
  const File file = create(folder / "f");
  const Bytes data = random_bytes(10000);
  file.write_full_at(data, 123);
  Bytes back(20000);
  EXPECT_EQ(file.read_full_at(back, 123), data.size());  // less than asked: the file ends
  back.resize(data.size());
  EXPECT_EQ(back, data);
}

TEST(File, HidesShortAndInterruptedTransfers) {
  const TempFolder folder;
  File file = create(folder / "f");
  const Bytes data = random_bytes(5000);
  for (const int error_number : {0, EINTR}) {
    for (std::uint64_t nth = 1; nth <= 3; ++nth) {
      Bytes back(data.size());
      {
        const FaultScope fault({sys::Call::kPwrite, nth, error_number});
        file.write_full_at(data, 0);
      }
      {
        const FaultScope fault({sys::Call::kPread, nth, error_number});
        EXPECT_EQ(file.read_full_at(back, 0), data.size());
      }
      EXPECT_EQ(back, data);
      sys::lseek(file.fd(), 0, SEEK_SET);
      {
        const FaultScope fault({sys::Call::kWrite, nth, error_number});
        file.write_full(data);
      }
      sys::lseek(file.fd(), 0, SEEK_SET);
      const FaultScope fault({sys::Call::kRead, nth, error_number});
      EXPECT_EQ(file.read_full(back), data.size());
      EXPECT_EQ(back, data);
    }
  }
}

TEST(File, NamesOperationPathAndOffsetOfAFailure) {
  const TempFolder folder;
  const File file = create(folder / "f");
  const Bytes data = random_bytes(100);
  const FaultScope fault({sys::Call::kPwrite, 1, ENOSPC});
  const Error error = error_of([&] { file.write_full_at(data, 4711); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutput);
  EXPECT_EQ(error.operation(), "writing");
  EXPECT_EQ(error.path(), folder / "f");
  EXPECT_EQ(error.offset_bytes(), 4711U);
  EXPECT_EQ(error.error_number(), ENOSPC);
  EXPECT_FALSE(error.hint().empty());
}

TEST(File, ChecksSyncTruncateAndClose) {
  const TempFolder folder;
  File file = create(folder / "f");
  const auto fails = [](sys::Call call, const auto& act) {
    const FaultScope fault({call, 1, EIO});
    return error_of(act).error_number();
  };
  EXPECT_EQ(fails(sys::Call::kFsync, [&] { file.sync(); }), EIO);
  EXPECT_EQ(fails(sys::Call::kFdatasync, [&] { file.sync_data(); }), EIO);
  EXPECT_EQ(fails(sys::Call::kFtruncate, [&] { file.truncate(7); }), EIO);
  EXPECT_EQ(fails(sys::Call::kStat, [&] { (void)file.facts(); }), EIO);
  EXPECT_EQ(fails(sys::Call::kClose, [&] { file.close(); }), EIO);
  EXPECT_FALSE(file.is_open());
  file.close();  // nothing left to close
}

TEST(File, MovesItsDescriptor) {
  const TempFolder folder;
  File first = create(folder / "f");
  const int fd = first.fd();
  File second = std::move(first);
  EXPECT_EQ(second.fd(), fd);
  File third;
  third = std::move(second);
  EXPECT_EQ(third.fd(), fd);
  EXPECT_EQ(third.path(), folder / "f");
}

TEST(File, NotesWhatIsWrittenAndRefusesItTwiceWhateverBecomesOfIt) {
  const TempFolder folder;
  WrittenPlaces places;
  File first = create(folder / "f");
  first.note_places_in(places);
  first.write_full_at(random_bytes(100), 0);
  File second = std::move(first);
  second.write_full_at(random_bytes(100), 100);
  File third;
  third = std::move(second);
  const File again = third.reopened(O_WRONLY);
  std::size_t moved = 0;
  EXPECT_TRUE(again.write_direct_at(random_bytes(100), 200, moved));
  EXPECT_TRUE(places.covers(300));
  EXPECT_FALSE(places.covers(299));
  for (const File* const file : std::array<const File*, 2>{&third, &again}) {
    EXPECT_EQ(error_of([&] { file->write_full_at(random_bytes(2), 99); }).offset_bytes(), 99U);
    const Error error = error_of([&] { (void)file->write_direct_at(random_bytes(2), 299, moved); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(error.offset_bytes(), 299U);
  }
}

TEST(File, ReopensWhatHasNoNameAnyMore) {
  const TempFolder folder;
  const File file = create(folder / "f");
  const Bytes data = random_bytes(100);
  file.write_full_at(data, 0);
  std::filesystem::remove(folder / "f");
  const File again = file.reopened(O_RDONLY);
  ASSERT_TRUE(again.is_open());
  Bytes back(100);
  EXPECT_EQ(again.read_full_at(back, 0), 100U);
  EXPECT_EQ(back, data);
}

TEST(File, WaitsForNonBlockingPipes) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
  File from(ends[0], "pipe", ErrorKind::kInput);
  const Bytes data = random_bytes(300000);  // more than the pipe holds
  std::thread writer([&] {
    File to(ends[1], "pipe", ErrorKind::kOutput);
    to.write_full(data);
  });
  Bytes back(data.size());
  EXPECT_EQ(from.read_full(back), data.size());
  writer.join();
  EXPECT_EQ(back, data);
}

TEST(OpenInput, SaysWhatIsWrong) {
  const TempFolder folder;
  const Error missing = error_of([&] { (void)open_input(folder / "none"); });
  EXPECT_EQ(missing.kind(), ErrorKind::kInput);
  EXPECT_EQ(std::string(missing.what()),
            "opening " + (folder / "none") + ": No such file or directory\n  check the path");
  const Error directory = error_of([&] { (void)open_input(folder.path()); });
  EXPECT_TRUE(contains(directory.what(), "Is a directory"));
}

TEST(StandardInput, IsReadWithoutDirectTransfersAlone) {
  const FaultScope fault({sys::Call::kRead, 1, EINVAL});
  const File file = open_standard_input();
  std::byte to{};
  const Error error = error_of([&] { (void)file.read_full(ByteSpan(&to, 1)); });
  EXPECT_TRUE(contains(error.hint(), "without O_DIRECT")) << error.hint();
}

TEST(OpenInput, SaysThatAFileIsUnreadable) {
  if (::geteuid() == 0) GTEST_SKIP() << "root can read everything";
  const TempFolder folder;
  test::write_file(folder / "f", random_bytes(8));
  std::filesystem::permissions(folder / "f", std::filesystem::perms::none);
  EXPECT_EQ(error_of([&] { (void)open_input(folder / "f"); }).error_number(), EACCES);
}

}  // namespace
}  // namespace gsort::io
