// Runs in a memory beside the host's: where buffers go, what comes back, and what is said when that
// memory fails or changes what it holds.
#include "io/runs/run_tier.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/parallel.hpp"
#include "io/runs/run_store.hpp"
#include "support/vector_tier.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

using gsort::test::VectorTier;

constexpr std::uint64_t kBuffer = 16384;

Bytes read_from(const RunTier& tier, std::uint64_t offset, std::size_t bytes) {
  const Arena scratch(bytes + kDirectAlignment, "tests");
  const ConstByteSpan read = tier.read(offset, bytes, scratch.bytes());
  EXPECT_EQ(static_cast<std::uint64_t>(read.data() - scratch.data()) % kDirectAlignment,
            offset % kDirectAlignment);
  return {read.begin(), read.end()};
}

TEST(RunTier, GivesBackWhatItWasGivenUntilItIsFull) {
  VectorTier memory(3 * kBuffer);
  RunTier tier(&memory, 3, kBuffer);
  std::vector<std::uint64_t> offsets;
  std::vector<Bytes> buffers;
  for (const std::size_t size : {kBuffer, std::uint64_t{1}, kBuffer - 7}) {
    buffers.push_back(random_bytes(size, size));
    offsets.push_back(tier.append(buffers.back()).value());
  }
  EXPECT_EQ(tier.append(buffers[0]), std::nullopt);
  EXPECT_EQ(tier.bytes_kept(), 2 * kBuffer - 6);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(read_from(tier, offsets[i], buffers[i].size()), buffers[i]);
  }
  EXPECT_EQ(read_from(tier, offsets[0] + 4097, 100),
            Bytes(buffers[0].begin() + 4097, buffers[0].begin() + 4197));
}

TEST(RunTier, HasRoomAgainWhenAllOfABufferIsGivenBack) {
  VectorTier memory(2 * kBuffer);
  RunTier tier(&memory, 2, kBuffer);
  const Bytes buffer = random_bytes(kBuffer);
  ASSERT_EQ(tier.append(buffer), 0U);
  ASSERT_EQ(tier.append(buffer), kBuffer);
  tier.release(0, 1000);
  EXPECT_EQ(tier.append(buffer), std::nullopt);
  tier.release(1000, kBuffer);  // the end of the one and the begin of the other
  EXPECT_EQ(tier.append(buffer), 0U);
  EXPECT_EQ(tier.append(buffer), std::nullopt);
  tier.release(kBuffer + 1000, kBuffer - 1000);
  EXPECT_EQ(tier.append(buffer), kBuffer);
}

TEST(RunTier, WithoutMemoryIsFull) {
  RunTier tier(nullptr, 0, kBuffer);
  EXPECT_EQ(tier.append(random_bytes(10)), std::nullopt);
}

TEST(RunTier, KeepsThePlaceOfABufferThatCouldNotBeCopied) {
  VectorTier memory(kBuffer);
  RunTier tier(&memory, 1, kBuffer);
  const Bytes buffer = random_bytes(kBuffer);
  memory.fail_after(0);
  EXPECT_EQ(error_of([&] { (void)tier.append(buffer); }).kind(), ErrorKind::kDevice);
  EXPECT_EQ(tier.bytes_kept(), 0U);
  memory.fail_after(10);
  EXPECT_EQ(tier.append(buffer), 0U);
}

TEST(RunTier, TakesBuffersFromManyThreadsAtOnce) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kEach = 500;
  VectorTier memory(kThreads * 2 * 512);
  RunTier tier(&memory, kThreads * 2, 512);
  std::vector<int> wrong(kThreads, 0);
  run_workers(kThreads, [&](unsigned thread) {
    const Arena scratch(2 * kDirectAlignment, "tests");
    for (std::size_t i = 0; i < kEach; ++i) {
      const Bytes buffer = random_bytes(1 + i % 512, thread * kEach + i);
      const std::uint64_t offset = tier.append(buffer).value();
      wrong[thread] +=
          !std::ranges::equal(tier.read(offset, buffer.size(), scratch.bytes()), buffer);
      tier.release(offset, buffer.size());
    }
  });
  EXPECT_EQ(std::accumulate(wrong.begin(), wrong.end(), 0), 0);
}

// A store with a little of everything.
class StoreWithATier : public testing::Test {
 protected:
  static constexpr std::uint64_t kTierBuffers = 5;
  static constexpr std::uint64_t kKeptBuffers = 3;

  StoreWithATier() : keys_(100'000) {
    options_.block_elements = 1000;
    options_.write_buffer_bytes = kBuffer;
    options_.kept_buffers = kKeptBuffers;
    options_.tier = memory_;
    options_.tier_buffers = kTierBuffers;
    options_.packing = Packing::kOff;
    std::iota(keys_.begin(), keys_.end(), 7);
  }

  io::Run stored(RunStore& store, std::size_t keys) const {
    RunWriter writer = store.begin_run(keys);
    for (std::size_t at = 0; at < keys; at += 3000) {
      writer.put(
          at, std::as_bytes(std::span(keys_).subspan(at, std::min<std::size_t>(3000, keys - at))));
    }
    return writer.finish();
  }

  std::vector<std::uint32_t> read_back(const io::Run& run, std::size_t begin, std::size_t end,
                                       std::size_t scratch_bytes = std::size_t{1} << 20) const {
    const Arena scratch(scratch_bytes, "tests");
    std::vector<std::uint32_t> read(end - begin);
    run.read_range(begin, end, std::as_writable_bytes(std::span(read)), scratch.bytes());
    return read;
  }

