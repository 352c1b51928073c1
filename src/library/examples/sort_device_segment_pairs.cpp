#include "example.hpp"

int main() {
  const float* const scores = array_of<float>({0.5F, 0.9F, 0.5F, 0.1F, 0.2F, 0.3F});
  const std::uint32_t* const ids = array_of<std::uint32_t>({10, 11, 12, 20, 21, 22});
  float* const best = array_of<float>({0, 0, 0, 0, 0, 0});
  std::uint32_t* const best_ids = array_of<std::uint32_t>({0, 0, 0, 0, 0, 0});
  const gsort::DeviceSegments rows{.array_count = 2, .array_keys = 3};
  const auto scratch = scratch_of(gsort::device_segment_pairs_scratch_bytes<float>(rows));
  gsort::sort_device_segment_pairs(scores, best, ids, best_ids, rows, gsort::Order::kDescending,
                                   scratch, nullptr);
  expect(best, {0.9F, 0.5F, 0.5F, 0.3F, 0.2F, 0.1F});
  expect(best_ids, {11U, 10U, 12U, 22U, 21U, 20U});
}
