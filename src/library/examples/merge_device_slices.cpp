#include "example.hpp"

int main() {
  const std::uint64_t counts[] = {2, 1, 3};  // in host memory
  const std::int32_t* const slices = array_of<std::int32_t>({1, 9, 4, -7, 5, 9});
  std::int32_t* const merged = array_of<std::int32_t>({0, 0, 0, 0, 0, 0});
  const auto scratch = scratch_of(gsort::device_slices_scratch_bytes<std::int32_t>(6, 3));
  gsort::merge_device_slices(slices, counts, 3, merged, gsort::Order::kAscending, scratch, nullptr);
  expect<std::int32_t>(merged, {-7, 1, 4, 5, 9, 9});
}
