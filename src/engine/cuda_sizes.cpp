#include <algorithm>
#include <bit>

#include "base/made_once.hpp"
#include "engine/array_footprint.hpp"
#include "engine/engine_sizes.hpp"
#include "engine/footprint.hpp"
#include "engine/record_footprint.hpp"

namespace gsort {
namespace {

class CudaSizes final : public EngineSizes {
 public:
  [[nodiscard]] std::size_t most_array_key_bytes() const override { return sizeof(std::uint64_t); }

  // While one lane copies in, another sorts, and a third copies out.
  [[nodiscard]] unsigned chunk_lanes() const override { return 3; }
  [[nodiscard]] unsigned merge_lanes(unsigned /*threads*/) const override { return 3; }
  // And a fourth reads or writes.
  [[nodiscard]] unsigned array_lanes(unsigned /*threads*/) const override { return 4; }

  [[nodiscard]] unsigned most_readers(unsigned threads) const override {
    return CudaFootprint::readers(threads);
  }

  [[nodiscard]] std::uint64_t block_bytes(const ElementSize& element, std::uint64_t host_bytes,
                                          unsigned lanes, unsigned threads) const override {
    const std::uint64_t blocks = std::uint64_t{lanes} * most_readers(threads);
    const std::uint64_t wanted =
        std::clamp<std::uint64_t>(std::bit_floor(host_bytes / (8 * blocks)), 256 * kKiB, 4 * kMiB);
    return element.is_record ? record_block_bytes(element.bytes, wanted) : wanted;
  }

  [[nodiscard]] std::uint64_t most_chunk_elements(const ElementSize& element) const override {
    return element.is_record ? CpuRecordChunkFootprint::kMostElements : UINT64_MAX;
  }

  [[nodiscard]] LaneBytes chunk_lane(const ElementSize& element, std::uint64_t elements,
                                     unsigned readers, std::uint64_t block_bytes) const override {
    return {CudaFootprint::chunk_host_bytes(readers, block_bytes), 0,
            element.is_record ? CudaRecordFootprint::device_bytes(elements, element.bytes)
                              : CudaFootprint::chunk_device_bytes(elements * element.bytes)};
  }

  [[nodiscard]] std::optional<std::uint64_t> share_device_bytes(const ElementSize& element,
                                                                std::uint64_t elements,
                                                                std::uint64_t block_bytes,
                                                                unsigned devices) const override {
    const bool is_key = !element.is_record && (element.bytes == 4 || element.bytes == 8);
    if (!is_key || devices < 2 || devices > CudaFootprint::kMostSharers) return std::nullopt;
    const std::uint64_t share =
        CudaFootprint::share_elements(elements, block_bytes / element.bytes, devices);
    return CudaFootprint::share_device_bytes(share * element.bytes);
  }

  [[nodiscard]] std::uint64_t most_part_bytes() const override { return 256 * kMiB; }

  [[nodiscard]] LaneBytes merge_lane(const ElementSize& element,
                                     std::uint64_t elements) const override {
    const std::uint64_t bytes = elements * element.bytes;
    return {CudaFootprint::part_host_bytes(bytes), 0,
            element.is_record ? CudaRecordFootprint::device_bytes(elements, element.bytes)
                              : CudaFootprint::part_device_bytes(bytes)};
  }

  // Blocks so large that the copies, not their starts, take the time.
  [[nodiscard]] std::uint64_t array_block_bytes(std::uint64_t host_bytes,
                                                std::uint64_t device_bytes,
                                                unsigned /*threads*/) const override {
    return std::clamp(std::bit_floor(std::min(host_bytes, device_bytes) / 32), kMiB, 32 * kMiB);
  }

  [[nodiscard]] LaneBytes array_lane(const ElementSize& element, std::uint64_t /*longest_array*/,
                                     std::uint64_t block_elements) const override {
    const std::uint64_t block = block_elements * element.bytes;
    return {CudaArrayFootprint::host_bytes(block), 0, CudaArrayFootprint::device_bytes(block)};
  }

  // Host memory is for transfers only.
  [[nodiscard]] std::uint64_t host_tier_bytes(
      std::uint64_t host_bytes, std::optional<std::uint64_t> /*input_bytes*/) const override {
    return host_bytes - std::max(host_bytes / 4, std::min(host_bytes / 2, kGiB));
  }

  // The memory that lanes do not need for full speed, at most as much as all runs may take. The
  // data of a pipe may fit into one chunk.
  [[nodiscard]] std::uint64_t device_tier_bytes(
      std::uint64_t device_bytes, std::optional<std::uint64_t> input_bytes) const override {
    constexpr std::uint64_t kLeastForSorting = 6 * kGiB;  // three lanes with chunks of 1 GiB
    const std::uint64_t sorting = std::max(device_bytes / (input_bytes ? 8 : 2), kLeastForSorting);
    if (device_bytes <= sorting) return 0;
    const std::uint64_t most = round_down(device_bytes - sorting, CudaFootprint::kDevicePageBytes);
    if (!input_bytes) return most;
    // If there is many times as much data, longer runs, which pack better, save more.
    constexpr std::uint64_t kWorthwhileFactor = 8;
    return *input_bytes / kWorthwhileFactor > most
               ? 0
               : std::min(most, CudaFootprint::allocated_bytes(*input_bytes + *input_bytes / 16));
  }
};

}  // namespace

const EngineSizes& cuda_sizes() {
  return made_once([] { return CudaSizes(); });
}

}  // namespace gsort
