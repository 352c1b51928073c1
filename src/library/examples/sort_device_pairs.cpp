#include "example.hpp"

int main() {
  std::int32_t* const keys = array_of<std::int32_t>({2, 1, 2, 1});
  float* const values = array_of<float>({0.1F, 0.2F, 0.3F, 0.4F});
  const auto scratch = scratch_of(gsort::device_pairs_scratch_bytes<std::int32_t, float>(4));
  gsort::sort_device_pairs(keys, keys, values, values, 4, gsort::Order::kAscending, scratch,
                           nullptr);
  expect<std::int32_t>(keys, {1, 1, 2, 2});
  expect(values, {0.2F, 0.4F, 0.1F, 0.3F});
}
