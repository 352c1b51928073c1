#include "example.hpp"

int main() {
  float* const keys = array_of<float>({3, 1, 2, 9, 8, 7, 6});
  const std::uint64_t* const offsets = array_of<std::uint64_t>({0, 3, 3, 7});
  const gsort::DeviceSegments lists{.array_count = 3, .offsets = offsets, .count = 7};
  const auto scratch = scratch_of(gsort::device_segments_scratch_bytes<float>(lists));
  gsort::sort_device_segments(keys, keys, lists, gsort::Order::kAscending, scratch, nullptr);
  expect<float>(keys, {1, 2, 3, 6, 7, 8, 9});
}
