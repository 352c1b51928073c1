#include "example.hpp"

int main() {
  float keys[] = {0.5F, 2.5F, 0.5F, 1.5F};
  std::uint32_t values[] = {7, 8, 9, 10};
  const std::size_t bytes = gsort::host_pairs_scratch_bytes<float, std::uint32_t>(4, 2);
  const gsort::HostSortDevice devices[] = {{0, scratch_of(bytes)}, {0, scratch_of(bytes)}};
  gsort::sort_host_pairs(keys, keys, values, values, 4, gsort::Order::kAscending, devices);
  expect(keys, {0.5F, 0.5F, 1.5F, 2.5F});
  expect(values, {7U, 9U, 10U, 8U});
}
