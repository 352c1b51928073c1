// sample_keys_kernel: takes keys at random places of the input, and clears counts.
// bin_table_kernel: makes the tables of both distributions from the sorted sample.
//
// Threads: a thread takes one key of the sample. Block 0 makes the table of the first distribution.
// Block b + 1 makes the same splitters again, then the table of bucket b for the second
// distribution. Thread t makes splitter t, then every kMostBins-th cell.
// Device memory: 32 bytes read for every key of the sample.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/distribute/launch.hpp"
#include "gpu/merge/block_sum.cuh"

namespace gsort::gpu {

inline constexpr unsigned kSampleThreads = 256;

// SplitMix64: a number to random bits.
__device__ inline std::uint64_t random_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// The input is cut into as many strata as the sample has keys, and each gives one.
template <class Key>
__global__ void __launch_bounds__(kSampleThreads)
    sample_keys_kernel(const __grid_constant__ SamplePass<Key> pass) {
  grid_begin();
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kSampleThreads + threadIdx.x;
  for (std::uint64_t j = i; j < pass.cleared_count;
       j += std::uint64_t{gridDim.x} * kSampleThreads) {
    pass.cleared[j] = 0;
  }
  if (i < std::uint64_t{1} << pass.sample_bits) {
    const std::uint64_t begin = i * pass.count >> pass.sample_bits;
    const std::uint64_t length = ((i + 1) * pass.count >> pass.sample_bits) - begin;
    const std::uint64_t random = random_bits(pass.seed + i) >> 32;
    const std::uint64_t place = begin + (random * length >> 32);
    Key key = pass.input[place];
    if (pass.maps.loads_mapped) key = pass.maps.load_map.to_ordered(key);
    pass.sample[i] = key;
  }
}

// Splitter `bin` of the first distribution. A key that repeats for half a bin of the sample before
// the splitter, but not behind it, stays in the bin before: with all keys up to the next splitter,
// it could fill a bucket that is longer than a tile.
template <class Key>
__device__ Key thread_first_splitter(const TablePass<Key>& pass, unsigned bin) {
  if (bin == 0) return 0;
  const unsigned shift = pass.sample_bits - pass.first.bin_bits;
  const std::uint64_t place = std::uint64_t{bin} << shift;
  const std::uint64_t half = std::uint64_t{1} << shift >> 1;
  const Key chosen = pass.sample[place];
  const bool is_behind = pass.sample[place - half] == chosen && pass.sample[place + half] != chosen;
  const Key last = bin == 1 ? Key{0} : pass.sample[std::uint64_t{bin - 1} << shift];
  return splitter_of(is_behind ? chosen : last, chosen, static_cast<Key>(~Key{0}));
}

// The splitters of one table that a block keeps, without equal ones.
template <class Key>
struct KeptSplitters {
  Key splitters[kMostBins];
  std::uint16_t numbers[kMostBins];  // of each, among all splitters
  unsigned warp_sums[kMostBins / 32];
};

// Writes the cells of bucket `bucket`, and completes its head. All threads of the block call this.
template <class Key>
__device__ void block_write_cells(const BinTables<Key>& tables, unsigned bucket,
                                  const Key* splitters, BinHead<Key>& head) {
  __shared__ unsigned most_steps;
  if (threadIdx.x == 0) most_steps = 0;
  __syncthreads();  // the maximum is clear
  const BinTable<Key> table{splitters, nullptr, tables.cell_bits()};
  const unsigned cells = tables.cell_count();
  std::uint32_t* const entries = tables.cells + std::uint64_t{bucket} * cells;
  unsigned steps = 0;
  for (unsigned cell = threadIdx.x; cell < cells; cell += blockDim.x) {
    const CellEntry entry = cell_entry(table, head, cell);
    steps = max(steps, entry.steps);
    entries[cell] = entry.bits;
  }
  if (steps > 0) atomicMax(&most_steps, steps);
  __syncthreads();  // all entries are known
  head.steps = most_steps;
}

// Thread t has splitter t of `bins`. Keeps the last one of equal splitters. Returns how many are
// kept. All threads of the block call this.
template <class Key>
__device__ unsigned block_keep_splitters(Key splitter, unsigned bins, KeptSplitters<Key>& kept) {
  const unsigned bin = threadIdx.x;
  __syncthreads();  // all have read what was kept before
  if (bin < bins) kept.splitters[bin] = splitter;
  __syncthreads();  // all splitters are known
  const bool is_last = bin < bins && (bin + 1 == bins || kept.splitters[bin + 1] != splitter);
  unsigned count = 0;
  const unsigned place = block_exclusive_sum<kMostBins>(is_last ? 1U : 0U, kept.warp_sums, count);
  if (is_last) {
    kept.splitters[place] = splitter;
    kept.numbers[place] = static_cast<std::uint16_t>(bin);
  }
  __syncthreads();  // those that are kept are known
  return count;
}

// Sets where the cells of the table lie, and rounds its splitters. All threads of the block call
// this.
template <class Key>
__device__ void block_round_splitters(unsigned bins, unsigned cell_bits, BinHead<Key>& head,
                                      KeptSplitters<Key>& kept) {
  const unsigned bin = threadIdx.x;
  set_cells(kept.splitters, bins, cell_bits, head);
  const BinTable<Key> table{kept.splitters, nullptr, cell_bits};
  const bool is_own = bin > 0 && bin < bins;
  const Key rounded = is_own ? rounded_splitter(table, head, bin) : Key{0};
  __syncthreads();  // all have seen the splitters that were kept
  if (is_own) kept.splitters[bin] = rounded;
  __syncthreads();  // all are rounded
}

// Splitter `bin` of the second distribution, in the bucket of splitter `number` of the first.
template <class Key>
__device__ Key thread_second_splitter(const TablePass<Key>& pass, unsigned number,
                                      const BinHead<Key>& head, unsigned bin) {
  if (bin == 0) return head.least;
  const Key* const sample =
      pass.sample + (std::uint64_t{number} << (pass.sample_bits - pass.first.bin_bits));
  const unsigned shift = pass.sample_bits - pass.first.bin_bits - pass.second.bin_bits;
  const auto chosen = [&](unsigned place) {
    return place == 0 ? head.least : max(sample[std::uint64_t{place} << shift], head.least);
  };
  return min(splitter_of(chosen(bin - 1), chosen(bin), head.most), head.most);
}

template <class Key>
__global__ void __launch_bounds__(kMostBins)
    bin_table_kernel(const __grid_constant__ TablePass<Key> pass) {
  constexpr Key kGreatest = static_cast<Key>(~Key{0});
  __shared__ KeptSplitters<Key> kept;
  grid_begin();
  const unsigned bin = threadIdx.x;
  const bool is_first = blockIdx.x == 0;
  const unsigned bucket = is_first ? 0 : blockIdx.x - 1;
  const BinTables<Key>& tables = is_first ? pass.first : pass.second;
  const unsigned first_bins = pass.first.bins();
  unsigned bins = block_keep_splitters(
      bin < first_bins ? thread_first_splitter(pass, bin) : kGreatest, first_bins, kept);
  BinHead<Key> head{};
  head.most = kGreatest;
  block_round_splitters(bins, pass.first.cell_bits(), head, kept);
  if (!is_first) {
    if (bucket >= bins) {  // no keys go there
      if (bin == 0) tables.heads[bucket] = BinHead<Key>{};
      return;
    }
    head.least = kept.splitters[bucket];
    head.most = bucket + 1 < bins ? static_cast<Key>(kept.splitters[bucket + 1] - 1U) : kGreatest;
    const unsigned number = kept.numbers[bucket];
    const bool exists = bin < tables.bins();
    bins = block_keep_splitters(
        exists ? thread_second_splitter(pass, number, head, bin) : kGreatest, tables.bins(), kept);
    block_round_splitters(bins, tables.cell_bits(), head, kept);
  }
  if (bin < bins) {
    tables.splitters[std::uint64_t{bucket} * tables.bins() + bin] = kept.splitters[bin];
  }
  if (is_first && bin == 0) {
    pass.whole[0] = {0, 0};
    pass.whole[1] = {pass.count, (pass.count + pass.tile_keys - 1) / pass.tile_keys};
  }
  block_write_cells(tables, bucket, kept.splitters, head);
  if (bin == 0) tables.heads[bucket] = head;
}

}  // namespace gsort::gpu
