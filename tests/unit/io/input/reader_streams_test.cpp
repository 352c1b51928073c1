#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parallel.hpp"
#include "io/input/reader.hpp"
#include "io/system/file.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

// A FIFO, and a thread that writes `data` to it in steps of `step` bytes.
class FedFifo {
 public:
  FedFifo(std::string path, Bytes data, std::size_t step, int flags = 0) : path_(std::move(path)) {
    if (::mkfifo(path_.c_str(), 0600) != 0) throw std::runtime_error("no FIFO");
    ::signal(SIGPIPE, SIG_IGN);
    writer_ = std::thread([this, bytes = std::move(data), step, flags] {
      File to(sys::open_at(AT_FDCWD, path_.c_str(), O_WRONLY, 0), path_, ErrorKind::kOutput);
      ::fcntl(to.fd(), F_SETFL, flags);
      try {
        for (std::size_t at = 0; at < bytes.size(); at += step) {
          to.write_full(ConstByteSpan(bytes).subspan(at, std::min(step, bytes.size() - at)));
        }
      } catch (const Error& reader_is_gone) {
        EXPECT_EQ(reader_is_gone.error_number(), EPIPE);
      }
    });
  }
  ~FedFifo() { writer_.join(); }
  FedFifo(const FedFifo&) = delete;
  FedFifo& operator=(const FedFifo&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::thread writer_;
};

Bytes read_all(Reader& reader, std::size_t buffer_bytes) {
  const Arena buffer(buffer_bytes, "tests");
  Bytes all;
  while (const auto block = reader.next(buffer.bytes())) {
    EXPECT_EQ(block->position_bytes, all.size());
    all.insert(all.end(), buffer.data(), buffer.data() + block->bytes);
  }
  return all;
}

TEST(ReaderStreams, FillsWholeBlocksFromAOneByteWriter) {
  const TempFolder folder;
  const Bytes data = random_bytes(2000);
  const FedFifo fifo(folder / "fifo", data, 1);
  Reader reader({fifo.path()}, {.element_bytes = 8});
  EXPECT_EQ(reader.known_size(), std::nullopt);
  const Arena buffer(515, "tests");
  const auto first = reader.next(buffer.bytes());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->bytes, 512U);
  Bytes all(buffer.data(), buffer.data() + 512);
  while (const auto block = reader.next(buffer.bytes())) {
    all.insert(all.end(), buffer.data(), buffer.data() + block->bytes);
  }
  EXPECT_EQ(all, data);
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(reader.sample(buffer.bytes(), 0, 100), 0U);
  reader.check_unchanged();
}

