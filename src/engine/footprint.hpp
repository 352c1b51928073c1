// The memory that a shape needs: pure arithmetic. The plan chooses sizes by it, and engines lay out
// their memory by it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/page.hpp"
#include "base/units.hpp"

namespace gsort {

// The memory of one chunk lane of the CPU engine: pages for the keys, one page of slack for each
// bucket of each worker (twice: buckets that are too large are dealt out again), and a block buffer
// for each worker, all in one pool, since a block that is kept where it was read replaces the pages
// that its keys would fill; the lines of each partitioner; and for each worker two buffers of the
// size of the largest bucket that is sorted at once.
struct CpuChunkFootprint {
  std::uint64_t key_bytes = 0;
  unsigned workers = 1;
  std::uint64_t buckets = 1;
  std::uint64_t page_bytes = 0;
  std::uint64_t bucket_elements = 0;  // the largest bucket that is sorted at once
  std::uint64_t pages_at_once = 0;    // that a worker takes from the pool
  std::uint64_t pages = 0;
  std::uint64_t block_bytes = 0;

  // Keys of one bucket. Measured on Zen 4 cores, whole sorts of 1 GiB with 128 MiB, so 24 chunks,
  // user time with 2^13, 2^14, 2^15 and 2^16 keys: u32 3.4, 3.3, 3.2 and 4.2 s, u64 3.3, 3.1, 2.9
  // and 3.8 s. Small buckets have short digits; few buckets waste fewer pages.
  static constexpr std::uint64_t kBucketTarget = std::uint64_t{1} << 15;
  // Less for small chunks: the buffers of all workers should be small compared with the keys.
  static constexpr std::uint64_t kLeastBucketTarget = std::uint64_t{1} << 12;
  // A large chunk has fewer, larger buckets: of 1 GiB, 1,024 buckets took less time than 4,096 on 2
  // cores (Zen 5) and on 16 (Intel, with AVX-512); of 4 GiB, 1,024 took 1.27 s on 16, 4,096 took
  // 1.48.
  static constexpr std::uint64_t kFewBuckets = 1024;
  static constexpr std::uint64_t kFewBucketsPerWorker = 32;  // each worker has room for one
  static constexpr std::uint64_t kLargeBucketBytes = 4 * kMiB;
  // Larger buckets are halved first, if there is vector code for it. Processor time of 1 GiB with
  // 768, 384, 192 and 96 KiB, on 2 cores (Intel, AVX-512, L2 cache of 2 MiB): u32 3.71, 3.65, 3.44
  // and 3.34 s, u64 2.62, 2.50, 2.52 and 2.55 s.
  static constexpr std::uint64_t kMostCachedBytes = 192 * kKiB;
  static constexpr std::uint64_t kMostBuckets = 4096;
  static constexpr std::uint64_t kMostPageBytes = 16 * kKiB;

  static constexpr CpuChunkFootprint of(std::uint64_t chunk_elements, std::uint64_t key_bytes,
                                        unsigned workers, std::uint64_t block_bytes) {
    CpuChunkFootprint f;
    f.key_bytes = key_bytes;
    f.workers = workers;
    f.block_bytes = block_bytes;
    const std::uint64_t chunk_bytes = chunk_elements * key_bytes;
    const std::uint64_t target =
        std::clamp<std::uint64_t>(std::bit_floor(chunk_elements / (std::uint64_t{16} * workers)),
                                  kLeastBucketTarget, kBucketTarget);
    const std::uint64_t few = std::max(
        {kFewBuckets, kFewBucketsPerWorker * workers, div_up(chunk_bytes, kLargeBucketBytes)});
    f.buckets =
        std::clamp<std::uint64_t>(div_up(chunk_elements, target), 1, std::min(few, kMostBuckets));
    f.bucket_elements = std::min(std::max<std::uint64_t>(chunk_elements, 1),
                                 3 * std::max(target, div_up(chunk_elements, f.buckets)));
    // Pages so small that the slack below takes about an eighth of the chunk.
    const std::uint64_t slack = slack_pages(f.buckets, workers);
    f.page_bytes =
        std::clamp<std::uint64_t>(std::bit_floor(chunk_bytes / (8 * slack)), 512, kMostPageBytes);
    const std::uint64_t at_once =
        std::min(std::bit_floor(chunk_bytes / (std::uint64_t{64} * workers)), kHugePageBytes);
    f.pages_at_once = at_once < kLeastBytesAtOnce ? kLeastPagesAtOnce : at_once / f.page_bytes;
    f.pages = div_up(chunk_bytes, f.page_bytes) + slack_pages(f.buckets, workers, f.pages_at_once);
    return f;
  }