  std::vector<std::uint32_t> keys(std::size_t begin, std::size_t end) const {
    return {keys_.begin() + static_cast<std::ptrdiff_t>(begin),
            keys_.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  TempFolder folder_;
  std::shared_ptr<VectorTier> memory_ = std::make_shared<VectorTier>(kTierBuffers * kBuffer);
  RunStoreOptions options_;
  std::vector<std::uint32_t> keys_;
};

TEST_F(StoreWithATier, FillsTheTierThenMemoryThenTheDisk) {
  RunStore store({folder_.path()}, 4, options_);
  const io::Run few = stored(store, 12'000);
  EXPECT_GT(store.bytes_in_tier(), 12'000U * 4);
  EXPECT_EQ(store.bytes_kept(), 0U);
  const io::Run more = stored(store, 20'000);
  EXPECT_GT(store.bytes_in_tier(), (kTierBuffers - 1) * kBuffer);
  EXPECT_GT(store.bytes_kept(), 0U);
  EXPECT_EQ(store.bytes_written(), 0U);
  const io::Run many = stored(store, 100'000);
  EXPECT_GT(store.bytes_written(), 300'000U);
  EXPECT_LE(store.bytes_in_tier(), kTierBuffers * kBuffer);
  EXPECT_LE(store.bytes_kept(), kKeptBuffers * kBuffer);
  EXPECT_EQ(read_back(few, 0, 12'000), keys(0, 12'000));
  EXPECT_EQ(read_back(more, 0, 20'000), keys(0, 20'000));
  EXPECT_EQ(read_back(many, 0, 100'000), keys(0, 100'000));
}

TEST_F(StoreWithATier, ReadsEveryRangeWithTheLeastScratch) {
  RunStore store({folder_.path()}, 4, options_);
  const io::Run run = stored(store, 30'000);
  for (std::size_t begin = 0; begin < 30'000; begin += 1'777) {
    for (std::size_t end = begin + 1; end <= 30'000; end += 2'999) {
      ASSERT_EQ(read_back(run, begin, end, store.scratch_bytes()), keys(begin, end))
          << begin << " to " << end;
      ASSERT_EQ(read_back(run, begin, end), keys(begin, end));
    }
  }
}

TEST_F(StoreWithATier, TakesTheNextRunWhereAnotherWasGivenBack) {
  RunStore store({folder_.path()}, 4, options_);
  for (int i = 0; i < 10; ++i) {
    io::Run run = stored(store, 12'000);
    run.release_before(7'000);
    EXPECT_EQ(read_back(run, 7'000, 12'000), keys(7'000, 12'000));
  }
  EXPECT_EQ(store.bytes_kept(), 0U);
  EXPECT_EQ(store.bytes_written(), 0U);
}

TEST_F(StoreWithATier, KnowsAChangedBitAndBlamesTheDevice) {
  RunStore store({folder_.path()}, 4, options_);
  const io::Run run = stored(store, 12'000);
  (*memory_)[kBuffer / 2] ^= std::byte{0x10};
  const Error error = error_of([&] { (void)read_back(run, 0, 12'000); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_TRUE(contains(error.what(), "the device's memory")) << error.what();
  EXPECT_TRUE(contains(error.hint(), "--engine cpu")) << error.hint();
}

TEST_F(StoreWithATier, KnowsBlocksThatChangedPlaces) {
  RunStore store({folder_.path()}, 4, options_);
  const io::Run run = stored(store, 12'000);
  for (std::size_t i = 0; i < kBuffer; ++i) std::swap((*memory_)[i], (*memory_)[kBuffer + i]);
  EXPECT_EQ(error_of([&] { (void)read_back(run, 0, 12'000); }).kind(), ErrorKind::kCorrupt);
}

TEST_F(StoreWithATier, ForgetsARunThatCouldNotBeCopied) {
  RunStore store({folder_.path()}, 4, options_);
  memory_->fail_after(2);
  EXPECT_EQ(error_of([&] { (void)stored(store, 20'000); }).kind(), ErrorKind::kDevice);
  memory_->fail_after(1'000);
  const io::Run run = stored(store, 12'000);
  EXPECT_EQ(store.bytes_kept(), 0U);
  EXPECT_EQ(read_back(run, 0, 12'000), keys(0, 12'000));
  memory_->fail_after(0);
  EXPECT_EQ(error_of([&] { (void)read_back(run, 0, 12'000); }).kind(), ErrorKind::kDevice);
}

// With fewer buffers than threads, which take them from each other's runs.
TEST_F(StoreWithATier, TakesRunsFromManyThreadsAtOnce) {
  constexpr std::size_t kThreads = 5;
  options_.write_buffers = 2;
  RunStore store({folder_.path()}, 4, options_);
  std::vector<int> wrong(kThreads, 0);
  run_workers(kThreads, [&](unsigned thread) {
    for (std::size_t i = 0; i < 30; ++i) {
      const std::size_t count = 500 + 1'000 * i + thread;
      const io::Run run = stored(store, count);
      wrong[thread] += read_back(run, 0, count) != keys(0, count) ? 1 : 0;
    }
  });
  EXPECT_EQ(std::accumulate(wrong.begin(), wrong.end(), 0), 0);
}

}  // namespace
}  // namespace gsort::io
