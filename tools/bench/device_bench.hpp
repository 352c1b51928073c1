// DeviceBench: the contenders of one table over the same sets of keys on the card. A subcommand
// makes one for each input, adds its contenders, and hands the results to the report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "bench/cub.hpp"
#include "bench/device_check.hpp"
#include "bench/device_runs.hpp"

namespace gsort::bench {

// The data of a table that all contenders use.
template <class Key>
struct BenchInput {
  KeyFormat format;
  Distribution distribution = Distribution::kUniform;
  std::uint64_t elements = 0;
  std::uint64_t array_keys = 0;  // the keys of each sorted array; = elements unless a batch
  std::uint64_t slices = 1;      // the number of sorted slices of the input
};

template <class Key>
class DeviceBench {
 public:
  // Makes the input sets: ordered keys, which all contenders understand, and, unless they come in
  // sorted slices, raw keys for those that map keys themselves.
  DeviceBench(const Request& request, const BenchInput<Key>& input);

  // Times and verifies one contender. `queue(set)` reads ordered(set), writes output(). The
  // output is read through `output_map`: the identity for ordered keys, map() for raw ones.
  void add(const Contender& contender, const std::function<void(unsigned set)>& queue,
           KeyMap<Key> output_map = {});

  [[nodiscard]] const Key* raw(unsigned set) const {
    return raw_.empty() ? ordered(set) : raw_[set].get();
  }
  [[nodiscard]] const Key* ordered(unsigned set) const { return ordered_[set].get(); }
  [[nodiscard]] Key* output() const { return output_.get(); }
  [[nodiscard]] void* scratch() const { return scratch_.as<void>(); }
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_bytes_; }
  [[nodiscard]] CubScratch cub_scratch() const { return {scratch(), scratch_bytes_}; }
  [[nodiscard]] std::uint64_t elements() const { return input_.elements; }
  [[nodiscard]] KeyMap<Key> map() const { return KeyMap<Key>::of(input_.format); }
  [[nodiscard]] const std::vector<std::uint64_t>& slice_counts() const { return slice_counts_; }
  [[nodiscard]] const std::vector<Result>& results() const { return results_; }

 private:
  const Request& request_;
  BenchInput<Key> input_;
  std::size_t scratch_bytes_;
  DeviceMemory scratch_;
  std::vector<DeviceKeys<Key>> raw_;
  std::vector<DeviceKeys<Key>> ordered_;
  std::vector<DeviceCheck> expected_;
  DeviceKeys<Key> output_;
  std::vector<std::uint64_t> slice_counts_;
  std::vector<Result> results_;
};

}  // namespace gsort::bench
