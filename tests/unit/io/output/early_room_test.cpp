#include "io/output/early_room.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/parallel.hpp"
#include "base/units.hpp"
#include "io/output/output.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/memory.hpp"
#include "io/system/process.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

constexpr const char* kMemory = "/dev/shm";
constexpr std::uint64_t kRoom = 70 * kMiB;
constexpr std::uint64_t kMuchRoom = kGiB;
constexpr std::size_t kStep = kMiB;
constexpr unsigned kThreads = 6;

std::uint64_t bytes_of_pages(const struct stat& facts) {
  return static_cast<std::uint64_t>(facts.st_blocks) * 512;
}

// The pages of files in memory that this process has mapped.
std::uint64_t shared_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kib = 0;
    if (word == "RssShmem:" && status >> kib) return kib * kKiB;
  }
  return 0;
}

constexpr std::size_t kFilled = 32 * kMiB;

// The faults of this thread.
std::uint64_t faults_of_filling(EarlyRoom& room) {
  const Bytes data = random_bytes(kFilled);
  const auto faults = [] {
    struct rusage usage = {};
    ::getrusage(RUSAGE_THREAD, &usage);
    return static_cast<std::uint64_t>(usage.ru_minflt);
  };
  const std::uint64_t before = faults();
  EXPECT_TRUE(room.fill(0, data));
  return faults() - before;
}

// It also touches pages of its own for each that a thread fills.
bool sanitizer_handles_faults() {
  struct sigaction action = {};
  return ::sigaction(SIGBUS, nullptr, &action) == 0 && action.sa_handler != SIG_DFL;
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

  // Whether the kernel makes huge pages where they were not asked for.
  [[nodiscard]] bool makes_huge_pages() const {
    constexpr int kCollapse = 25;  // MADV_COLLAPSE
    const Arena place(kHugePageBytes, "a page");
    const File file = opened(O_RDWR);
    file.write_full_at(Bytes(kHugePageBytes), 0);
    void* const mapping =
        ::mmap(place.data(), place.size(), PROT_READ, MAP_SHARED | MAP_FIXED, file.fd(), 0);
    return mapping == place.data() && ::madvise(mapping, place.size(), kCollapse) == 0;
  }

  std::optional<TempFolder> folder_;
};

TEST_F(EarlyRoomTest, AllocatesAllThatIsAskedFor) {
  const File file = opened(O_RDWR);
  EarlyRoom room(file, kRoom, kStep);
  EXPECT_EQ(room.expected_bytes(), kRoom);
  EXPECT_TRUE(room.fill(kRoom - 1, Bytes(1)));  // waits for the last page
  EXPECT_EQ(room.expected_bytes(), kRoom);
  EXPECT_EQ(bytes_of_pages(file.facts()), kRoom);
}

TEST_F(EarlyRoomTest, StopsWhenItIsNotNeeded) {
  const File file = opened(O_RDWR);
  { const EarlyRoom room(file, kMuchRoom, kStep); }
  EXPECT_LT(bytes_of_pages(file.facts()), kMuchRoom);
}

TEST_F(EarlyRoomTest, EndsWhereNothingCanBeAllocated) {
  const File file = opened(O_RDONLY);
  EarlyRoom room(file, kRoom, kStep);
  EXPECT_FALSE(room.fill(0, Bytes(1)));
  EXPECT_EQ(room.expected_bytes(), 0U);
  EXPECT_EQ(bytes_of_pages(file.facts()), 0U);
}

