#include "example.hpp"

int main() {
  float scores[] = {0.5F, 0.9F, 0.5F, 0.1F, 0.2F, 0.3F};
  std::uint32_t ids[] = {10, 11, 12, 20, 21, 22};
  const gsort::HostSegments rows{.array_count = 2, .array_keys = 3};
  const std::size_t bytes = gsort::host_segment_pairs_scratch_bytes<float, std::uint32_t>(rows, 2);
  const gsort::HostSortDevice devices[] = {{0, scratch_of(bytes)}, {0, scratch_of(bytes)}};
  gsort::sort_host_segment_pairs(scores, scores, ids, ids, rows, gsort::Order::kDescending,
                                 devices);
  expect(scores, {0.9F, 0.5F, 0.5F, 0.3F, 0.2F, 0.1F});
  expect(ids, {11U, 10U, 12U, 22U, 21U, 20U});
}
