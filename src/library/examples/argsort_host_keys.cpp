#include "example.hpp"

int main() {
  float keys[] = {0.5F, 2.5F, 0.5F, 1.5F};
  std::int64_t order[4];
  const std::size_t bytes = gsort::host_pairs_scratch_bytes<float, std::int64_t>(4, 2);
  const gsort::HostSortDevice devices[] = {{0, scratch_of(bytes)}, {0, scratch_of(bytes)}};
  gsort::argsort_host_keys(keys, order, 4, gsort::Order::kDescending, devices);
  expect<std::int64_t>(order, {1, 3, 0, 2});
}
