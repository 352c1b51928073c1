#include "io/system/sys.hpp"

#include <array>
#include <cerrno>
#include <set>

#include <fcntl.h>
#include <unistd.h>

#include "io/system/file.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

class Sys : public testing::Test {
 protected:
  Sys() : fd_(sys::open_at(AT_FDCWD, "/dev/zero", O_RDONLY, 0)) {}
  ~Sys() override { sys::close(fd_); }
  ssize_t read_eight() {
    std::array<char, 8> to{};
    return sys::read(fd_, to.data(), to.size());
  }
  int fd_;
};

TEST_F(Sys, DoesTheRealCallWhenNoFaultIsArmed) {
  EXPECT_EQ(read_eight(), 8);
  EXPECT_EQ(sys::counted_calls(), 0U);
}

TEST_F(Sys, FailsTheNthCallOnce) {
  const FaultScope fault({.call = sys::Call::kRead, .nth = 2, .error_number = EIO});
  EXPECT_EQ(read_eight(), 8);
  EXPECT_EQ(read_eight(), -1);
  EXPECT_EQ(errno, EIO);
  EXPECT_EQ(read_eight(), 8);
  EXPECT_EQ(sys::counted_calls(), 3U);
}

TEST_F(Sys, FailsFromTheNthCallOn) {
  const FaultScope fault(
      {.call = sys::Call::kRead, .nth = 2, .error_number = ENOSPC, .from_then_on = true});
  EXPECT_EQ(read_eight(), 8);
  EXPECT_EQ(read_eight(), -1);
  EXPECT_EQ(read_eight(), -1);
}

TEST_F(Sys, ShortensATransfer) {
  const FaultScope fault({.call = sys::Call::kRead, .nth = 1});
  EXPECT_EQ(read_eight(), 4);
  EXPECT_EQ(read_eight(), 8);
}

TEST_F(Sys, LeavesOtherKindsAlone) {
  const FaultScope fault(
      {.call = sys::Call::kWrite, .nth = 1, .error_number = EIO, .from_then_on = true});
  EXPECT_EQ(read_eight(), 8);
}

TEST_F(Sys, ReallyClosesWhenCloseFails) {
  const int fd = sys::open_at(AT_FDCWD, "/dev/zero", O_RDONLY, 0);
  {
    const FaultScope fault({.call = sys::Call::kClose, .nth = 1, .error_number = EIO});
    EXPECT_EQ(sys::close(fd), -1);
  }
  EXPECT_EQ(sys::close(fd), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST_F(Sys, NamesEveryKindDifferently) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < sys::kCallKinds; ++i) {
    names.insert(sys::name_of(static_cast<sys::Call>(i)));
  }
  EXPECT_EQ(names.size(), sys::kCallKinds);
  EXPECT_EQ(names.count(""), 0U);
}

// What a host program prints after it has closed its standard streams must not go into a file.
TEST(OpenAt, NeverTakesTheNumberOfAStandardStream) {
  const ReplacedDescriptor closed(STDIN_FILENO, -1);
  const File file(sys::open_at(AT_FDCWD, "/dev/zero", O_RDONLY), "zeros", ErrorKind::kInput);
  EXPECT_GT(file.fd(), STDERR_FILENO);
  EXPECT_LT(::fcntl(STDIN_FILENO, F_GETFD), 0);
}

// Where locks are mandatory, a sort in place reads its input through another descriptor.
TEST(LockBytes, ExcludesAnotherLockButNoBytesOfData) {
  const test::TempFolder folder;
  const std::string path = folder / "file";
  const File one(sys::open_at(AT_FDCWD, path.c_str(), O_RDWR | O_CREAT, 0600), path,
                 ErrorKind::kOutput);
  const File other(sys::open_at(AT_FDCWD, path.c_str(), O_RDWR, 0), path, ErrorKind::kOutput);
  ASSERT_EQ(sys::lock_bytes(one.fd()), 0);
  EXPECT_NE(sys::lock_bytes(other.fd()), 0);
  struct flock data = {};
  data.l_type = F_WRLCK;
  data.l_len = off_t{1} << 60;
  ASSERT_EQ(::fcntl(other.fd(), F_OFD_GETLK, &data), 0);
  EXPECT_EQ(data.l_type, F_UNLCK);
}

}  // namespace
}  // namespace gsort::io
