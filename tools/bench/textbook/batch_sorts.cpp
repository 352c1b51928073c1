// See batch_sorts.hpp.
#include "bench/textbook/batch_sorts.hpp"

#include <array>

namespace gsort::textbook {

template <class Key>
std::span<const NamedBatchSort<Key>> all_batch_sorts() {
  static constexpr std::array<NamedBatchSort<Key>, 4> kSorts = {{
      {"batch merge path, global memory", launch_batch_sort_global<Key>, UINT64_MAX, true},
      {"batch merge path, shared memory", launch_batch_sort_shared<Key>, kMostSharedKeys, true},
      {"batch merge path, super-blocks", launch_batch_sort_super<Key>, UINT64_MAX, false},
      {"section sort, scatter merge", launch_section_sort<Key>, UINT64_MAX, false},
  }};
  return kSorts;
}

template std::span<const NamedBatchSort<std::uint8_t>> all_batch_sorts();
template std::span<const NamedBatchSort<std::int32_t>> all_batch_sorts();
template std::span<const NamedBatchSort<std::uint64_t>> all_batch_sorts();

}  // namespace gsort::textbook
