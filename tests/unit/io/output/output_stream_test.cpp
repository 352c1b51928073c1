#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/parallel.hpp"
#include "base/units.hpp"
#include "io/output/output.hpp"
#include "io/system/file.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

constexpr const char* kSink = "/dev/zero";  // takes all bytes, in order

struct StandardOutput : ReplacedDescriptor {
  explicit StandardOutput(int fd) : ReplacedDescriptor(STDOUT_FILENO, fd) {}
};

int open_for_writing(const std::string& path) {
  return sys::open_at(AT_FDCWD, path.c_str(), O_WRONLY | O_CREAT, 0600);
}

TEST(OutputStream, DoesNotTakeTheTextOfALinkOfTheSystemForAName) {
  const TempFolder folder;
  const std::string path = folder / "out";
  const File removed(::open(path.c_str(), O_RDWR | O_CREAT, 0600), path, ErrorKind::kOutput);
  std::filesystem::remove(path);
  const auto link_to = [](int fd) { return "/proc/thread-self/fd/" + std::to_string(fd); };
  const Error error = error_of([&] { const Output output(link_to(removed.fd())); });
  EXPECT_EQ(error.reason(), "it is a file that no longer has a name");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const File reader(ends[0], "reader", ErrorKind::kInput);
  const File writer(ends[1], "writer", ErrorKind::kOutput);
  Output output(link_to(writer.fd()));
  EXPECT_TRUE(output.is_stream());
  output.write_next(bytes_of("ab"));
  output.commit(2);
  std::array<std::byte, 2> read{};
  EXPECT_EQ(reader.read_full(read), 2U);
}

// Between two looks at an ordinary link, another program may replace its file.
TEST(OutputStream, IsNotMadeForOrdinaryLinks) {
  const TempFolder folder;
  const std::string path = folder / "out";
  write_file(path, {});
  std::filesystem::create_symlink(path, folder / "link");
  const auto looks_at = [](const std::string& name) {
    const FaultScope counting({sys::Call::kStat, UINT64_MAX, EIO});
    EXPECT_FALSE(Output(name).is_stream());
    return sys::counted_calls();
  };
  EXPECT_EQ(looks_at(folder / "link"), looks_at(path) + 1);
}

