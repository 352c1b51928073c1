#include "example.hpp"

int main() {
  const std::uint64_t* const a = array_of<std::uint64_t>({1, 5});
  const std::uint64_t* const b = array_of<std::uint64_t>({5, 8});
  const double* const a_values = array_of<double>({0.1, 0.5});
  const double* const b_values = array_of<double>({0.6, 0.8});
  std::uint64_t* const keys = array_of<std::uint64_t>({0, 0, 0, 0});
  double* const values = array_of<double>({0, 0, 0, 0});
  const auto bytes = gsort::device_pair_merge_scratch_bytes<std::uint64_t, double>(4);
  const gsort::DeviceScratch scratch = scratch_of(bytes);
  gsort::merge_device_pairs(a, a_values, 2, b, b_values, 2, keys, values, gsort::Order::kAscending,
                            scratch, nullptr);
  expect<std::uint64_t>(keys, {1, 5, 5, 8});
  expect(values, {0.1, 0.5, 0.6, 0.8});
}
