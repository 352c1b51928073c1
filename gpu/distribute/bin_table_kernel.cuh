// sample_keys_kernel: takes keys at random places of the input. bin_table_kernel: makes the tables
// of both distributions from the sorted sample.
//
// Threads: a thread takes one key of the sample; block 0 makes the table of the first distribution,
// block b + 1 that of its bucket b: thread t splitter t, then every kMostBins-th cell.
// Device memory: 32 bytes read for every key of the sample.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/distribute/launch.hpp"

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
  if (i < std::uint64_t{1} << pass.sample_bits) {
    const std::uint64_t begin = i * pass.count >> pass.sample_bits;
    const std::uint64_t length = ((i + 1) * pass.count >> pass.sample_bits) - begin;
    const std::uint64_t random = random_bits(pass.seed + i) >> 32;
    Key key = pass.input[begin + (random * length >> 32)];
    if (pass.maps.loads_mapped) key = pass.maps.load_map.to_ordered(key);
    pass.sample[i] = key;
  }
}

// Splitter `bin` of the first distribution.
template <class Key>
__device__ Key thread_first_splitter(const TablePass<Key>& pass, unsigned bin) {
  if (bin == 0) return 0;
  const unsigned shift = pass.sample_bits - pass.first.bin_bits;
  const Key before = bin == 1 ? Key{0} : pass.sample[std::uint64_t{bin - 1} << shift];
  return splitter_of(before, pass.sample[std::uint64_t{bin} << shift], static_cast<Key>(~Key{0}));
}

// The first and the last key that bucket `bucket` of the first distribution may have.
template <class Key>
__device__ BinHead<Key> thread_bucket_range(const TablePass<Key>& pass, unsigned bucket) {
  BinHead<Key> head{thread_first_splitter(pass, bucket), static_cast<Key>(~Key{0}), 0, 0};
  if (bucket + 1 < pass.first.bins()) {
    const Key next = thread_first_splitter(pass, bucket + 1);
    head.most = next > head.least ? static_cast<Key>(next - 1U) : head.least;
  }
  return head;
}

// Splitter `bin` of the second distribution, in a bucket.
template <class Key>
__device__ Key thread_second_splitter(const TablePass<Key>& pass, unsigned bucket,
                                      const BinHead<Key>& head, unsigned bin) {
  if (bin == 0) return head.least;
  const Key* const sample =
      pass.sample + (std::uint64_t{bucket} << (pass.sample_bits - pass.first.bin_bits));
  const unsigned shift = pass.sample_bits - pass.first.bin_bits - pass.second.bin_bits;
  const auto chosen = [&](unsigned place) {
    return place == 0 ? head.least : max(sample[std::uint64_t{place} << shift], head.least);
  };
  return min(splitter_of(chosen(bin - 1), chosen(bin), head.most), head.most);
}

template <class Key>
__global__ void __launch_bounds__(kMostBins)
    bin_table_kernel(const __grid_constant__ TablePass<Key> pass) {
  __shared__ Key splitters[kMostBins];
  grid_begin();
  const unsigned bin = threadIdx.x;
  const bool is_first = blockIdx.x == 0;
  const unsigned bucket = is_first ? 0 : blockIdx.x - 1;
  const BinTables<Key>& tables = is_first ? pass.first : pass.second;
  BinHead<Key> head{0, static_cast<Key>(~Key{0}), 0, 0};
  if (!is_first) head = thread_bucket_range(pass, bucket);
  if (bin < tables.bins()) {
    splitters[bin] = is_first ? thread_first_splitter(pass, bin)
                              : thread_second_splitter(pass, bucket, head, bin);
    tables.splitters[std::uint64_t{bucket} * tables.bins() + bin] = splitters[bin];
  }
  if (is_first && bin == 0) {
    pass.whole[0] = {0, 0};
    pass.whole[1] = {pass.count, (pass.count + pass.tile_keys - 1) / pass.tile_keys};
  }
  __syncthreads();  // the splitters are known

  const unsigned cells = tables.cell_count();
  head.base = splitters[1];
  head.shift = cell_shift(head.base, splitters[tables.bins() - 1], tables.bin_bits + kCellBitsMore);
  const BinTable<Key> table{splitters, nullptr, tables.bins(), cells - 1};
  std::uint16_t* const entries = tables.cells + std::uint64_t{bucket} * cells;
  for (unsigned cell = threadIdx.x; cell < cells; cell += kMostBins) {
    entries[cell] = static_cast<std::uint16_t>(cell_entry(table, head, cell));
  }
  if (bin == 0) tables.heads[bucket] = head;
}

}  // namespace gsort::gpu
