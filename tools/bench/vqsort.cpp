#include "bench/vqsort.hpp"

#include <hwy/contrib/sort/vqsort.h>

namespace gsort::bench {

void vqsort(std::span<std::uint32_t> keys) {
  hwy::Sorter()(keys.data(), keys.size(), hwy::SortAscending());
}
void vqsort(std::span<std::uint64_t> keys) {
  hwy::Sorter()(keys.data(), keys.size(), hwy::SortAscending());
}

}  // namespace gsort::bench
