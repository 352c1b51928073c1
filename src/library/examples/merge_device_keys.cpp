#include "example.hpp"

int main() {
  const float* const a = array_of<float>({6, 4, -1});
  const float* const b = array_of<float>({4, 2});
  float* const merged = array_of<float>({0, 0, 0, 0, 0});
  const auto scratch = scratch_of(gsort::device_merge_scratch_bytes<float>(5));
  gsort::merge_device_keys(a, 3, b, 2, merged, gsort::Order::kDescending, scratch, nullptr);
  expect<float>(merged, {6, 4, 4, 2, -1});
}
