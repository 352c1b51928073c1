#include "io/runs/run_store.hpp"

#include <algorithm>
#include <cerrno>
#include <random>

#include <unistd.h>

#include "base/parallel.hpp"
#include "io/runs/run_format.hpp"
#include "io/system/host_facts.hpp"
#include "unit/io/runs.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

template <class Key>
std::vector<Key> sorted_keys(std::size_t count, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<Key> keys(count);
  for (Key& key : keys) key = static_cast<Key>(random());
  std::sort(keys.begin(), keys.end());
  return keys;
}

RunStoreOptions small_blocks(std::uint64_t block_elements,
                             std::uint64_t write_buffer_bytes = 16384) {
  RunStoreOptions options;
  options.block_elements = block_elements;
  options.write_buffer_bytes = write_buffer_bytes;
  return options;
}

// For tests that count on the room that blocks take.
RunStoreOptions plain_blocks(std::uint64_t block_elements,
                             std::uint64_t write_buffer_bytes = 16384) {
  RunStoreOptions options = small_blocks(block_elements, write_buffer_bytes);
  options.packing = Packing::kOff;
  return options;
}

template <class Key>
Run store_run(RunStore& store, const std::vector<Key>& keys, std::size_t piece) {
  RunWriter writer = store.begin_run(keys.size());
  for (std::size_t at = 0; at < keys.size(); at += piece) {
    writer.put(at, bytes(keys, at, std::min(at + piece, keys.size())));
  }
  return writer.finish();
}

// The keys of a block, good until the next call.
ConstByteSpan read_block(const io::Run& run, std::size_t block) {
  static const Arena out(std::size_t{1} << 20, "tests");
  static const Arena scratch(std::size_t{1} << 20, "tests");
  return run.read_block(block, out.bytes(), scratch.bytes());
}

template <class Key>
class RunStoreOf : public testing::Test {};
using KeyTypes = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(RunStoreOf, KeyTypes);

TYPED_TEST(RunStoreOf, GivesBackEveryRangeOfEveryShape) {
  using Key = TypeParam;
  const TempFolder folder;
  const Arena scratch(std::size_t{1} << 20, "tests");
  for (const DirectIo policy : {DirectIo::kAuto, DirectIo::kOn, DirectIo::kOff}) {
    for (const std::size_t block : {7U, 100U, 5000U}) {
      RunStoreOptions options = small_blocks(block);
      options.direct_io = policy;
      RunStore store({folder.path()}, sizeof(Key), options);
      for (const std::size_t count : {1U, 99U, 100U, 101U, 1234U}) {
        const auto keys = sorted_keys<Key>(count, count);
        const io::Run run = store_run(store, keys, 333);
        EXPECT_EQ(run.elements(), count);
        for (std::size_t begin = 0; begin <= count; begin += 197) {
          for (std::size_t end = begin; end <= count; end += 173) {
            const auto got =
                read_back<Key>(run, begin, end, scratch.bytes().first(store.scratch_bytes()));
            ASSERT_TRUE(std::equal(got.begin(), got.end(), keys.begin() + static_cast<long>(begin)))
                << count << " " << begin << " " << end;
          }
        }
        EXPECT_EQ(read_back<Key>(run, 0, count, scratch.bytes()), keys);
      }
    }
  }
}

class StoreOfRuns : public testing::Test {
 protected:
  const TempFolder folder_;
  const Arena scratch_{std::size_t{1} << 20, "tests"};
};

TEST_F(StoreOfRuns, HoldsFencesForEveryBlock) {
  RunStore store({folder_.path()}, 4, small_blocks(100));
  const auto keys = sorted_keys<std::uint32_t>(1050);
  const io::Run run = store_run(store, keys, 250);  // blocks of 100 100 50 a piece
  ASSERT_EQ(run.fences().block_count(), 13U);
  EXPECT_EQ(run.fences().first_position(2), 200U);
  EXPECT_EQ(run.fences().first_position(3), 250U);
  EXPECT_EQ(run.fences().end_position(12), 1050U);
  for (std::size_t block = 0; block < run.fences().block_count(); ++block) {
    const std::uint64_t first = run.fences().first_position(block);
    EXPECT_EQ(run.fences().first_key(block), keys[first]);
    EXPECT_EQ(run.fences().block_of(first), block);
    EXPECT_EQ(run.fences().block_of(run.fences().end_position(block) - 1), block);
    const ConstByteSpan got = read_block(run, block);
    EXPECT_TRUE(std::ranges::equal(got, bytes(keys, first, run.fences().end_position(block))));
  }
}

