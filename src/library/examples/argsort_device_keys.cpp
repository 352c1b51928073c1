#include "example.hpp"

int main() {
  using gsort::Float16;
  const Float16* const keys =
      array_of<Float16>({{0x3800}, {0x4000}, {0x3800}, {0xbc00}});  // 0.5 2 0.5 -1
  std::int64_t* const order = array_of<std::int64_t>({0, 0, 0, 0});
  const auto scratch = scratch_of(gsort::device_argsort_scratch_bytes<Float16, std::int64_t>(4));
  gsort::argsort_device_keys(keys, order, 4, gsort::Order::kAscending, scratch, nullptr);
  expect<std::int64_t>(order, {3, 0, 2, 1});
}
