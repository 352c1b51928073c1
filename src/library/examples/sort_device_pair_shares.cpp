#include "example.hpp"

int main() {
  double* const first = array_of<double>({2, 1});
  double* const second = array_of<double>({1});
  std::int32_t* const first_ids = array_of<std::int32_t>({10, 11});
  std::int32_t* const second_ids = array_of<std::int32_t>({12});
  const std::size_t bytes = gsort::device_pair_share_scratch_bytes<double, std::int32_t>(2, 2);
  const gsort::DevicePairShare<double, std::int32_t> shares[] = {
      {0, first, first_ids, 2, scratch_of(bytes)}, {0, second, second_ids, 1, scratch_of(bytes)}};
  gsort::sort_device_pair_shares<double, std::int32_t>(shares);
  expect(first, {1.0, 1.0});
  expect(first_ids, {11, 12});
  expect(second_ids, {10});
}
