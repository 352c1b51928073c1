// Common to tests of sorts over several devices: memory on each of them, keys, and calls that
// fail. Where there are fewer devices than shares, a device has several.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "base/device_error.hpp"
#include "element/key.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/shares/host_shares.hpp"

namespace gsort::gpu {

inline int device_of(std::size_t share) {
  int count = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  return static_cast<int>(share % static_cast<std::size_t>(count));
}

// Memory on one device.
class OnDevice {
 public:
  OnDevice(int ordinal, std::size_t bytes) : ordinal_(ordinal) {
    use_device(ordinal);
    if (cudaMalloc(&memory_, std::max<std::size_t>(bytes, 1)) != cudaSuccess) {
      throw std::runtime_error("no device memory");
    }
  }
  OnDevice(OnDevice&& other) noexcept
      : ordinal_(other.ordinal_), memory_(std::exchange(other.memory_, nullptr)) {}
  OnDevice& operator=(OnDevice&&) = delete;
  ~OnDevice() {
    return_to_device(ordinal_);
    if (memory_ != nullptr) static_cast<void>(cudaFree(memory_));
  }
  void put(const void* from, std::size_t bytes) const {
    use_device(ordinal_);
    ASSERT_EQ(cudaMemcpy(memory_, from, bytes, cudaMemcpyHostToDevice), cudaSuccess);
    // The last bytes of memory that is not pinned may still be on the way.
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  void get(void* to, std::size_t bytes) const {
    use_device(ordinal_);
    ASSERT_EQ(cudaMemcpy(to, memory_, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  }
  [[nodiscard]] void* get() const { return memory_; }
  [[nodiscard]] int ordinal() const { return ordinal_; }

 private:
  int ordinal_;
  void* memory_ = nullptr;
};

// Scratch memory on one device, and a guard behind it.
class GuardedScratch {
 public:
  GuardedScratch(int ordinal, std::size_t bytes)
      : memory_(ordinal, bytes + kGuardBytes), bytes_(bytes) {
    const std::vector<std::byte> filled(bytes + kGuardBytes, kGuard);
    memory_.put(filled.data(), filled.size());
  }
  [[nodiscard]] SharingDevice device() const {
    return {memory_.ordinal(), {memory_.get(), bytes_}};
  }
  [[nodiscard]] bool guard_is_whole() const {
    std::vector<std::byte> all(bytes_ + kGuardBytes);
    memory_.get(all.data(), all.size());
    return std::ranges::all_of(std::span(all).subspan(bytes_),
                               [](std::byte byte) { return byte == kGuard; });
  }

 private:
  static constexpr std::size_t kGuardBytes = 4'096;
  static constexpr std::byte kGuard{0xA5};

  OnDevice memory_;
  std::size_t bytes_;
};

// Keys with this many values; each share has more of some values than of others.
template <class Key>
std::vector<Key> keys_of(std::uint64_t count, std::uint64_t values, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t value = values == 0 ? random() : random() % values;
    keys[i] = static_cast<Key>(value + (values > 1 ? i * values / (2 * count + 1) : 0));
  }
  return keys;
}

template <class Key>
KeyMap<Key> signed_descending() {
  return KeyMap<Key>::of(
      {sizeof(Key) == 4 ? KeyType::kI32 : KeyType::kI64, /*descending=*/true, false});
}

// Floats in numeric order; equal ones are one number.
template <class Key>
KeyMap<Key> float_classes(bool descending) {
  return KeyMap<Key>::classes_of(
      {.type = sizeof(Key) == 4 ? KeyType::kF32 : KeyType::kF64, .descending = descending});
}

// Floats, half of them zeros and NaN of both signs.
template <class Key>
std::vector<Key> float_keys_of(std::uint64_t count, std::uint64_t seed) {
  constexpr Key kSign = KeyMap<Key>::kSignBit;
  const Key quiet_nan =
      float_classes<Key>(false).to_raw(float_classes<Key>(false).to_ordered(~Key{0}));
  const Key special[] = {0, 0, kSign, quiet_nan, quiet_nan | kSign, ~Key{0}, kSign - 1};
  std::mt19937_64 random(seed);
  std::vector<Key> keys(count);
  for (Key& key : keys) {
    key = random() % 2 == 0 ? static_cast<Key>(random()) : special[random() % std::size(special)];
  }
  return keys;
}

inline const std::vector<std::vector<std::uint64_t>> kCounts = {
    {1'000},
    {3'000, 2'000},
    {1, 4'999},
    {0, 2'000, 0},
    {700, 900, 1'100, 0},
    {64, 65, 63, 1'000, 1},
    {2'000, 1, 2'000, 5, 1'000, 0, 300, 700, 64},
};

inline std::uint64_t sum_of(const std::vector<std::uint64_t>& counts) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) sum += count;
  return sum;
}

// Calls of every kind fail once, on each of three devices in turn: the first ones and then with
// growing strides, or every call if GSORT_EVERY_FAULT is set. Sort: makes a call of the
// sort on memory that is ready; the call returns whether the keys are in order.
template <class Sort>
void expect_device_errors(const Sort& sort) {
  const std::uint64_t growth = std::getenv("GSORT_EVERY_FAULT") == nullptr ? 4 : 0;
  int met = 0;
  for (std::size_t failing = 0; failing < 3; ++failing) {
    const int ordinal = device_of(failing);
    for (std::size_t kind = 0; kind < kCudaCallKinds; ++kind) {
      bool hit = true;
      for (std::uint64_t nth = 1; hit; nth += 1 + (growth > 0 ? nth / growth : 0)) {
        const auto call = sort();
        inject_cuda_fault(
            {static_cast<CudaCall>(kind), nth, cudaErrorLaunchFailure, false, ordinal});
        bool sorted = false;
        try {
          sorted = call();
        } catch (const DeviceError& error) {
          EXPECT_EQ(error.ordinal(), ordinal);
        }
        hit = cuda_fault_was_met();
        clear_cuda_fault();
        met += hit ? 1 : 0;
        EXPECT_EQ(sorted, !hit) << "kind " << kind << ", call " << nth;
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GT(met, 30);
}

}  // namespace gsort::gpu
