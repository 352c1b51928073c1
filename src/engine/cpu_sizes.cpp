#include <algorithm>
#include <bit>

#include "base/made_once.hpp"
#include "element/key.hpp"
#include "engine/array_footprint.hpp"
#include "engine/engine_sizes.hpp"
#include "engine/footprint.hpp"
#include "engine/record_footprint.hpp"

namespace gsort {
namespace {

bool sorts_records(const ElementSize& element) {
  return element.is_record && !element.is_wide_key;
}

class CpuSizes final : public EngineSizes {
 public:
  [[nodiscard]] std::size_t most_array_key_bytes() const override { return sizeof(UInt128); }

  [[nodiscard]] unsigned chunk_lanes() const override { return 2; }

  // The readers also distribute blocks, and later sort and put pieces. Each sometimes waits for the
  // disk; one reader more than there are cores keeps the cores busy (measured:
  // tools/bench/results/tried.md).
  [[nodiscard]] unsigned most_readers(unsigned threads) const override {
    return threads == 1 ? 1 : threads + 1;
  }

  [[nodiscard]] std::uint64_t block_bytes(const ElementSize& element, std::uint64_t host_bytes,
                                          unsigned /*lanes*/, unsigned threads) const override {
    const std::uint64_t wanted = std::clamp<std::uint64_t>(
        std::bit_floor(host_bytes / (std::uint64_t{32} * threads)), 64 * kKiB, 256 * kKiB);
    return sorts_records(element) ? record_block_bytes(element.bytes, wanted) : wanted;
  }

  [[nodiscard]] std::uint64_t most_chunk_elements(const ElementSize& element) const override {
    return sorts_records(element) ? CpuRecordChunkFootprint::kMostElements : UINT64_MAX;
  }

  [[nodiscard]] LaneBytes chunk_lane(const ElementSize& element, std::uint64_t elements,
                                     unsigned readers, std::uint64_t block_bytes) const override {
    if (sorts_records(element)) {
      const auto lane = CpuRecordChunkFootprint::of(elements, element.bytes, readers, block_bytes);
      return {lane.arena_bytes(), lane.heap_bytes()};
    }
    const auto lane = CpuChunkFootprint::of(elements, element.bytes, readers, block_bytes);
    return {lane.arena_bytes(), lane.heap_bytes()};
  }

  [[nodiscard]] std::optional<std::uint64_t> share_device_bytes(
      const ElementSize& /*element*/, std::uint64_t /*elements*/, std::uint64_t /*block_bytes*/,
      unsigned /*devices*/) const override {
    return std::nullopt;
  }

  [[nodiscard]] unsigned merge_lanes(unsigned threads) const override { return threads + 1; }

  [[nodiscard]] std::uint64_t most_part_bytes() const override { return 32 * kMiB; }

  [[nodiscard]] LaneBytes merge_lane(const ElementSize& element,
                                     std::uint64_t elements) const override {
    return {sorts_records(element)
                ? CpuRecordMergeFootprint::of(elements, element.bytes).arena_bytes()
                : CpuMergeFootprint::of(elements, element.bytes).arena_bytes()};
  }

  [[nodiscard]] unsigned array_lanes(unsigned threads) const override { return threads; }

  // For each core, the size of its cache, or less if memory does not suffice for all cores.
  [[nodiscard]] std::uint64_t array_block_bytes(std::uint64_t host_bytes,
                                                std::uint64_t /*device_bytes*/,
                                                unsigned threads) const override {
    return std::clamp(std::bit_floor(host_bytes / (2 * std::uint64_t{threads})),
                      kLeastArrayBlockBytes, kMiB);
  }

  [[nodiscard]] LaneBytes array_lane(const ElementSize& element, std::uint64_t longest_array,
                                     std::uint64_t block_elements) const override {
    const std::uint64_t block = block_elements * element.bytes;
    return {sorts_records(element)
                ? CpuArrayFootprint::of_records(longest_array, block).arena_bytes()
                : CpuArrayFootprint::of_keys(longest_array * element.bytes, block).arena_bytes()};
  }

  // Half for sorting and half for runs, unless there is so much data that larger chunks save as
  // much.
  [[nodiscard]] std::uint64_t host_tier_bytes(
      std::uint64_t host_bytes, std::optional<std::uint64_t> input_bytes) const override {
    constexpr std::uint64_t kWorthwhileFactor = 4;
    const bool worthwhile = !input_bytes || *input_bytes / kWorthwhileFactor <= host_bytes;
    return worthwhile ? host_bytes / 2 : 0;
  }

  [[nodiscard]] std::uint64_t device_tier_bytes(
      std::uint64_t /*device_bytes*/, std::optional<std::uint64_t> /*input_bytes*/) const override {
    return 0;
  }
};

}  // namespace

const EngineSizes& cpu_sizes() {
  return made_once([] { return CpuSizes(); });
}

}  // namespace gsort
