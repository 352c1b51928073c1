// Timed runs on the card. Each run takes the next of several input sets, begins with a poisoned
// output, and is verified; the time is between two events around the contender's work.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/gpu_contenders.hpp"
#include "bench/inputs.hpp"
#include "bench/report.hpp"

namespace gsort::bench {

// The number of runs, the number of input sets, and the memory that is poisoned before each run.
struct RunPlan {
  int repeat = 1;
  unsigned sets = 1;
  void* output = nullptr;
  std::uint64_t output_bytes = 0;
};

struct TimedRuns {
  Times times;
  Verdict verdict = Verdict::kNothingToVerify;
};

// One run to warm up, and `repeat` timed ones, or fewer once all took a second; a first run of more
// than a second is the only one. `queue(set)` puts the work on the default stream; `is_right(set)`
// waits for it and verifies it.
[[nodiscard]] TimedRuns time_on_device(const RunPlan& plan,
                                       const std::function<void(unsigned set)>& queue,
                                       const std::function<bool(unsigned set)>& is_right);

// Measures the rate of a device copy of this many bytes, at least 1 GiB, unless the last one was of
// this size; the report keeps it.
class CopyRate {
 public:
  explicit CopyRate(Report& report) : report_(report) {}
  void measure(std::uint64_t bytes);

 private:
  Report& report_;
  std::uint64_t bytes_ = 0;
};

// So many sets that together they are several times as large as the card's L2 cache; at least 2.
[[nodiscard]] unsigned input_sets(std::uint64_t bytes_of_one);

// One array of keys on the card.
template <class Key>
class DeviceKeys {
 public:
  explicit DeviceKeys(std::uint64_t count)
      : count_(count), memory_(std::make_unique<DeviceMemory>(count * sizeof(Key))) {}
  explicit DeviceKeys(const std::vector<Key>& keys);

  [[nodiscard]] Key* get() const { return memory_->template as<Key>(); }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t bytes() const { return count_ * sizeof(Key); }
  [[nodiscard]] std::vector<Key> values() const;  // waits for the device

 private:
  std::uint64_t count_;
  std::unique_ptr<DeviceMemory> memory_;
};

// `count` keys in equal slices; the last one takes the rest.
[[nodiscard]] std::vector<std::uint64_t> slices_of(std::uint64_t count, std::uint64_t slices);

// The beginnings of `arrays` arrays of `array_keys` keys, back to back, and the end.
template <class Offset>
[[nodiscard]] DeviceKeys<Offset> even_offsets(std::uint64_t arrays, std::uint64_t array_keys) {
  std::vector<Offset> offsets(arrays + 1);
  for (std::uint64_t i = 0; i <= arrays; ++i) offsets[i] = static_cast<Offset>(i * array_keys);
  return DeviceKeys<Offset>(offsets);
}

// Sorts each slice of `keys` by CUB's radix sort, which merges nothing. `room` has the size of
// `keys`.
template <class Key>
void sort_slices(Key* keys, const std::vector<std::uint64_t>& slice_counts, Key* room,
                 void* scratch, std::size_t scratch_bytes);

}  // namespace gsort::bench
