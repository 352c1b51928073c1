#include "io/output/write_queue.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "io/output/output.hpp"
#include "io/system/sys.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

constexpr std::size_t kPiece = 1000;

ConstByteSpan piece_of(const Bytes& data, std::size_t number) {
  return ConstByteSpan(data).subspan(number * kPiece, kPiece);
}

TEST(WriteQueue, WritesAllBytesByOneThreadAtATime) {
  constexpr std::size_t kPieces = 2000;
  const Bytes data = random_bytes(kPieces * kPiece);
  Bytes written(data.size());
  std::atomic<int> writing{0};
  std::atomic<bool> were_two{false};
  WriteQueue queue([&](std::uint64_t offset, ConstByteSpan bytes) {
    if (++writing > 1) were_two = true;
    std::memcpy(written.data() + offset, bytes.data(), bytes.size());
    std::this_thread::yield();
    --writing;
  });
  for_each_number(8, kPieces, [&](unsigned, std::uint64_t piece) {
    queue.write(piece * kPiece, piece_of(data, piece));
  });
  EXPECT_FALSE(were_two);
  EXPECT_EQ(written, data);
}

// While one thread writes, seven others come; it writes their bytes, too, the least offset first.
TEST(WriteQueue, WritesForThreadsThatWaitInOrderOfTheirOffsets) {
  constexpr std::size_t kOthers = 7;
  const Bytes data = random_bytes((kOthers + 1) * kPiece);
  std::vector<std::uint64_t> offsets;
  std::vector<std::thread::id> writers;
  std::vector<std::jthread> others;
  std::function<void(std::size_t)> put;
  WriteQueue queue([&](std::uint64_t offset, ConstByteSpan) {
    for (std::size_t piece = kOthers; offset == 0 && piece > 0; --piece) {
      others.emplace_back([&put, piece] { put(piece); });
    }
    while (offset == 0 && queue.waiting() < kOthers) std::this_thread::yield();
    offsets.push_back(offset);
    writers.push_back(std::this_thread::get_id());
  });
  put = [&](std::size_t piece) { queue.write(piece * kPiece, piece_of(data, piece)); };
  put(0);
  others.clear();
  EXPECT_EQ(offsets.size(), kOthers + 1);
  EXPECT_TRUE(std::ranges::is_sorted(offsets));
  EXPECT_EQ(std::ranges::count(writers, std::this_thread::get_id()), kOthers + 1);
}

TEST(WriteQueue, FailsForTheThreadWhoseBytesWereNotWritten) {
  constexpr std::size_t kPieces = 500;
  const Bytes data = random_bytes(kPieces * kPiece);
  WriteQueue queue([&](std::uint64_t offset, ConstByteSpan) {
    std::this_thread::yield();
    if (offset / kPiece % 7 == 3) {
      throw Error::from_errno(ErrorKind::kOutput, "writing", ENOSPC).at(offset);
    }
  });
  std::atomic<std::size_t> failed{0};
  for_each_number(8, kPieces, [&](unsigned, std::uint64_t piece) {
    try {
      queue.write(piece * kPiece, piece_of(data, piece));
      EXPECT_NE(piece % 7, 3U);
    } catch (const Error& error) {
      EXPECT_EQ(error.offset_bytes(), piece * kPiece);
      ++failed;
    }
  });
  EXPECT_EQ(failed, (kPieces + 3) / 7);
}

// The first write takes long enough for all other threads to come.
TEST(WriteQueue, IsWhatAFileInThePageCacheIsWrittenThrough) {
  constexpr std::size_t kPieces = 40;
  const test::TempFolder folder;
  const Bytes data = random_bytes(kPieces * kPiece);
  std::atomic<unsigned> writes{0};
  std::atomic<int> writing{0};
  std::atomic<bool> were_two{false};
  sys::FaultPlan plan;
  plan.call = sys::Call::kPwrite;
  plan.from_then_on = true;
  plan.instead = [&] {
    if (++writing > 1) were_two = true;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    if (writes++ == 0) {
      while (!were_two && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    }
    --writing;
  };
  Output output(folder / "out", {DirectIo::kOff});
  output.prepare(data.size());
  {
    const test::FaultScope watch(plan);
    for_each_number(8, kPieces, [&](unsigned, std::uint64_t piece) {
      output.write_at(piece * kPiece, piece_of(data, piece));
    });
  }
  output.commit(data.size());
  EXPECT_EQ(writes, kPieces);
  EXPECT_FALSE(were_two) << "threads wait for the file's lock";
  EXPECT_EQ(test::read_file(folder / "out"), data);
}

}  // namespace
}  // namespace gsort::io
