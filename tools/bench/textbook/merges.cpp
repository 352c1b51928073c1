// See merges.hpp.
#include "bench/textbook/merges.hpp"

#include <array>

namespace gsort::textbook {

template <class Key>
std::span<const NamedMerge<Key>> all_merges() {
  static constexpr std::array<NamedMerge<Key>, 8> kMerges = {{
      {"basic merge", launch_basic_merge<Key>},
      {"tiled merge", launch_tiled_merge<Key>},
      {"circular-buffer merge", launch_circular_merge<Key>},
      {"block-tile merge 128 x 7", launch_block_tile_merge<Key, 128, 7>},
      {"block-tile merge 256 x 11", launch_block_tile_merge<Key, 256, 11>},
      {"block-tile merge 256 x 17", launch_block_tile_merge<Key, 256, 17>},
      {"merge path, thread a diagonal", launch_merge_path<Key>},
      {"splitter scatter", launch_splitter_scatter<Key>},
  }};
  return kMerges;
}

template std::span<const NamedMerge<std::uint8_t>> all_merges();
template std::span<const NamedMerge<std::int32_t>> all_merges();
template std::span<const NamedMerge<std::uint64_t>> all_merges();

}  // namespace gsort::textbook