// Writes "abcd" into a file that holds "old". If `bytes` is given, the file gets this size after
// "ab" is written. Returns the error; an empty text if there is none.
std::string error_if_resized_to(const std::string& path, int flags, std::optional<off_t> bytes) {
  write_file(path, bytes_of("old"));
  const StandardOutput replaced(::open(path.c_str(), O_WRONLY | flags));
  Output output("-");
  output.write_next(bytes_of("ab"));
  if (bytes) {
    EXPECT_EQ(::truncate(path.c_str(), *bytes), 0);
  }
  try {
    output.write_next(bytes_of("cd"));
    output.commit(4);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(OutputStream, NoticesThatSomethingElseChangesTheSizeOfItsFile) {
  const TempFolder folder;
  const std::string path = folder / "out";
  for (const int flags : {0, O_TRUNC, O_APPEND}) {
    EXPECT_EQ(error_if_resized_to(path, flags, std::nullopt), "");
    for (const off_t bytes : {0, 1, 9}) {
      const std::string error = error_if_resized_to(path, flags, bytes);
      EXPECT_TRUE(error.starts_with("writing standard output at byte 2: something else has"));
    }
  }
  EXPECT_EQ(error_if_resized_to(path, 0, std::nullopt), "");
  EXPECT_EQ(read_file(path), bytes_of("abcd"));
  const StandardOutput replaced(open_for_writing(path));
  Output output("-");
  output.write_next(bytes_of("ab"));
  EXPECT_EQ(::truncate(path.c_str(), 9), 0);
  EXPECT_THROW(output.commit(2), Error);
}

// From now on statx fails in this process, as under container runtimes that are older than this
// call. On a kernel without such filters, has no effect.
void forbid_statx() {
  sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_statx, 0, 1),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter = {std::size(rules), rules};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

TEST(OutputStreamDeathTest, NeedsNoStatx) {
  const TempFolder folder;
  const std::string path = folder / "out";
  EXPECT_EXIT(
      {
        forbid_statx();
        std::_Exit(error_if_resized_to(path, O_TRUNC, std::nullopt).empty() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EQ(read_file(path), bytes_of("abcd"));
}

TEST(OutputStream, PutsPiecesOfManyThreadsInOrder) {
  const TempFolder folder;
  const std::string path = folder / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const Bytes data = random_bytes(3'000'000);
  Bytes got(data.size() + 1);
  std::size_t got_bytes = 0;
  std::thread reader([&] { got_bytes = open_input(path).read_full(got); });
  Output output(path);
  EXPECT_TRUE(output.is_stream());
  EXPECT_FALSE(output.keeps_bytes());
  EXPECT_TRUE(output.folder().empty());
  constexpr std::size_t kPiece = 10'001;
  for_each_number(4, div_up(data.size(), kPiece), [&](unsigned, std::uint64_t piece) {
    const std::size_t at = piece * kPiece;
    output.write_at(at, ConstByteSpan(data).subspan(at, std::min(kPiece, data.size() - at)));
  });
  output.commit(data.size());
  reader.join();
  got.resize(got_bytes);
  EXPECT_EQ(got, data);
  EXPECT_TRUE(std::filesystem::is_fifo(path));
}

TEST(OutputStream, BeginsAgainUnlessItHasTakenBytes) {
  Output output(kSink);
  output.cancel();
  EXPECT_THROW(output.write_at(0, bytes_of("x")), Error);
  ASSERT_TRUE(output.restart());
  output.write_at(0, bytes_of("x"));
  EXPECT_FALSE(output.restart());
  output.commit(1);
}

// The reader has taken some of a write that fails only when all was cancelled.
TEST(OutputStream, DoesNotBeginAgainAfterAPartOfAWrite) {
  ::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const StandardOutput replaced(ends[1]);
  Output output("-");
  std::optional<Error> failure;
  std::thread writer(
      [&] { failure = error_of([&] { output.write_at(0, random_bytes(4'000'000)); }); });
  std::array<char, 1> first{};
  EXPECT_EQ(::read(ends[0], first.data(), 1), 1);
  output.cancel();
  ::close(ends[0]);
  writer.join();
  EXPECT_TRUE(failure);
  EXPECT_FALSE(output.restart());
}

TEST(OutputStream, WakesWaitersWhenCancelled) {
  Output output(kSink);
  std::atomic<int> stopped{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 1; t <= 3; ++t) {
    threads.emplace_back([&, t] {
      try {
        output.write_at(t * 1000, bytes_of("x"));
      } catch (const Error&) {
        ++stopped;
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  output.cancel();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stopped, 3);
}

TEST(OutputStream, RefusesWhatWasPutBeforeAndStopsEverybody) {
  Output output(kSink);
  output.write_at(0, bytes_of("first"));
  std::atomic<int> stopped{0};
  std::thread waiting([&] {
    try {
      output.write_at(10, bytes_of("third"));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kCorrupt) ++stopped;
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const Error error = error_of([&] { output.write_at(0, bytes_of("first")); });
  waiting.join();
  EXPECT_EQ(stopped, 1);
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error_of([&] { output.commit(15); }).kind(), ErrorKind::kCorrupt);
}

TEST(OutputStream, IsNoWholeOutputWithMoreOrLessThanThereShouldBe) {
  for (const std::uint64_t bytes : {4U, 6U}) {
    Output output(kSink);
    output.write_at(0, bytes_of("first"));
    const Error error = error_of([&] { output.commit(bytes); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_TRUE(contains(error.hint(), "do not use the output"));
  }
}

// Both are written by the thread whose turn comes first, if the other one waits by then.
TEST(OutputStream, FailsForTheThreadWhoseBytesWereNotWritten) {
  for (int round = 0; round < 50; ++round) {
    Output output(kSink);
    std::optional<Error> failure;
    const test::FaultScope fault({sys::Call::kWrite, 2, ENOSPC});
    std::thread waiting(
        [&] { failure = error_of([&] { output.write_at(5, bytes_of("later")); }); });
    if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    output.write_at(0, bytes_of("first"));
    waiting.join();
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->error_number(), ENOSPC);
    EXPECT_EQ(failure->offset_bytes(), 5U);
    EXPECT_EQ(error_of([&] { output.write_at(10, bytes_of("x")); }).error_number(), ENOSPC);
  }
}

TEST(OutputStream, StopsEverybodyWhenAWriteFails) {
  Output output("/dev/full");
  std::atomic<int> stopped{0};
  std::thread waiting([&] {
    try {
      output.write_at(4, bytes_of("later"));
    } catch (const Error& error) {  // whoever reports first, the reason is the disk's
      if (error.error_number() == ENOSPC) ++stopped;
    }
  });
  const Error error = error_of([&] { output.write_at(0, bytes_of("full")); });
  waiting.join();
  EXPECT_EQ(stopped, 1);
  EXPECT_EQ(error.error_number(), ENOSPC);
  EXPECT_EQ(error.path(), "/dev/full");
  EXPECT_EQ(error_of([&] { output.commit(4); }).kind(), ErrorKind::kOutput);
}

TEST(OutputStream, ReportsAReaderThatWentAway) {
  ::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  const StandardOutput replaced(ends[1]);
  Output output("-");
  const Error error = error_of([&] { output.write_next(bytes_of("x")); });
  EXPECT_EQ(error.error_number(), EPIPE);
  EXPECT_EQ(error.path(), "standard output");
  EXPECT_FALSE(error.hint().empty());
}

TEST(OutputStream, WritesThroughRedirectedFiles) {
  const TempFolder folder;
  for (const std::string name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", ""}) {
    write_file(folder / "f", {});
    const int fd = open_for_writing(folder / "f");
    const StandardOutput replaced(fd);
    Output output(name);
    EXPECT_TRUE(output.is_stream());
    EXPECT_TRUE(output.keeps_bytes());
    output.write_next(bytes_of("one "));
    output.write_next(bytes_of("two"));
    output.commit(7);
    EXPECT_EQ(read_file(folder / "f"), bytes_of("one two"));
  }
}

TEST(OutputStream, FollowsLinksToDescriptors) {
  const TempFolder folder;
  std::filesystem::create_symlink("/dev/stdout", folder / "link");
  const StandardOutput replaced(open_for_writing(folder / "f"));
  Output output(folder / "link");
  EXPECT_TRUE(output.is_stream());
  output.write_next(bytes_of("x"));
  output.commit(1);
  EXPECT_TRUE(std::filesystem::is_symlink("/dev/stdout"));
  EXPECT_EQ(read_file(folder / "f"), bytes_of("x"));
}

TEST(OutputStream, SaysThatStandardOutputIsClosed) {
  std::string what;
  {
    const StandardOutput replaced(-1);
    what = error_of([] { const Output output("-"); }).what();
  }
  EXPECT_EQ(what,
            "opening standard output: Bad file descriptor\n"
            "  the descriptor is closed or has the wrong access mode; open it, or name a file");
}

TEST(OutputStream, RefusesATerminalUnlessAskedTo) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) {
    GTEST_SKIP() << "no pseudo-terminals here";
  }
  const int fd = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  if (fd < 0) GTEST_SKIP() << "no pseudo-terminals here";
  ErrorKind kind{};
  bool allowed = false;
  {
    const StandardOutput replaced(fd);
    kind = error_of([] { const Output output(""); }).kind();
    allowed = Output("-").is_stream();
  }
  ::close(terminal);
  EXPECT_EQ(kind, ErrorKind::kUsage);
  EXPECT_TRUE(allowed);
}

TEST(OutputStream, SyncsWhatAShellHasOpened) {
  const TempFolder folder;
  const StandardOutput redirected(open_for_writing(folder / "out"));
  Output output("-");
  output.prepare(3);
  output.write_at(0, bytes_of("new"));
  const test::FaultScope fault({sys::Call::kFsync, 1, EIO});
  EXPECT_EQ(error_of([&] { output.commit(3); }).error_number(), EIO);
}

}  // namespace
}  // namespace gsort::io
