// A tier in plain memory instead of a device's: it keeps all bytes, unless a test wants otherwise.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/tier_memory.hpp"

namespace gsort::test {

class VectorTier final : public TierMemory {
 public:
  explicit VectorTier(std::uint64_t bytes) : bytes_(bytes, std::byte{0xee}) {}

  void put(std::uint64_t offset, std::span<const std::byte> bytes) override {
    fail_in_turn("copying there");
    std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  void get(std::uint64_t offset, std::span<std::byte> bytes) override {
    fail_in_turn("copying back");
    std::ranges::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset),
                        static_cast<std::ptrdiff_t>(bytes.size()), bytes.begin());
  }

  // The call after `calls` more, and all after it, throw.
  void fail_after(int calls) { calls_left_ = calls; }

  std::byte& operator[](std::size_t offset) { return bytes_[offset]; }

 private:
  void fail_in_turn(const char* operation) {
    if (calls_left_.fetch_sub(1) > 0) return;
    calls_left_ = 0;
    throw Error(ErrorKind::kDevice, operation, "the device is gone").hint("bring it back");
  }

  std::vector<std::byte> bytes_;
  std::atomic<int> calls_left_{std::numeric_limits<int>::max()};
};

}  // namespace gsort::test
