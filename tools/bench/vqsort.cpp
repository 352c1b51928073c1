// See vqsort.hpp.
#include "bench/vqsort.hpp"

#ifdef GSORT_HAS_VQSORT
#include <hwy/contrib/sort/vqsort.h>
#endif

namespace gsort::bench {

#ifdef GSORT_HAS_VQSORT

bool has_vqsort() {
  return true;
}

void vqsort(std::span<std::uint32_t> keys) {
  hwy::Sorter()(keys.data(), keys.size(), hwy::SortAscending());
}
void vqsort(std::span<std::uint64_t> keys) {
  hwy::Sorter()(keys.data(), keys.size(), hwy::SortAscending());
}

#else

bool has_vqsort() {
  return false;
}
void vqsort(std::span<std::uint32_t> /*keys*/) {}
void vqsort(std::span<std::uint64_t> /*keys*/) {}

#endif

}  // namespace gsort::bench
