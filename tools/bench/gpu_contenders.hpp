// Shared by the contenders on the card: device memory, timing, inputs and the check of outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace gsort::bench {

// Device memory that frees itself.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  void* memory_ = nullptr;
};

// Median time of `repeats` runs after one to warm up, by events.
[[nodiscard]] float median_ms(int repeats, const std::function<void()>& queue_work);

// The shapes of input that the benchmark makes on the card.
enum class KeyShape : std::uint8_t {
  kUniform,
  kSorted,
  kReversed,
  kEqual,
  kFewDistinct,
  kSawtooth,
  kOrganPipe,
  kMaximum,
  kZipf,
  kInterleaved,
  // Floating-point numbers, as keys in their order, and times.
  kNormal,
  kExponential,
  kBothSigns,  // in [-1, 1), all equally likely
  kClusteredTimes,
  kRandomWidth
};
inline constexpr int kKeyShapes = 15;
[[nodiscard]] const char* name_of(KeyShape shape);

// Fills keys[0, count) with a shape. Queued on the default stream.
template <class Key>
void make_keys(KeyShape shape, std::uint64_t seed, Key* keys, std::uint64_t count);

// The facts for checking an output: the number of keys less than their predecessor, and an
// order-free sum of all keys.
struct KeyCheck {
  std::uint64_t descents = 0;
  std::uint64_t fingerprint = 0;
};
template <class Key>
[[nodiscard]] KeyCheck check_keys(const Key* keys, std::uint64_t count);

}  // namespace gsort::bench