TEST_F(EarlyRoomTest, IsGivenBackIfTheOutputIsShorter) {
  const Bytes data = random_bytes(3 * kMiB);
  const std::size_t half = data.size() / 2;
  Output output(*folder_ / "out");
  output.make_room_early(kRoom, kStep);
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

// Pieces of odd sizes, so that threads share pages.
void put_by_many(Output& output, const Bytes& data) {
  constexpr std::size_t kPiece = kMiB + 12345;
  const std::size_t pieces = div_up(data.size(), kPiece);
  run_workers(kThreads, [&](unsigned thread) {
    for (std::size_t piece = thread; piece < pieces; piece += kThreads) {
      const std::size_t begin = piece * kPiece;
      const std::size_t bytes = std::min(kPiece, data.size() - begin);
      output.write_at(begin, ConstByteSpan(data).subspan(begin, bytes));
    }
  });
}

TEST_F(EarlyRoomTest, IsFilledByManyThreadsAtOnce) {
  const Bytes data = random_bytes(5 * kMiB + 4321);
  Output output(*folder_ / "out");
  output.make_room_early(data.size(), kStep);
  output.make_room_early(data.size(), kStep);  // has no effect
  output.prepare(data.size());
  put_by_many(output, data);
  output.commit(data.size());
  EXPECT_EQ(read_file(*folder_ / "out"), data);
}

TEST_F(EarlyRoomTest, IsWrittenIfItCannotBeMapped) {
  const Bytes data = random_bytes(5 * kMiB + 4321);
  for (const unsigned first : {1U, 2U}) {  // the addresses, the file
    const FaultScope fault({sys::Call::kMmap, first, ENOMEM, true});
    Output output(*folder_ / "out");
    output.make_room_early(data.size(), kStep);
    output.prepare(data.size());
    put_by_many(output, data);
    output.commit(data.size());
    EXPECT_EQ(read_file(*folder_ / "out"), data);
  }
}

TEST_F(EarlyRoomTest, IsNotMappedIfAddressesAreLimited) {
  struct rlimit saved = {};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &saved), 0);
  if (saved.rlim_cur != RLIM_INFINITY) GTEST_SKIP() << "there is a limit already";
  const File file = opened(O_RDWR);
  const struct rlimit limit = {rlim_t{1} << 62, saved.rlim_max};  // sanitizers take much
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  EarlyRoom room(file, kRoom, kStep);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &saved), 0);
  EXPECT_FALSE(room.fill(kRoom - 1, Bytes(1)));
  EXPECT_EQ(bytes_of_pages(file.facts()), kRoom);
}

TEST_F(EarlyRoomTest, IsFollowedByMoreBytesThanItHas) {
  const Bytes data = random_bytes(2 * kMiB + 4321);
  Output output(*folder_ / "out");
  output.make_room_early(kMiB + 100, kStep);
  output.prepare(kMiB + 100);
  output.write_at(0, ConstByteSpan(data).first(kMiB));
  output.write_at(kMiB, ConstByteSpan(data).subspan(kMiB, 200));
  output.write_at(kMiB + 200, ConstByteSpan(data).subspan(kMiB + 200));
  output.commit(data.size());
  EXPECT_EQ(read_file(*folder_ / "out"), data);
}

TEST_F(EarlyRoomTest, IsHardlyMemoryOfTheProcess) {
  const File file = opened(O_RDWR);
  EarlyRoom room(file, kRoom, kStep);
  const Bytes data = random_bytes(kRoom);
  const std::uint64_t before = shared_resident_bytes();
  ASSERT_TRUE(room.fill(0, data));
  EXPECT_LT(shared_resident_bytes(), before + kRoom / 8);
}

TEST_F(EarlyRoomTest, IsHardlyMemoryWhileItIsAllocated) {
  const File file = opened(O_RDWR);
  const std::uint64_t before = shared_resident_bytes();
  EarlyRoom room(file, kMuchRoom, kStep);
  std::uint64_t most = 0;
  while (bytes_of_pages(file.facts()) < kMuchRoom / 4 && room.expected_bytes() == kMuchRoom) {
    most = std::max(most, shared_resident_bytes());
  }
  EXPECT_LT(most, before + kRoom / 8);
}

TEST_F(EarlyRoomTest, IsNotFilledIfItsPagesAreLargerThanTwoSteps) {
  const File file = opened(O_RDWR);
  const auto page = static_cast<std::size_t>(file.facts().st_blksize);
  EXPECT_TRUE(EarlyRoom(file, kRoom, page / 2).fill(0, Bytes(1)));
  EXPECT_FALSE(EarlyRoom(file, kRoom, page / 4).fill(1, Bytes(1)));
}

