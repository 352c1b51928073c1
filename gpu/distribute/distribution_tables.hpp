// The tables of both distributions, from a sample of the input: their memory and their launches.
// Host code.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "gpu/cuda/scratch.hpp"
#include "gpu/distribute/distribute_shape.hpp"
#include "gpu/distribute/launch.hpp"

namespace gsort::gpu {

template <class Key>
[[nodiscard]] BinTables<Key> take_tables(ScratchCutter& cutter, std::uint64_t tables,
                                         unsigned bin_bits) {
  BinTables<Key> taken;
  taken.bin_bits = bin_bits;
  taken.splitters = cutter.take<Key>(tables * taken.bins());
  taken.cells = cutter.take<std::uint32_t>(tables * taken.cell_count());
  taken.heads = cutter.take<BinHead<Key>>(tables);
  return taken;
}

// What the launches write, in device memory.
template <class Key>
struct DistributionTables {
  Key* sample = nullptr;
  BinTables<Key> first;
  BinTables<Key> second;
  BucketPlace* whole = nullptr;
};

// A different number in every call. Not from std::random_device, which makes a system call that can
// fail.
[[nodiscard]] inline std::uint64_t next_seed() {
  static std::atomic<std::uint64_t> seed{
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())};
  return seed.fetch_add(0x9e3779b97f4a7c15ULL, std::memory_order_relaxed);
}

template <class Key>
struct SampledInput {
  const Key* input = nullptr;
  std::uint64_t count = 0;
  KeyMap<Key> load_map;
  unsigned place_shift = 0;          // word_of
  std::uint64_t* cleared = nullptr;  // numbers that are set to 0 on the way
  std::uint64_t cleared_count = 0;
  ScratchMemory scratch;   // of the sample's sort
  unsigned tile_keys = 0;  // of the first distribution
};

template <class Word>
void queue_sample_sort(Word* sample, std::uint64_t count, const ScratchMemory& scratch,
                       unsigned architecture, cudaStream_t stream) {
  if constexpr (sizeof(Word) == 4) {
    if (count == kBlockSampleKeys) return launch_sample_sort(sample, architecture, stream);
  }
  sort_keys<Word>(
      {.input = sample, .output = sample, .count = count, .scratch = scratch, .stream = stream});
}

// Queues the sample, its sort, and the tables.
template <class Key, class Word>
void queue_tables(const SampledInput<Key>& input, const DistributionShape& shape,
                  const DistributionChoice& choice, const DistributionTables<Word>& to,
                  unsigned architecture, cudaStream_t stream) {
  SamplePass<Word, Key> sample;
  sample.input = input.input;
  sample.count = input.count;
  sample.maps = EndMaps<Key>::of(input.load_map, {});
  sample.place_shift = input.place_shift;
  sample.cleared = input.cleared;
  sample.cleared_count = input.cleared_count;
  sample.sample = to.sample;
  sample.sample_bits = shape.sample_bits;
  sample.seed = choice.seed ? *choice.seed : next_seed();
  launch_sample_keys(sample, architecture, stream);
  queue_sample_sort(to.sample, shape.sample_keys(), input.scratch, architecture, stream);
  TablePass<Word> tables;
  tables.sample = to.sample;
  tables.sample_bits = shape.sample_bits;
  tables.first = to.first;
  tables.second = to.second;
  tables.whole = to.whole;
  tables.count = input.count;
  tables.tile_keys = input.tile_keys;
  launch_bin_tables(tables, architecture, stream);
}

}  // namespace gsort::gpu
