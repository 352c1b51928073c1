#include "io/output/direct_writer.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include <fcntl.h>

#include "base/parallel.hpp"
#include "io/system/sys.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

constexpr WriteWindows kSmall{8192, 4};

// A file to write to, and its name.
struct Target {
  TempFolder folder;
  std::string path = folder / "out";
  File cached{sys::open_at(AT_FDCWD, path.c_str(), O_CREAT | O_RDWR, 0600), path,
              ErrorKind::kOutput};

  [[nodiscard]] File direct() const { return cached.reopened(O_WRONLY | O_DIRECT); }
};

// Pieces of `data`, cut at random places and at pages.
std::vector<std::size_t> cuts_of(std::size_t bytes, unsigned seed) {
  std::vector<std::size_t> cuts = {0, bytes};
  std::mt19937 numbers(seed);
  for (int i = 0; i < 100; ++i) cuts.push_back(numbers() % bytes);
  for (std::size_t i = 1; i < 20; ++i) cuts.push_back(i * 4096);
  std::ranges::sort(cuts);
  return cuts;
}

void put_pieces(DirectWriter& writer, ConstByteSpan data, const std::vector<std::size_t>& cuts,
                unsigned threads) {
  for_each_number(threads, cuts.size() - 1, [&](unsigned, std::uint64_t i) {
    writer.put(cuts[i], data.subspan(cuts[i], cuts[i + 1] - cuts[i]));
  });
}

TEST(DirectWriter, PutsPiecesOfEverySizeTogetherFromManyThreads) {
  const Bytes data = random_bytes(500'003);
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Target target;
    WrittenPlaces places;
    target.cached.note_places_in(places);
    DirectWriter writer(target.cached, target.direct(), kSmall);
    put_pieces(writer, data, cuts_of(data.size(), seed), 4);
    writer.finish();
    ASSERT_EQ(read_file(target.path), data) << "seed " << seed;
    ASSERT_TRUE(places.covers(data.size())) << "seed " << seed;
  }
}

TEST(DirectWriter, WritesWholeWindowsFromWhereTheyLie) {
  const Arena memory(10 * kSmall.bytes, "tests");
  const Bytes random = random_bytes(memory.size());
  std::ranges::copy(random, memory.data());
  const Target target;
  DirectWriter writer(target.cached, target.direct(), kSmall);
  {
    const FaultScope count({sys::Call::kPwrite, UINT64_MAX, EIO});
    writer.put(0, memory.bytes());
    EXPECT_EQ(sys::counted_calls(), 1U);
  }
  EXPECT_EQ(read_file(target.path), random);
  writer.finish();
}

TEST(DirectWriter, OpensMoreWindowsThanItHasBuffersThroughThePageCache) {
  const Target target;
  const std::size_t windows = 20;
  const Bytes data = random_bytes(windows * kSmall.bytes);
  DirectWriter writer(target.cached, target.direct(), kSmall);
  for (const std::size_t part : {0U, 1U}) {  // first one half of each window, then the other
    for (std::size_t window = 0; window < windows; ++window) {
      const std::size_t begin = window * kSmall.bytes + part * 5000;
      writer.put(begin, ConstByteSpan(data).subspan(begin, part == 0 ? 5000 : 3192));
    }
  }
  writer.finish();
  EXPECT_EQ(read_file(target.path), data);
}

TEST(DirectWriter, TakesTheBeginningAfterAllElse) {
  const Bytes data = random_bytes(9 * kSmall.bytes);
  for (const std::size_t bytes : {std::size_t{300}, data.size()}) {
    const Target target;
    DirectWriter writer(target.cached, target.direct(), kSmall);
    writer.put(128, ConstByteSpan(data).first(bytes).subspan(128));
    writer.put(0, ConstByteSpan(data).first(128));
    writer.finish();
    EXPECT_TRUE(std::ranges::equal(read_file(target.path), ConstByteSpan(data).first(bytes)));
  }
}

TEST(DirectWriter, RefusesWhatWasPutBeforeAndGaps) {
  const Target target;
  const Bytes data = random_bytes(kSmall.bytes);
  DirectWriter writer(target.cached, target.direct(), kSmall);
  writer.put(0, ConstByteSpan(data).first(100));
  const Error twice = error_of([&] { writer.put(50, ConstByteSpan(data).first(100)); });
  EXPECT_EQ(twice.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(twice.offset_bytes(), 50U);
  writer.put(200, ConstByteSpan(data).first(100));
  const Error gap = error_of([&] { writer.finish(); });
  EXPECT_EQ(gap.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(gap.offset_bytes(), 100U);
}

// Whichever of the two comes first, and whatever has become of its window.
TEST(DirectWriter, FindsAPieceThatTwoThreadsPut) {
  const Bytes data = random_bytes(100'000);
  for (unsigned seed = 1; seed <= 50; ++seed) {
    Target target;
    WrittenPlaces places;
    target.cached.note_places_in(places);
    DirectWriter writer(target.cached, target.direct(), kSmall);
    std::vector<std::size_t> cuts = cuts_of(data.size(), seed);
    const std::size_t piece = seed % (cuts.size() - 1);
    if (cuts[piece] == cuts[piece + 1]) continue;
    std::atomic<int> errors{0};
    const auto put_all = [&](std::size_t first, std::size_t end) {
      try {
        for (std::size_t i = first; i < end; ++i) {
          writer.put(cuts[i], ConstByteSpan(data).subspan(cuts[i], cuts[i + 1] - cuts[i]));
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
        ++errors;
      }
    };
    {
      const std::jthread once([&] { put_all(0, cuts.size() - 1); });
      const std::jthread again([&] { put_all(piece, piece + 1); });
    }
    try {
      writer.finish();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
      ++errors;
    }
    EXPECT_GT(errors, 0) << "seed " << seed;
  }
}

TEST(DirectWriter, GoesOnThroughThePageCacheWhereDirectWritesAreRefused) {
  const Target target;
  const Bytes data = random_bytes(100'000);
  DirectWriter writer(target.cached, target.direct(), kSmall);
  {
    const FaultScope fault({sys::Call::kPwrite, 1, EINVAL});
    put_pieces(writer, data, cuts_of(data.size(), 1), 1);
    writer.finish();
  }
  EXPECT_TRUE(writer.refused());
  EXPECT_EQ(read_file(target.path), data);
}

TEST(DirectWriter, ReportsAFailedWriteOfItsThreads) {
  const Target target;
  const Bytes data = random_bytes(100'000);
  DirectWriter writer(target.cached, target.direct(), kSmall);
  const FaultScope fault({sys::Call::kPwrite, 3, EIO, true});
  const Error error = error_of([&] {
    put_pieces(writer, data, {0, 1}, 1);
    for (std::size_t at = 1; at < data.size(); at += 1000) {
      writer.put(at,
                 ConstByteSpan(data).subspan(at, std::min<std::size_t>(1000, data.size() - at)));
    }
    writer.finish();
  });
  EXPECT_EQ(error.kind(), ErrorKind::kOutput);
  EXPECT_EQ(error.error_number(), EIO);
  EXPECT_TRUE(test::contains(error.what(), target.path));
}

TEST(DirectWriter, DropsWhatWasNotFinished) {
  const Target target;
  {
    DirectWriter writer(target.cached, target.direct(), kSmall);
    writer.put(100, random_bytes(3000));
  }
  EXPECT_EQ(target.cached.facts().st_size, 0);
}

}  // namespace
}  // namespace gsort::io
