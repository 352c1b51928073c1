#include "library/sort_keys.hpp"

#include <optional>

#include "engine/cpu/in_place/in_place_sort.hpp"
#include "library/key_types.hpp"
#include "library/keys_call.hpp"
#include "pipeline/survey.hpp"

namespace gsort {
namespace {

// Fewer keys are sorted in less time than it takes to ask the host for its cores.
unsigned cores_for_bytes(std::size_t bytes, unsigned threads) {
  if (bytes < cpu::kLeastSharedBytes) return 1;
  return cores_for(threads == 0 ? std::nullopt : std::optional(threads));
}

}  // namespace

template <SortableKey Key>
void sort_keys(std::span<Key> keys, Order order, unsigned threads) {
  library::keys_call(threads, "sort_keys", [&] {
    if (keys.size() < 2) return;
    const unsigned cores = cores_for_bytes(keys.size_bytes(), threads);
    const auto map = KeyMap<library::Bits<Key>>::of(library::format_of<Key>(order));
    cpu::sort_in_place(library::bits_of(keys), map, cores);
  });
}

#define GSORT_INSTANTIATE(type, name, Key, fold) \
  template void sort_keys(std::span<Key>, Order, unsigned);
GSORT_NUMBER_TYPES(GSORT_INSTANTIATE)
#undef GSORT_INSTANTIATE

}  // namespace gsort