  // The size of the line of keys that a worker collects for each bucket: one to four cache lines.
  // All lines take a quarter of a MiB if there are 1,024 to 4,096 buckets, and less if there are
  // fewer.
  static constexpr std::uint64_t line_bytes(std::uint64_t buckets) {
    return std::clamp<std::uint64_t>(std::bit_floor(256 * kKiB / buckets), 64, 256);
  }

  // The number of buckets to which a bucket that is too large is dealt out.
  static constexpr std::uint64_t kMostSplit = 256;

  // A worker takes these pages from the pool at once, or a huge page if the chunk is large: if
  // several workers are the first to write to a huge page, the kernel clears one for each of them
  // (4 GiB on 16 cores: 19,000 page faults, not 5,000, and 0.2 s more).
  static constexpr std::uint64_t kLeastPagesAtOnce = 16;
  static constexpr std::uint64_t kLeastBytesAtOnce = 512 * kKiB;
  static constexpr std::uint64_t kHugePageBytes = 2 * kMiB;

  // Pages that are not full, or taken but not used. Each worker begins one in each bucket. Buckets
  // that are too large are dealt out again, at most 8 times for keys of 64 bits (a pass narrows the
  // range by 2^8 or ends); a pass makes no more buckets than there were, and kMostSplit for each
  // worker while they share one.
  static constexpr std::uint64_t slack_pages(std::uint64_t buckets, std::uint64_t workers,
                                             std::uint64_t at_once = kLeastPagesAtOnce) {
    return std::max<std::uint64_t>(2 * workers, 8) * buckets + (kMostSplit + 2 * at_once) * workers;
  }

  [[nodiscard]] constexpr std::uint64_t pool_bytes() const {
    return round_up(pages * page_bytes, kMemoryPageBytes) + workers * block_pages() * page_bytes;
  }
  // The whole pages of a block buffer, aligned to those of the machine.
  [[nodiscard]] constexpr std::uint64_t block_pages() const {
    return round_up(block_bytes, std::max(page_bytes, kMemoryPageBytes)) / page_bytes;
  }
  // A full block that fills its pages can be kept without wasting memory.
  [[nodiscard]] constexpr bool can_keep_blocks() const {
    return block_pages() * page_bytes == block_bytes;
  }
  [[nodiscard]] constexpr std::uint64_t piece_bytes() const {
    return round_up(bucket_elements * key_bytes, kMemoryPageBytes);
  }
  // The heap holds lines, cursors and chains of each bucket and worker; 8 bytes a page; groups of
  // buckets; and the intervals and groups of kept blocks.
  [[nodiscard]] constexpr std::uint64_t heap_bytes() const {
    const std::uint64_t blocks = can_keep_blocks() ? div_up(pages, block_pages()) : 0;
    return buckets * workers * (line_bytes(buckets) + 96) + pool_bytes() / page_bytes * 8 +
           buckets * 192 + blocks * 192;
  }
  // A multiple of the largest page: lanes lie back to back, and pages must be aligned.
  [[nodiscard]] constexpr std::uint64_t arena_bytes() const {
    return round_up(pool_bytes() + std::uint64_t{2} * workers * piece_bytes(), kMostPageBytes);
  }
};

// The memory of one merge lane of the CPU engine: the slices of a part, and two buffers for the
// stretch of it that is merged at once.
struct CpuMergeFootprint {
  static constexpr std::uint64_t kStretch = std::uint64_t{1} << 16;
  std::uint64_t part_bytes = 0;
  std::uint64_t stretch_bytes = 0;