TEST_F(StoreOfRuns, TakesPiecesInAnyOrderFromManyThreads) {
  const TempFolder first;
  const TempFolder second;
  RunStore store({first.path(), second.path()}, 8, small_blocks(500, 65536));
  const auto keys = sorted_keys<std::uint64_t>(200'000);
  RunWriter writer = store.begin_run(keys.size());
  constexpr std::size_t kPiece = 3217;
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < keys.size(); at += kPiece) starts.push_back(at);
  std::shuffle(starts.begin(), starts.end(), std::mt19937(5));
  for_each_number(4, starts.size(), [&](unsigned, std::uint64_t i) {
    writer.put(starts[i], bytes(keys, starts[i], std::min(starts[i] + kPiece, keys.size())));
  });
  const io::Run run = writer.finish();
  EXPECT_EQ(read_back<std::uint64_t>(run, 0, keys.size(), scratch_.bytes()), keys);
}

TEST_F(StoreOfRuns, ReadsFromManyThreads) {
  RunStore store({folder_.path()}, 4, small_blocks(1000, 65536));
  const auto keys = sorted_keys<std::uint32_t>(100'000);
  const io::Run run = store_run(store, keys, 7000);
  std::atomic<bool> wrong{false};
  run_workers(4, [&](unsigned t) {
    const Arena scratch(65536, "tests");
    std::mt19937 random(t);
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t a = random() % (keys.size() + 1);
      const std::uint64_t b = random() % (keys.size() + 1);
      const auto got =
          read_back<std::uint32_t>(run, std::min(a, b), std::max(a, b), scratch.bytes());
      if (!std::equal(got.begin(), got.end(), keys.begin() + static_cast<long>(std::min(a, b)))) {
        wrong = true;
      }
    }
  });
  EXPECT_FALSE(wrong);
}

