#include "example.hpp"

int main() {
  float* const no_keys = nullptr;
  const auto error = gsort::error_of(
      [&] { gsort::sort_device_keys(no_keys, no_keys, 3, gsort::Order::kAscending, {}, nullptr); });
  require(error && error->kind() == gsort::ErrorKind::kUsage, "an error");
  require(!gsort::error_of([] {}), "no error");
}