  static constexpr CpuMergeFootprint of(std::uint64_t part_elements, std::uint64_t key_bytes) {
    return {round_up(part_elements * key_bytes, kMemoryPageBytes),
            round_up(std::min(part_elements, kStretch) * key_bytes, kMemoryPageBytes)};
  }
  [[nodiscard]] constexpr std::uint64_t arena_bytes() const {
    return part_bytes + 2 * stretch_bytes;
  }
};

// The memory of one lane of the CUDA engine. On the device, for a chunk: the keys, a second array,
// and a little for samples and cuts. For a part: the slices, the result, and the scratch memory of
// a merge in several passes. On the host, pinned: a block buffer for each thread that reads a
// chunk, or the slices of a part, and output buffers for pieces, one for each thread that proves
// and puts pieces. Output pieces may also use the memory of the input.
struct CudaFootprint {
  static constexpr unsigned kMostReaders = 32;            // more threads read no faster
  static constexpr std::uint64_t kPieceBytes = 8 * kMiB;  // one copy from the device, one put
  static constexpr unsigned kLeastPutters = 4;            // threads of each lane that put pieces
  static constexpr unsigned kMostPutters = 16;
  static constexpr unsigned kMostPuttersOfSeveral = 8;  // if several lanes work at once
  static constexpr std::uint64_t kDevicePageBytes = 2 * kMiB;

  // The device memory that an allocated array takes: whole pages.
  [[nodiscard]] static constexpr std::uint64_t allocated_bytes(std::uint64_t array_bytes) {
    return round_up(array_bytes, kDevicePageBytes);
  }
  // The scratch memory that any sort or merge of this many bytes of keys needs. A test checks it.
  [[nodiscard]] static constexpr std::uint64_t scratch_bytes(std::uint64_t key_bytes) {
    return key_bytes + key_bytes / 20 + kMiB;
  }
  [[nodiscard]] static constexpr std::uint64_t chunk_device_bytes(std::uint64_t chunk_bytes) {
    return allocated_bytes(chunk_bytes) + allocated_bytes(scratch_bytes(chunk_bytes));
  }
  [[nodiscard]] static constexpr unsigned readers(unsigned threads) {
    return std::min(threads, kMostReaders);
  }
  // The number of putters of a lane: limited by `most`, by the threads and by the piece buffers in
  // lane_bytes, but at least kLeastPutters.
  [[nodiscard]] static constexpr unsigned putters(unsigned threads, unsigned most,
                                                  std::uint64_t lane_bytes) {
    const std::uint64_t of_use =
        std::min<std::uint64_t>(std::min(threads, most), lane_bytes / kPieceBytes);
    return std::max(static_cast<unsigned>(of_use), kLeastPutters);
  }
  [[nodiscard]] static constexpr std::uint64_t chunk_host_bytes(unsigned readers,
                                                                std::uint64_t block_bytes) {
    return readers * block_bytes + kLeastPutters * kPieceBytes;
  }
  // For a chunk that several devices hold together: its stripes go to the devices in turn.
  [[nodiscard]] static constexpr std::uint64_t stripe_elements(std::uint64_t chunk_elements,
                                                               std::uint64_t block_elements,
                                                               std::uint64_t devices) {
    return std::clamp<std::uint64_t>(chunk_elements / (8 * devices), 1, block_elements);
  }
  // The most elements that one device holds.
  [[nodiscard]] static constexpr std::uint64_t share_elements(std::uint64_t chunk_elements,
                                                              std::uint64_t block_elements,
                                                              std::uint64_t devices) {
    const std::uint64_t stripe = stripe_elements(chunk_elements, block_elements, devices);
    return div_up(div_up(chunk_elements, stripe), devices) * stripe;
  }
  // The memory of each device, for at most kMostSharers devices. A test checks it.
  static constexpr unsigned kMostSharers = 8;
  [[nodiscard]] static constexpr std::uint64_t share_device_bytes(std::uint64_t share_bytes) {
    return allocated_bytes(share_bytes) +
           allocated_bytes(share_bytes + share_bytes / 16 + 8 * kMiB);
  }
  [[nodiscard]] static constexpr std::uint64_t part_device_bytes(std::uint64_t part_bytes) {
    return 2 * allocated_bytes(part_bytes) + allocated_bytes(scratch_bytes(part_bytes));
  }
  [[nodiscard]] static constexpr std::uint64_t part_host_bytes(std::uint64_t part_bytes) {
    return round_up(part_bytes, kMemoryPageBytes) + kLeastPutters * kPieceBytes;
  }
};

}  // namespace gsort
