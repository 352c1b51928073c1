#include "example.hpp"

int main() {
  void* pinned = nullptr;
  require(cudaMallocHost(&pinned, 4 * sizeof(double)) == cudaSuccess, "cudaMallocHost");
  auto* const keys = static_cast<double*>(pinned);
  std::copy_n(std::initializer_list<double>{0.5, -2.0, 8.0, 0.25}.begin(), 4, keys);
  const gsort::DeviceScratch scratch = scratch_of(gsort::host_sort_scratch_bytes<double>(4));
  gsort::sort_host_keys(keys, keys, 4, gsort::Order::kAscending, scratch, nullptr);
  expect(keys, {-2.0, 0.25, 0.5, 8.0});
}
