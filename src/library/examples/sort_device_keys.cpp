#include "example.hpp"

int main() {
  float* const keys = array_of<float>({2.5F, -1.0F, 7.0F});
  const gsort::DeviceScratch scratch = scratch_of(gsort::device_sort_scratch_bytes<float>(3));
  gsort::sort_device_keys(keys, keys, 3, gsort::Order::kDescending, scratch, nullptr);
  expect(keys, {7.0F, 2.5F, -1.0F});
}
