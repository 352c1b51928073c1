// A run that is not in a store: a view of elements in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "element/key.hpp"
#include "element/stored_keys.hpp"
#include "pipeline/run_view.hpp"

namespace gsort::test {

struct OwnIndex {
  std::vector<io::BlockEntry> blocks;
};

// The elements, ordered keys, outlive it.
class RunElsewhere : private OwnIndex, public RunView {
 public:
  RunElsewhere(ConstByteSpan elements, std::size_t element_bytes, std::size_t block_elements)
      : OwnIndex{index_of(elements, element_bytes, block_elements)},
        RunView({blocks, elements.size() / element_bytes}),
        elements_(elements),
        element_bytes_(element_bytes) {}

  ConstByteSpan read_block(std::size_t block, ByteSpan out, ByteSpan scratch) const override {
    const std::uint64_t begin = fences().first_position(block);
    const std::uint64_t end = fences().end_position(block);
    read_range(begin, end, out, scratch);
    return out.first((end - begin) * element_bytes_);
  }
  void read_range(std::uint64_t begin, std::uint64_t end, ByteSpan out,
                  ByteSpan /*scratch*/) const override {
    const auto range = elements_.subspan(begin * element_bytes_, (end - begin) * element_bytes_);
    std::ranges::copy(range, out.begin());
  }
  // Whole blocks, none of them packed.
  void read_stored(std::uint64_t begin, std::uint64_t end, ByteSpan out,
                   std::span<StoredKeys> pieces, ByteSpan scratch) const override {
    std::uint64_t used = 0;
    std::size_t block = fences().block_of(begin);
    for (StoredKeys& piece : pieces) {
      const std::uint64_t first = fences().first_position(block);
      const std::uint64_t behind = fences().end_position(block);
      const std::uint64_t from = std::max(begin, first);
      const std::size_t bytes = read_block(block, out.subspan(used), scratch).size();
      piece = {.payload = used,
               .position = from - begin,
               .count = static_cast<std::uint32_t>(behind - first),
               .begin = static_cast<std::uint32_t>(from - first),
               .end = static_cast<std::uint32_t>(std::min(end, behind) - first),
               .packed = 0};
      used += round_up(bytes, kPayloadAlignment);
      ++block;
    }
  }

 private:
  static std::vector<io::BlockEntry> index_of(ConstByteSpan elements, std::size_t element_bytes,
                                              std::size_t block_elements) {
    std::vector<io::BlockEntry> blocks;
    const std::size_t count = elements.size() / element_bytes;
    for (std::size_t at = 0; at < count; at += block_elements) {
      io::BlockEntry& block = blocks.emplace_back();
      block.position = at;
      with_key_of_width(element_bytes, [&](auto key) {
        std::memcpy(&key, elements.data() + at * element_bytes, sizeof(key));
        constexpr unsigned kLeftOut = sizeof(key) > 8 ? 64 : 0;
        block.first_key = static_cast<std::uint64_t>(key >> kLeftOut);
      });
      const std::size_t bytes = std::min(block_elements, count - at) * element_bytes;
      block.stored_bytes = static_cast<std::uint32_t>(round_up(bytes, kPayloadAlignment));
    }
    return blocks;
  }

  ConstByteSpan elements_;
  std::size_t element_bytes_;
};

}  // namespace gsort::test
