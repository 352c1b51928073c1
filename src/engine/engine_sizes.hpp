// Sizes that an engine needs and prefers, for the plan: pure arithmetic, without allocations or
// device calls. Each engine has an implementation; footprint.hpp and its neighbours have the
// layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/units.hpp"

namespace gsort {

struct ElementSize {
  std::uint64_t bytes = 4;
  bool is_record = false;
  bool is_wide_key = false;  // a record that is one key of 16 bytes
};

// The memory of one lane.
struct LaneBytes {
  std::uint64_t arena = 0;   // of the host, laid out by the engine
  std::uint64_t heap = 0;    // of the host, in addition
  std::uint64_t device = 0;  // 0 if no device is needed
};

class EngineSizes {
 public:
  // A lane for arrays that fill no larger block always has room, unless it needs a device.
  static constexpr std::uint64_t kLeastArrayBlockBytes = 16 * kKiB;

  virtual ~EngineSizes() = default;

  // For arrays of keys; another engine sorts arrays of longer keys.
  [[nodiscard]] virtual std::size_t most_array_key_bytes() const = 0;

  // Chunks: the lanes that overlap if there are several chunks; the most readers for `threads`
  // sorting threads; the bytes of one read; the most elements of a chunk.
  [[nodiscard]] virtual unsigned chunk_lanes() const = 0;
  [[nodiscard]] virtual unsigned most_readers(unsigned threads) const = 0;
  [[nodiscard]] virtual std::uint64_t block_bytes(const ElementSize& element,
                                                  std::uint64_t host_bytes, unsigned lanes,
                                                  unsigned threads) const = 0;
  [[nodiscard]] virtual std::uint64_t most_chunk_elements(const ElementSize& element) const = 0;
  [[nodiscard]] virtual LaneBytes chunk_lane(const ElementSize& element, std::uint64_t elements,
                                             unsigned readers, std::uint64_t block_bytes) const = 0;

  // The memory of each device if `devices` hold a chunk of this many elements together; none if
  // they cannot.
  [[nodiscard]] virtual std::optional<std::uint64_t> share_device_bytes(const ElementSize& element,
                                                                        std::uint64_t elements,
                                                                        std::uint64_t block_bytes,
                                                                        unsigned devices) const = 0;

  // Parts of a merge. Parts larger than most_part_bytes() are no faster.
  [[nodiscard]] virtual unsigned merge_lanes(unsigned threads) const = 0;
  [[nodiscard]] virtual std::uint64_t most_part_bytes() const = 0;
  [[nodiscard]] virtual LaneBytes merge_lane(const ElementSize& element,
                                             std::uint64_t elements) const = 0;

  // Blocks of whole arrays.
  [[nodiscard]] virtual unsigned array_lanes(unsigned threads) const = 0;
  [[nodiscard]] virtual std::uint64_t array_block_bytes(std::uint64_t host_bytes,
                                                        std::uint64_t device_bytes,
                                                        unsigned threads) const = 0;
  [[nodiscard]] virtual LaneBytes array_lane(const ElementSize& element,
                                             std::uint64_t longest_array,
                                             std::uint64_t block_elements) const = 0;

  // The host and device memory that is better used to keep runs. No input_bytes if the size is not
  // known.
  [[nodiscard]] virtual std::uint64_t host_tier_bytes(
      std::uint64_t host_bytes, std::optional<std::uint64_t> input_bytes) const = 0;
  [[nodiscard]] virtual std::uint64_t device_tier_bytes(
      std::uint64_t device_bytes, std::optional<std::uint64_t> input_bytes) const = 0;
};

[[nodiscard]] const EngineSizes& cpu_sizes();
[[nodiscard]] const EngineSizes& cuda_sizes();

}  // namespace gsort
