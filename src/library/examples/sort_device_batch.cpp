#include "example.hpp"

int main() {
  std::int64_t* const rows = array_of<std::int64_t>({3, 1, 2, -5, 9, 0});
  const auto scratch = scratch_of(gsort::device_batch_scratch_bytes<std::int64_t>(2, 3));
  gsort::sort_device_batch(rows, rows, 2, 3, gsort::Order::kAscending, scratch, nullptr);
  expect<std::int64_t>(rows, {1, 2, 3, -5, 0, 9});
}
