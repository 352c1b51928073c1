#include "library/sort_keys.hpp"

#include "engine/cpu/in_place/in_place_sort.hpp"
#include "library/key_types.hpp"
#include "library/keys_call.hpp"

namespace gsort {
template <SortableKey Key>
void sort_keys(std::span<Key> keys, Order order, unsigned threads) {
  library::keys_call(threads, "sort_keys", [&] {
    if (keys.size() < 2) return;
    const unsigned cores = library::cores_for_bytes(keys.size_bytes(), threads);
    const auto map = KeyMap<library::Bits<Key>>::of(library::format_of<Key>(order));
    cpu::sort_in_place(library::bits_of(keys), map, cores);
  });
}

#define GSORT_INSTANTIATE(type, name, Key, fold) \
  template void sort_keys(std::span<Key>, Order, unsigned);
GSORT_NUMBER_TYPES(GSORT_INSTANTIATE)
#undef GSORT_INSTANTIATE

}  // namespace gsort
