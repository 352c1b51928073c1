#include "library/sort_keys.hpp"

#include <optional>

#include "library/host_sort.hpp"
#include "library/key_types.hpp"
#include "pipeline/survey.hpp"

namespace gsort {

template <SortableKey Key>
void sort_keys(std::span<Key> keys, Order order, unsigned threads) {
  if (keys.size() < 2) return;
  const unsigned cores = cores_for(threads == 0 ? std::nullopt : std::optional(threads));
  const KeyFormat format = library::format_of<Key>(order);
  if constexpr (sizeof(Key) <= 2) {
    library::sort_by_counting(library::bits_of(keys), format, cores);
  } else {
    library::sort_by_engine(library::bits_of(keys), format, cores);
  }
}

template void sort_keys(std::span<std::uint8_t>, Order, unsigned);
template void sort_keys(std::span<std::int8_t>, Order, unsigned);
template void sort_keys(std::span<std::uint16_t>, Order, unsigned);
template void sort_keys(std::span<std::int16_t>, Order, unsigned);
template void sort_keys(std::span<std::uint32_t>, Order, unsigned);
template void sort_keys(std::span<std::int32_t>, Order, unsigned);
template void sort_keys(std::span<std::uint64_t>, Order, unsigned);
template void sort_keys(std::span<std::int64_t>, Order, unsigned);
template void sort_keys(std::span<float>, Order, unsigned);
template void sort_keys(std::span<double>, Order, unsigned);

}  // namespace gsort
