// The shape of a sort by distribution: how many bins, how large a sample, and what the device may
// list at most. Host code, but for the constant that kernels share.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.hpp"
#include "gpu/cuda/tuning.hpp"
#include "gpu/distribute/bin_chunks.hpp"
#include "gpu/distribute/bin_table.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/segmented/long_merges.hpp"
#include "gpu/sort/sort_shape.hpp"

namespace gsort::gpu {

// A long array takes in the keys behind it, up to this many tiles: one pass merges as many.
inline constexpr unsigned kLongTiles = 8;

// Keys of a bin of the second distribution, at most on average; a quarter of a tile that is sorted.
inline constexpr std::uint64_t kBinKeys = 2048;
// The sample has 2^3 keys for each of these bins: few bins in a thousand exceed twice the mean.
inline constexpr unsigned kSampleBitsOfBin = 3;
// The same for one distribution, up to the largest number of bins. A bucket of twice this size is
// still sorted as a whole; about one bucket in a million is longer.
inline constexpr std::uint64_t kOnceBinKeys = 8192;
inline constexpr unsigned kSampleBitsOfOnceBin = 5;
// Bins of pairs have at most half a tile on average. They are not smaller, because distributions of
// pairs take longer with more bins. The sample has 2^5 keys for each bin: few bins in a million
// exceed a tile.
inline constexpr unsigned kSampleBitsOfPairBin = 5;
// The last chunks of the first distribution's bins may leave room for one in this many keys. This
// limits the number of these bins, if the second distribution can have more.
inline constexpr std::uint64_t kChunkRoomShare = 32;

struct DistributionShape {
  unsigned first_bits = 1;  // log2 of the bins of the first distribution
  unsigned second_bits = 1;
  unsigned sample_bits = 2;
  unsigned chunk_shift = kLeastChunkShift;  // log2 of the keys of a chunk (bin_chunks.hpp)
  std::uint64_t chunks_of_bin = 1;          // at most
  std::uint64_t chunk_count = 1;            // of all bins, at most

  [[nodiscard]] constexpr unsigned first_bins() const { return 1U << first_bits; }
  [[nodiscard]] constexpr std::uint64_t last_bins() const {
    return std::uint64_t{1} << (first_bits + second_bits);
  }
  [[nodiscard]] constexpr std::uint64_t sample_keys() const {
    return std::uint64_t{1} << sample_bits;
  }
  // The length of the array that the first distribution writes.
  [[nodiscard]] constexpr std::uint64_t chunked_keys() const { return chunk_count << chunk_shift; }

  [[nodiscard]] static constexpr DistributionShape of(std::uint64_t count,
                                                      const DistributionChoice& choice) {
    const unsigned bits = bits_for(count, kBinKeys);
    unsigned first_bits = (bits + 1) / 2;
    while (first_bits > 1 && bits - first_bits < kMostBinBits &&
           kChunkRoomShare << (first_bits + kLeastChunkShift) > count) {
      --first_bits;
    }
    DistributionShape shape = of_bits(first_bits, bits - first_bits, kSampleBitsOfBin, choice);
    shape.add_chunks(count);
    return shape;
  }

  // For one distribution, whose buckets are sorted in tiles of `tile_words`.
  [[nodiscard]] static constexpr DistributionShape of_once(std::uint64_t count, unsigned tile_words,
                                                           const DistributionChoice& choice) {
    unsigned bits = 1;
    while (bits < kMostBinBits && kOnceBinKeys << bits < count) ++bits;
    // If the mean is nearer to a tile, buckets must differ less from it.
    const unsigned nearness = (std::uint64_t{tile_words} / 2 << bits < count ? 1U : 0U) +
                              (std::uint64_t{tile_words} / 16 * 11 << bits < count ? 1U : 0U);
    DistributionShape shape;
    shape.first_bits = choice.first_bits != 0 ? choice.first_bits : bits;
    shape.second_bits = 0;
    shape.sample_bits = shape.first_bits + kSampleBitsOfOnceBin + nearness;
    shape.chunk_count = 0;
    return shape;
  }

  // For pairs, sorted in tiles of `tile_pairs`. Pairs are counted before, so bins need no chunks.
  [[nodiscard]] static constexpr DistributionShape of_pairs(std::uint64_t count,
                                                            unsigned tile_pairs,
                                                            const DistributionChoice& choice) {
    const unsigned bits = bits_for(count, tile_pairs / 2);
    return of_bits(bits / 2, (bits + 1) / 2, kSampleBitsOfPairBin, choice);
  }

  // Whether to distribute this many keys. The sample is sorted in the array that they go to first.
  [[nodiscard]] constexpr bool suits(std::uint64_t count, std::uint64_t least_keys) const {
    return count >= std::max(least_keys, 4 * sample_keys());
  }

 private:
  [[nodiscard]] static constexpr unsigned bits_for(std::uint64_t count, std::uint64_t bin_keys) {
    unsigned bits = 2;
    while (bits < 2 * kMostBinBits && bin_keys << bits < count) ++bits;
    return bits;
  }
  [[nodiscard]] static constexpr DistributionShape of_bits(unsigned first, unsigned second,
                                                           unsigned sample_bits_of_bin,
                                                           const DistributionChoice& choice) {
    DistributionShape shape;
    shape.first_bits = choice.first_bits != 0 ? choice.first_bits : first;
    shape.second_bits = choice.second_bits != 0 ? choice.second_bits : second;
    shape.sample_bits = shape.first_bits + shape.second_bits + sample_bits_of_bin;
    return shape;
  }
  constexpr void add_chunks(std::uint64_t count) {
    while ((count >> chunk_shift) + first_bins() > kMostChunks) ++chunk_shift;
    chunks_of_bin = (count >> chunk_shift) + 1;
    chunk_count = (count >> chunk_shift) + first_bins();
  }
};

// The most arrays that the device may list; pack_kernel.cuh explains them.
struct DistributionBounds {
  std::uint64_t tile_arrays = 0;
  std::uint64_t long_arrays = 0;
  std::uint64_t long_tiles = 0;
  std::uint64_t rows = 0;
  RowSlots slots;

  [[nodiscard]] static DistributionBounds of(std::uint64_t count, const DistributionShape& shape,
                                             std::uint64_t packed_keys, const SortShape& passes,
                                             const KernelTuning& tuning) {
    DistributionBounds bounds;
    const std::uint64_t buckets = shape.first_bins();
    bounds.tile_arrays = div_up(2 * count, packed_keys) + buckets;
    // Each long array, except a bucket's last, is followed by a long bin of equal keys, or makes
    // kLongTiles tiles together with the next one or the one that follows.
    bounds.long_arrays = count / (2 * packed_keys) + buckets + 1;
    bounds.long_tiles = div_up(count, passes.run_length) +
                        div_up(2 * count, kLongTiles * packed_keys) + buckets + 1;
    if (passes.fan_ins.empty()) return bounds;
    bounds.slots = RowSlots::of(passes.run_length, tuning.merge_tile_keys(tuning.max_fan_in),
                                passes.fan_ins.front());
    bounds.rows = bounds.slots.first_row(bounds.long_tiles, bounds.long_arrays);
    return bounds;
  }
};

}  // namespace gsort::gpu
