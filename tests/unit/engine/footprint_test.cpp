#include "engine/footprint.hpp"

#include <bit>

#include <gtest/gtest.h>

namespace gsort {
namespace {

constexpr std::uint64_t kChunkSizes[] = {1,
                                         2,
                                         1'000,
                                         65'535,
                                         65'536,
                                         65'537,
                                         196'608,
                                         1'000'003,
                                         1 << 24,
                                         268'435'456,
                                         300'000'000,
                                         3'000'000'000,
                                         std::uint64_t{1} << 36};

// Calls check(footprint, chunk elements) over sizes, widths and workers.
template <class Check>
void for_all_chunks(const Check& check) {
  for (const std::uint64_t elements : kChunkSizes) {
    for (const std::uint64_t key_bytes : {4U, 8U}) {
      for (const unsigned workers : {1U, 2U, 16U, 128U}) {
        SCOPED_TRACE(testing::Message()
                     << elements << " keys of " << key_bytes << " bytes, " << workers);
        check(CpuChunkFootprint::of(elements, key_bytes, workers, 256 * kKiB), elements);
      }
    }
  }
}

TEST(CpuChunkFootprint, HoldsTheChunkAndAPageOfSlackForEachBucketOfEachWorker) {
  for_all_chunks([](const CpuChunkFootprint& f, std::uint64_t elements) {
    EXPECT_GE(f.pages * f.page_bytes,
              elements * f.key_bytes + f.buckets * f.workers * f.page_bytes);
    EXPECT_GE(f.arena_bytes(), f.pages * f.page_bytes + f.workers * f.block_bytes);
  });
}

TEST(CpuChunkFootprint, KeepsBlocksOnlyWhereTheyFillWholePages) {
  const auto keeps = [](std::uint64_t block_bytes) {
    const auto f = CpuChunkFootprint::of(1'000'000, 4, 2, block_bytes);
    EXPECT_GE(f.block_pages() * f.page_bytes, block_bytes);
    EXPECT_EQ(f.block_pages() * f.page_bytes % (4 * kKiB), 0U);
    return f.can_keep_blocks();
  };
  for (const std::uint64_t block : {4 * kKiB, 12 * kKiB, 256 * kKiB}) EXPECT_TRUE(keeps(block));
  for (const std::uint64_t block : {512U, 4'100U, 10'240U}) EXPECT_FALSE(keeps(block));
}

TEST(CpuChunkFootprint, HasPagesThatAreAPowerOfTwoAndHoldWholeLines) {
  for_all_chunks([](const CpuChunkFootprint& f, std::uint64_t) {
    EXPECT_TRUE(std::has_single_bit(f.page_bytes));
    EXPECT_EQ(f.page_bytes % CpuChunkFootprint::line_bytes(f.buckets), 0U);
  });
}

TEST(CpuChunkFootprint, KeepsEveryPoolOfPagesAlignedWhenLanesLieOneBehindTheOther) {
  for_all_chunks([](const CpuChunkFootprint& f, std::uint64_t) {
    EXPECT_EQ(f.arena_bytes() % f.page_bytes, 0U) << "pages of " << f.page_bytes;
  });
}

TEST(CpuChunkFootprint, HasBucketsThatHoldTheChunkTogether) {
  for_all_chunks([](const CpuChunkFootprint& f, std::uint64_t elements) {
    EXPECT_GE(f.buckets, 1U);
    EXPECT_LE(f.buckets, CpuChunkFootprint::kMostBuckets);
    EXPECT_GE(f.buckets * f.bucket_elements, elements);
    EXPECT_LE(f.bucket_elements, std::max<std::uint64_t>(elements, 1));
    EXPECT_GE(f.piece_bytes(), f.bucket_elements * f.key_bytes);
  });
}

TEST(CpuChunkFootprint, GrowsWithTheChunk) {
  for (const std::uint64_t key_bytes : {4U, 8U}) {
    std::uint64_t before = 0;
    for (std::uint64_t elements = 1 << 15; elements < (std::uint64_t{1} << 34); elements *= 2) {
      const auto f = CpuChunkFootprint::of(elements, key_bytes, 4, 256 * kKiB);
      EXPECT_GT(f.arena_bytes(), before);
      before = f.arena_bytes();
    }
  }
}

TEST(CpuChunkFootprint, GivesWorkersHugePagesOnlyIfTheseAreLittleOfTheChunk) {
  const auto bytes_at_once = [](std::uint64_t chunk_bytes, unsigned workers) {
    const auto f = CpuChunkFootprint::of(chunk_bytes / 4, 4, workers, 256 * kKiB);
    return f.pages_at_once * f.page_bytes;
  };
  EXPECT_EQ(bytes_at_once(4 * kGiB, 17), CpuChunkFootprint::kHugePageBytes);
  EXPECT_EQ(bytes_at_once(kGiB, 17), CpuChunkFootprint::kLeastBytesAtOnce);
  for_all_chunks([](const CpuChunkFootprint& f, std::uint64_t elements) {
    EXPECT_GE(f.pages_at_once, CpuChunkFootprint::kLeastPagesAtOnce);
    if (f.pages_at_once == CpuChunkFootprint::kLeastPagesAtOnce) return;
    EXPECT_LE(f.pages_at_once * f.page_bytes * f.workers * 64, elements * f.key_bytes);
  });
}

TEST(CpuMergeFootprint, HoldsThePartAndTwoStretches) {
  for (const std::uint64_t elements : kChunkSizes) {
    const auto f = CpuMergeFootprint::of(elements, 8);
    EXPECT_GE(f.part_bytes, elements * 8);
    EXPECT_GE(f.stretch_bytes, std::min(elements, CpuMergeFootprint::kStretch) * 8);
    EXPECT_EQ(f.arena_bytes() % 4096, 0U);
    EXPECT_EQ(f.arena_bytes(), f.part_bytes + 2 * f.stretch_bytes);
  }
}

TEST(CudaFootprint, HoldsKeysTwiceOnTheDevice) {
  for (const std::uint64_t bytes : {std::uint64_t{1}, 64 * kMiB, 64 * kGiB}) {
    EXPECT_GE(CudaFootprint::chunk_device_bytes(bytes), 2 * bytes);
    EXPECT_GE(CudaFootprint::part_device_bytes(bytes), 2 * bytes);
    EXPECT_GE(CudaFootprint::part_host_bytes(bytes), bytes);
  }
}

}  // namespace
}  // namespace gsort
