#include "example.hpp"

int main() {
  const double keys[] = {0.5, 0.9, 0.1, 0.2, 0.3};
  std::int32_t order[5];
  const std::uint64_t offsets[] = {0, 2, 5};
  const gsort::HostSegments lists{.array_count = 2, .offsets = offsets};
  const std::size_t bytes = gsort::host_segment_pairs_scratch_bytes<double, std::int32_t>(lists, 2);
  const gsort::HostSortDevice devices[] = {{0, scratch_of(bytes)}, {0, scratch_of(bytes)}};
  gsort::argsort_host_segments(keys, order, lists, gsort::Order::kAscending, devices);
  expect<std::int32_t>(order, {0, 1, 0, 1, 2});
}