TEST(ReaderStreams, HonoursLimits) {
  const TempFolder folder;
  const Bytes data = random_bytes(100'000);
  const FedFifo fifo(folder / "fifo", data, 777);
  Reader reader({fifo.path()}, {.element_bytes = 4});
  const Arena buffer(8192, "tests");
  Bytes all;
  for (std::uint64_t limit = 20'000; limit <= 120'000; limit += 20'000) {
    while (const auto block = reader.next(buffer.bytes(), limit)) {
      all.insert(all.end(), buffer.data(), buffer.data() + block->bytes);
    }
    EXPECT_EQ(all.size(), std::min<std::uint64_t>(limit, data.size()));
  }
  EXPECT_EQ(all, data);
}

TEST(ReaderStreams, TakesThePacketsOfAPipeWhole) {
  const TempFolder folder;
  const Bytes data = random_bytes(100'000);
  const FedFifo fifo(folder / "fifo", data, 1'000, O_DIRECT);
  Reader reader({fifo.path()}, {.element_bytes = 4});
  EXPECT_EQ(read_all(reader, 8'400), data);
}

TEST(ReaderStreams, RefusesASocketOfMessages) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
  const ReplacedDescriptor replaced(STDIN_FILENO, ends[0]);
  const Error error = error_of([] { const Reader reader({"-"}, {.element_bytes = 4}); });
  ::close(ends[1]);
  EXPECT_EQ(error.reason(), "it is a socket that carries messages, not a stream of bytes");
}

TEST(ReaderStreams, NamesTheOddTailOfAPipe) {
  const TempFolder folder;
  const FedFifo fifo(folder / "fifo", random_bytes(1003), 100);
  Reader reader({fifo.path()}, {.element_bytes = 8});
  const Error error = error_of([&] { (void)read_all(reader, 4096); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_EQ(error.offset_bytes(), 1000U);
  EXPECT_TRUE(
      contains(error.what(), "the size, 1003 bytes, is not a multiple of the element size, 8"));
  EXPECT_TRUE(error.hint().starts_with("likely elements have another size (-t")) << error.hint();
}

TEST(ReaderStreams, MixesFilesAndPipes) {
  const TempFolder folder;
  const Bytes data = random_bytes(50'000);
  const ConstByteSpan span(data);
  for (const DirectIo policy : {DirectIo::kAuto, DirectIo::kOn}) {
    write_file(folder / "a", span.first(12'000));
    write_file(folder / "c", span.subspan(32'000));
    {
      const FedFifo fifo(folder / "b", Bytes(data.begin() + 12'000, data.begin() + 32'000), 999);
      Reader reader({folder / "a", fifo.path(), folder / "c"},
                    {.element_bytes = 4, .way = {policy}});
      EXPECT_EQ(reader.known_size(), std::nullopt);
      EXPECT_EQ(read_all(reader, 8192), data);
      EXPECT_TRUE(reader.at_end());
    }
    std::filesystem::remove(folder / "b");
  }
}

TEST(ReaderStreams, SharesAPipeAmongThreads) {
  const TempFolder folder;
  const Bytes data = random_bytes(1 << 20);
  const FedFifo fifo(folder / "fifo", data, 10'000);
  Reader reader({fifo.path()}, {.element_bytes = 4});
  Bytes all(data.size());
  run_workers(3, [&](unsigned) {
    const Arena buffer(4096 * 3, "tests");
    while (const auto block = reader.next(buffer.bytes())) {
      std::copy_n(buffer.data(), block->bytes,
                  all.begin() + static_cast<long>(block->position_bytes));
    }
  });
  EXPECT_EQ(all, data);
}

TEST(ReaderStreams, ReportsAFailedRead) {
  const TempFolder folder;
  const FedFifo fifo(folder / "fifo", random_bytes(100), 100);
  Reader reader({fifo.path()});
  const FaultScope fault({sys::Call::kRead, 1, EIO});
  const Error error = error_of([&] { (void)read_all(reader, 4096); });
  EXPECT_EQ(error.error_number(), EIO);
  EXPECT_EQ(error.path(), fifo.path());
}

TEST(ReaderStreams, ReadsARedirectedFileFromWhereItStands) {
  const TempFolder folder;
  const Bytes data = random_bytes(10'000);
  write_file(folder / "f", data);
  const int fd = sys::open_at(AT_FDCWD, (folder / "f").c_str(), O_RDONLY, 0);
  ASSERT_EQ(sys::lseek(fd, 1000, SEEK_SET), 1000);
  const ReplacedDescriptor input(STDIN_FILENO, fd);
  for (const DirectIo policy : {DirectIo::kAuto, DirectIo::kOn}) {
    Reader reader({}, {.element_bytes = 8, .way = {policy}});
    EXPECT_EQ(reader.known_size(), 9000U);
    Bytes sample(800);
    EXPECT_EQ(reader.sample(sample, 0, 800), 800U);
    EXPECT_TRUE(std::equal(sample.begin(), sample.end(), data.begin() + 1000));
    EXPECT_EQ(read_all(reader, 4096), Bytes(data.begin() + 1000, data.end()));
  }
}

TEST(ReaderStreams, SaysThatStandardInputIsClosed) {
  const ReplacedDescriptor closed(STDIN_FILENO, -1);
  const Error error = error_of([] { const Reader reader({"-"}); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_EQ(std::string(error.what()),
            "opening standard input: Bad file descriptor\n"
            "  the descriptor is closed or has the wrong access mode; open it, or name a file");
}

}  // namespace
}  // namespace gsort::io