TEST_F(EarlyRoomTest, HasHugePagesIfAStepIsHalfAsLarge) {
  if (!makes_huge_pages()) GTEST_SKIP() << "no huge pages here";
  if (sanitizer_handles_faults()) GTEST_SKIP() << "with a sanitizer";
  constexpr std::uint64_t kMostFaults = kFilled / kHugePageBytes * 4;
  std::uint64_t faults = kMostFaults;
  // On a busy machine, a step of a room may reach its time limit: the others have small pages.
  for (int tried = 0; tried < 20 && faults >= kMostFaults; ++tried) {
    const File file = opened(O_RDWR | O_TRUNC);
    EarlyRoom room(file, kRoom, kHugePageBytes / 2);
    faults = faults_of_filling(room);
    EXPECT_TRUE(room.fill(kRoom - 1, Bytes(1)));  // waits for the last page
    EXPECT_EQ(bytes_of_pages(file.facts()), kRoom);
  }
  EXPECT_LT(faults, kMostFaults);
}

TEST_F(EarlyRoomTest, HasSmallPagesIfStepsAreSmaller) {
  const File file = opened(O_RDWR);
  if (file.facts().st_blksize > 4096) GTEST_SKIP() << "the tmpfs has huge pages";
  EarlyRoom room(file, kRoom, kHugePageBytes / 4);
  EXPECT_GE(faults_of_filling(room), kFilled / memory_page_bytes());
}

TEST_F(EarlyRoomTest, IsNotFilledTwice) {
  const Bytes data = random_bytes(kMiB);
  Output output(*folder_ / "out");
  output.make_room_early(2 * kMiB, kStep);
  output.prepare(2 * kMiB);
  output.write_at(kMiB / 2, data);
  const Error error = test::error_of([&] { output.write_at(0, data); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
}

// Fills the room while another thread makes the file shorter, until a page is gone.
void lose_a_page(const File& file) {
  const Bytes data = random_bytes(kRoom);
  const std::size_t page = memory_page_bytes();
  for (bool is_lost = false; !is_lost;) {
    EarlyRoom room(file, kRoom, page);
    std::jthread other([&](const std::stop_token& stop) {
      for (Bytes last(1); !stop.stop_requested() && last[0] == std::byte{};) {
        (void)file.read_full_at(last, kRoom / 2);
      }
      file.truncate(0);
    });
    try {
      (void)room.fill(0, data);
    } catch (const Error& error) {
      is_lost = error.offset_bytes().has_value();
    }
  }
}

TEST_F(EarlyRoomTest, LosesAPageWithAnError) {
  if (sanitizer_handles_faults()) GTEST_SKIP() << "with a sanitizer";
  const File file = opened(O_RDWR);
  EXPECT_EXIT(
      {
        take_process();
        lose_a_page(file);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(EarlyRoomTest, IsOfTheOutputBeforeItIsWritten) {
  const Bytes last(1);
  Output output(*folder_ / "out");
  const std::uint64_t free_before = folder_facts(kMemory)->free_bytes;
  output.make_room_early(kMuchRoom, kStep);
  output.prepare(kMuchRoom);
  output.write_at(kMuchRoom - 1, last);  // waits for its page
  EXPECT_LT(folder_facts(kMemory)->free_bytes, free_before - kMuchRoom / 2);
}

TEST_F(EarlyRoomTest, IsNotOfAnOutputAroundThePageCache) {
  Output output(*folder_ / "out", OutputOptions{.direct_io = DirectIo::kOn});
  const std::uint64_t free_before = folder_facts(kMemory)->free_bytes;
  output.make_room_early(kMuchRoom, kStep);
  EXPECT_GT(folder_facts(kMemory)->free_bytes, free_before - kMuchRoom / 2);
}

}  // namespace
}  // namespace gsort::io
