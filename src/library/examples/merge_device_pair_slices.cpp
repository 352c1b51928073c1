#include "example.hpp"

int main() {
  const std::uint64_t counts[] = {1, 2, 1};  // in host memory
  const float* const keys = array_of<float>({3, 1, 3, 2});
  const std::uint32_t* const values = array_of<std::uint32_t>({30, 10, 31, 20});
  float* const merged = array_of<float>({0, 0, 0, 0});
  std::uint32_t* const moved = array_of<std::uint32_t>({0, 0, 0, 0});
  const auto bytes = gsort::device_pair_slices_scratch_bytes<float, std::uint32_t>(4, 3);
  const gsort::DeviceScratch scratch = scratch_of(bytes);
  gsort::merge_device_pair_slices(keys, values, counts, 3, merged, moved, gsort::Order::kAscending,
                                  scratch, nullptr);
  expect<float>(merged, {1, 2, 3, 3});
  expect(moved, {10U, 20U, 30U, 31U});
}
