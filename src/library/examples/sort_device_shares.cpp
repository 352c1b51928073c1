#include "example.hpp"

int main() {
  float* const first = array_of<float>({7, 3});
  float* const second = array_of<float>({5, 1, 2});
  const std::size_t bytes = gsort::device_share_scratch_bytes<float>(3, 2);
  const gsort::DeviceShare<float> shares[] = {{0, first, 2, scratch_of(bytes)},
                                              {0, second, 3, scratch_of(bytes)}};
  gsort::sort_device_shares<float>(shares);
  expect(first, {1.0F, 2.0F});
  expect(second, {3.0F, 5.0F, 7.0F});
}