TEST_F(StoreOfRuns, SpreadsARunOverAllFolders) {
  const TempFolder first;
  const TempFolder second;
  RunStore store({first.path(), second.path()}, 4, plain_blocks(1008, 8192));
  const io::Run run = store_run(store, sorted_keys<std::uint32_t>(100'000), 100'000);
  struct stat a = {};
  struct stat b = {};
  ASSERT_EQ(sys::fstat(file_in(first.path()), &a), 0);
  ASSERT_EQ(sys::fstat(file_in(second.path()), &b), 0);
  EXPECT_NEAR(static_cast<double>(a.st_size), static_cast<double>(b.st_size), 8192);
}

TEST_F(StoreOfRuns, LeavesNoNameInTheFolder) {
  RunStore store({folder_.path()}, 4, small_blocks(100));
  const io::Run run = store_run(store, sorted_keys<std::uint32_t>(1000), 100);
  EXPECT_TRUE(folder_.entries().empty());
}

TEST_F(StoreOfRuns, GivesSpaceBack) {
  RunStore store({folder_.path()}, 8, plain_blocks((65536 - kBlockHeaderBytes) / 8, 1 << 18));
  const auto keys = sorted_keys<std::uint64_t>(500'000);
  const auto on_disk = [&] {
    struct stat facts = {};
    EXPECT_EQ(sys::fstat(file_in(folder_.path()), &facts), 0);
    return static_cast<std::uint64_t>(facts.st_blocks) * 512;
  };
  {
    io::Run run = store_run(store, keys, 100'000);
    const std::uint64_t all = on_disk();
    EXPECT_GE(all, keys.size() * 8);
    EXPECT_EQ(store.bytes_in_use(), store.bytes_written());
    run.release_before(250'000);
    EXPECT_LE(on_disk(), all / 2 + 2 * 65536);
    EXPECT_EQ(read_back<std::uint64_t>(run, 250'000, 500'000, scratch_.bytes()),
              std::vector(keys.begin() + 250'000, keys.end()));
    run.release_before(100);  // never takes back what it gave
    run.release_before(500'000);
    EXPECT_EQ(store.bytes_in_use(), 0U);
  }
  EXPECT_LE(on_disk(), 65536U);
  EXPECT_EQ(store.peak_bytes_in_use(), store.bytes_written());
}

TEST_F(StoreOfRuns, GivesTheSpaceOfAnUnfinishedRunBack) {
  RunStore store({folder_.path()}, 4, small_blocks(100));
  const auto keys = sorted_keys<std::uint32_t>(1000);
  { store.begin_run(1000).put(0, bytes(keys, 0, 1000)); }
  EXPECT_EQ(store.bytes_in_use(), 0U);
}

TEST_F(StoreOfRuns, MovesRuns) {
  RunStore store({folder_.path()}, 4, small_blocks(100));
  const auto keys = sorted_keys<std::uint32_t>(1000);
  std::vector<io::Run> runs;
  for (int i = 0; i < 5; ++i) runs.push_back(store_run(store, keys, 400));
  runs.erase(runs.begin() + 1);
  EXPECT_EQ(runs[1].number(), 2U);
  EXPECT_EQ(read_back<std::uint32_t>(runs[1], 0, 1000, scratch_.bytes()), keys);
  runs.clear();
  EXPECT_EQ(store.bytes_in_use(), 0U);
}

TEST_F(StoreOfRuns, AcceptsAnEmptyRun) {
  RunStore store({folder_.path()}, 4, small_blocks(100));
  io::Run run = store.begin_run(0).finish();
  EXPECT_EQ(run.elements(), 0U);
  EXPECT_EQ(run.fences().block_count(), 0U);
  run.read_range(0, 0, {}, {});
  run.release_before(0);
}

// Overlapping ones are as many elements as the run should have, and no block is too long.
TEST_F(StoreOfRuns, NoticesPiecesThatAreMissingOrOverlap) {
  RunStore store({folder_.path()}, 4, small_blocks(100));
  const auto keys = sorted_keys<std::uint32_t>(150);
  using Piece = std::pair<std::size_t, std::size_t>;
  for (const auto& [first, second] : {std::pair{Piece{50, 150}, Piece{100, 150}},
                                      {{0, 50}, {0, 50}},
                                      {{0, 100}, {0, 50}},
                                      {{0, 50}, {100, 150}}}) {
    RunWriter writer = store.begin_run(150);
    for (const auto& [begin, end] : {first, second}) writer.put(begin, bytes(keys, begin, end));
    const Error error = error_of([&] { (void)writer.finish(); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_TRUE(contains(error.what(), "pieces are missing or overlap")) << error.what();
  }
}

TEST_F(StoreOfRuns, ReadsNeighboursWithOneCall) {
  RunStore store({folder_.path()}, 4, plain_blocks(1008, 1 << 18));
  const auto keys = sorted_keys<std::uint32_t>(60'000);
  const io::Run run = store_run(store, keys, 60'000);
  const FaultScope count({sys::Call::kPread, UINT64_MAX, EIO});
  EXPECT_EQ(read_back<std::uint32_t>(run, 0, 60'000, scratch_.bytes()), keys);
  EXPECT_EQ(sys::counted_calls(), 1U);
}

TEST_F(StoreOfRuns, SyncsWhatGoesThroughThePageCacheUnlessItStaysThere) {
  const auto keys = sorted_keys<std::uint32_t>(10'000);
  for (const bool stays : {false, true}) {
    const TempFolder folder;
    RunStoreOptions options = plain_blocks(1008);
    options.direct_io = stays ? DirectIo::kAuto : DirectIo::kOff;
    options.left_in_page_cache = stays;
    RunStore store({folder.path()}, 4, options);
    const FaultScope count({sys::Call::kFdatasync, UINT64_MAX, EIO});
    const io::Run run = store_run(store, keys, 10'000);
    EXPECT_EQ(sys::counted_calls(), stays ? 0U : 1U);
    const bool in_memory = folder_facts(folder.path())->is_memory();  // which is noted, too
    EXPECT_EQ(store.notes().size(), stays || in_memory ? 1U : 0U);
    EXPECT_EQ(read_back<std::uint32_t>(run, 0, 10'000, scratch_.bytes()), keys);
  }
}

TEST_F(StoreOfRuns, NamesTheBlockThatIsDamaged) {
  RunStoreOptions options = plain_blocks(1008);
  options.direct_io = DirectIo::kOff;
  RunStore store({folder_.path()}, 4, options);
  const auto keys = sorted_keys<std::uint32_t>(10'000);
  const io::Run run = store_run(store, keys, 10'000);
  const int fd = file_in(folder_.path());
  const std::byte flipped{0xa5};
  ASSERT_EQ(sys::pwrite(fd, &flipped, 1, 3 * 4096 + 100), 1);
  const Error error = error_of([&] { (void)read_block(run, 3); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_TRUE(contains(error.what(), "reading block 3 of run 0 in " + folder_.path() +
                                         " at byte 12288: the checksum does not match"));
  EXPECT_EQ(
      error_of([&] { (void)read_back<std::uint32_t>(run, 0, 9000, scratch_.bytes()); }).kind(),
      ErrorKind::kCorrupt);
  EXPECT_EQ(read_back<std::uint32_t>(run, 0, 3024, scratch_.bytes()).size(), 3024U);
}

TEST_F(StoreOfRuns, NoticesSwappedReplayedZeroedAndTruncatedBlocks) {
  RunStoreOptions options = plain_blocks(1008);
  options.direct_io = DirectIo::kOff;
  RunStore store({folder_.path()}, 4, options);
  const std::vector<std::uint32_t> keys(4000, 7);  // equal keys: only the identity differs
  const io::Run first = store_run(store, keys, 4000);
  const io::Run second = store_run(store, keys, 4000);
  const int fd = file_in(folder_.path());
  const auto refused = [&](const io::Run& run, std::size_t block) {
    return error_of([&] { (void)read_block(run, block); }).kind() == ErrorKind::kCorrupt;
  };
  Bytes saved(4096);
  ASSERT_EQ(sys::pread(fd, saved.data(), saved.size(), 0), 4096);
  ASSERT_EQ(sys::pwrite(fd, saved.data(), saved.size(), 4096), 4096);
  EXPECT_TRUE(refused(first, 1));  // block 0 in the place of block 1
  ASSERT_EQ(sys::pwrite(fd, saved.data(), saved.size(), 4 * 4096), 4096);
  EXPECT_TRUE(refused(second, 0));  // block 0 of another run
  const Bytes zeros(4096);
  ASSERT_EQ(sys::pwrite(fd, zeros.data(), zeros.size(), 0), 4096);
  EXPECT_TRUE(refused(first, 0));
  ASSERT_EQ(sys::ftruncate(fd, 7 * 4096 + 100), 0);
  EXPECT_TRUE(refused(second, 3));
}

// The positions of the output are proven where it is written; a run's by what its blocks say of
// themselves.
TEST_F(StoreOfRuns, NoticesABufferThatWasWrittenElsewhere) {
  constexpr std::size_t kBuffer = 16384;
  const auto keys = sorted_keys<std::uint32_t>(20'000);
  for (const std::size_t place : {std::size_t{64}, std::size_t{4096}, kBuffer, 3 * kBuffer}) {
    for (const bool leaves_a_hole : {false, true}) {
      const TempFolder folder;
      RunStoreOptions options = plain_blocks(1008, kBuffer);
      options.direct_io = DirectIo::kOff;
      RunStore store({folder.path()}, 4, options);
      const io::Run run = store_run(store, keys, 20'000);
      const int fd = file_in(folder.path());
      Bytes buffer(kBuffer);
      ASSERT_EQ(sys::pread(fd, buffer.data(), kBuffer, 0), kBuffer);
      if (leaves_a_hole) {
        ASSERT_EQ(sys::pwrite(fd, Bytes(kBuffer).data(), kBuffer, 0), kBuffer);
      }
      ASSERT_EQ(sys::pwrite(fd, buffer.data(), kBuffer, static_cast<off_t>(place)), kBuffer);
      const auto read_all = [&] {
        (void)read_back<std::uint32_t>(run, 0, 20'000, scratch_.bytes());
      };
      EXPECT_EQ(error_of(read_all).kind(), ErrorKind::kCorrupt) << place;
    }
  }
}

TEST_F(StoreOfRuns, RefusesBlocksOfAnEarlierStore) {
  const std::vector<std::uint32_t> keys(1000, 7);
  RunStoreOptions options = plain_blocks(1008);
  options.direct_io = DirectIo::kOff;
  Bytes old_block(4096);
  {
    RunStore earlier({folder_.path()}, 4, options);
    const io::Run run = store_run(earlier, keys, 1000);
    ASSERT_EQ(sys::pread(file_in(folder_.path()), old_block.data(), 4096, 0), 4096);
  }
  RunStore store({folder_.path()}, 4, options);
  const io::Run run = store_run(store, keys, 1000);
  ASSERT_EQ(sys::pwrite(file_in(folder_.path()), old_block.data(), 4096, 0), 4096);
  EXPECT_EQ(error_of([&] { (void)read_block(run, 0); }).kind(), ErrorKind::kCorrupt);
}

template <class Key>
class PackedRunStoreOf : public testing::Test {};
using PackableTypes = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(PackedRunStoreOf, PackableTypes);

TYPED_TEST(PackedRunStoreOf, TakesLessRoomThanTheKeys) {
  using Key = TypeParam;
  const TempFolder folder;
  const Arena scratch(std::size_t{1} << 20, "tests");
  std::vector<Key> keys(100'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<Key>(i * 37 + i % 5);
  RunStore store({folder.path()}, sizeof(Key), small_blocks(4096, 65536));
  const io::Run run = store_run(store, keys, 10'000);
  EXPECT_EQ(store.key_bytes_put(), keys.size() * sizeof(Key));
  EXPECT_LT(store.bytes_written(), keys.size() * sizeof(Key) / 3);
  EXPECT_EQ(read_back<Key>(run, 0, keys.size(), scratch.bytes()), keys);
  EXPECT_EQ(read_back<Key>(run, 12'345, 67'890, scratch.bytes()),
            std::vector(keys.begin() + 12'345, keys.begin() + 67'890));
}

// A buffer has room for one plain block: many more of equal keys are written by one call.
TEST_F(StoreOfRuns, GathersPackedBlocksIntoWholeBuffers) {
  constexpr std::size_t kBlock = 1000;
  const std::vector<std::uint64_t> keys(1'000'000, 7);
  RunStore store({folder_.path()}, 8, small_blocks(kBlock, kBlock * 8));
  const FaultScope count({sys::Call::kPwrite, UINT64_MAX, EIO});
  const io::Run run = store_run(store, keys, 16 * kBlock);
  EXPECT_LE(sys::counted_calls(), store.bytes_written() / (kBlock * 8) + 1);
  EXPECT_EQ(run.fences().block_count(), keys.size() / kBlock);
  EXPECT_EQ(read_back<std::uint64_t>(run, 0, keys.size(), scratch_.bytes()), keys);
}

TEST_F(StoreOfRuns, KeepsRunsInMemoryWhileThereIsRoom) {
  RunStoreOptions options = plain_blocks(1008, 65536);
  options.kept_buffers = 4;
  RunStore store({folder_.path()}, 8, options);
  const auto few = sorted_keys<std::uint64_t>(20'000);  // 160 KB: three buffers
  const auto many = sorted_keys<std::uint64_t>(50'000, 2);
  io::Run first = store_run(store, few, 3000);
  EXPECT_EQ(store.bytes_written(), 0U);
  EXPECT_GE(store.bytes_kept(), few.size() * 8);
  const io::Run second = store_run(store, many, 3000);
  EXPECT_GT(store.bytes_written(), 4U * 65536);
  EXPECT_EQ(read_back<std::uint64_t>(first, 0, few.size(), scratch_.bytes()), few);
  EXPECT_EQ(read_back<std::uint64_t>(second, 0, many.size(), scratch_.bytes()), many);
  EXPECT_EQ(read_back<std::uint64_t>(second, 7, 49'000, scratch_.bytes()),
            std::vector(many.begin() + 7, many.begin() + 49'000));

  // The space that is given back holds the next run.
  first = io::Run();
  const std::uint64_t written = store.bytes_written();
  const io::Run third = store_run(store, few, 3000);
  EXPECT_EQ(store.bytes_written(), written);
  EXPECT_EQ(read_back<std::uint64_t>(third, 0, few.size(), scratch_.bytes()), few);
}

TEST_F(StoreOfRuns, GivesTheMemoryOfAnUnfinishedRunBack) {
  RunStoreOptions options = plain_blocks(1008, 16384);
  options.kept_buffers = 8;
  RunStore store({folder_.path()}, 4, options);
  const auto keys = sorted_keys<std::uint32_t>(20'000);
  for (int i = 0; i < 10; ++i) store.begin_run(keys.size()).put(0, bytes(keys, 0, keys.size()));
  EXPECT_EQ(store.bytes_written(), 0U);
}

TEST_F(StoreOfRuns, CollectsSmallPiecesInLargeWrites) {
  RunStore store({folder_.path()}, 4, plain_blocks(1008, 1 << 18));
  const auto keys = sorted_keys<std::uint32_t>(250'000);
  const FaultScope count({sys::Call::kPwrite, UINT64_MAX, EIO});
  const io::Run run = store_run(store, keys, 1008);
  EXPECT_EQ(sys::counted_calls(), 4U);
}

TEST_F(StoreOfRuns, ForgetsARunWhoseBuffersCannotBeWritten) {
  RunStoreOptions options = plain_blocks(1008);
  options.write_buffers = 1;
  RunStore store({folder_.path()}, 4, options);
  const auto keys = sorted_keys<std::uint32_t>(20'000);
  {
    RunWriter writer = store.begin_run(keys.size());
    const FaultScope fault({sys::Call::kPwrite, 2, EIO, true});
    const Error error = error_of([&] { writer.put(0, bytes(keys, 0, keys.size())); });
    EXPECT_EQ(error.kind(), ErrorKind::kTemporary);
  }
  EXPECT_EQ(store.bytes_in_use(), 0U);
  const io::Run run = store_run(store, keys, 5000);  // the only buffer is free again
  EXPECT_EQ(read_back<std::uint32_t>(run, 0, keys.size(), scratch_.bytes()), keys);
}

}  // namespace
}  // namespace gsort::io
