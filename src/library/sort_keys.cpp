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

#define GSORT_INSTANTIATE(type, name, Key, fold) \
  template void sort_keys(std::span<Key>, Order, unsigned);
GSORT_NUMBER_TYPES(GSORT_INSTANTIATE)
#undef GSORT_INSTANTIATE

}  // namespace gsort
