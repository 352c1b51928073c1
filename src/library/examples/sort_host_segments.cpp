#include "example.hpp"

int main() {
  std::int64_t keys[] = {3, 1, 2, 9, 8, 7, 6};
  const std::uint64_t offsets[] = {0, 3, 3, 7};  // in host memory
  const gsort::HostSegments lists{.array_count = 3, .offsets = offsets};
  const std::size_t bytes = gsort::host_segments_scratch_bytes<std::int64_t>(lists, 2);
  const gsort::HostSortDevice devices[] = {{0, scratch_of(bytes)}, {0, scratch_of(bytes)}};
  gsort::sort_host_segments(keys, keys, lists, gsort::Order::kAscending, devices);
  expect<std::int64_t>(keys, {1, 2, 3, 6, 7, 8, 9});
}
