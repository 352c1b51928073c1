#include "example.hpp"

int main() {
  const float* const scores = array_of<float>({0.5F, 0.9F, 0.1F, 0.2F, 0.3F});
  std::int32_t* const order = array_of<std::int32_t>({0, 0, 0, 0, 0});
  const std::uint64_t* const offsets = array_of<std::uint64_t>({0, 2, 5});
  const gsort::DeviceSegments lists{.array_count = 2, .offsets = offsets, .count = 5, .longest = 3};
  const auto scratch = scratch_of(gsort::device_segment_pairs_scratch_bytes<float>(lists));
  gsort::argsort_device_segments(scores, order, lists, gsort::Order::kDescending, scratch, nullptr);
  expect<std::int32_t>(order, {1, 0, 2, 1, 0});
}
