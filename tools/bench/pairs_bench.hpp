// PairsBench: like DeviceBench (device_bench.hpp), for pairs. The values are the pairs' positions,
// so the output shows whether equal keys kept their order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "bench/cub.hpp"
#include "bench/device_check.hpp"
#include "bench/device_runs.hpp"

namespace gsort::bench {

// The data of a table of pairs that all contenders use.
struct PairsInput {
  GenSpec spec;
  std::uint64_t slices = 1;       // the number of sorted slices of the keys
  std::uint64_t array_keys = 0;   // the pairs of each sorted array; 0: all pairs are one array
  std::size_t scratch_bytes = 0;  // that a contender needs, if more than CUB
};

template <class Key, class Value>
class PairsBench {
 public:
  using Pairs = CubPairs<Key, Value>;

  PairsBench(const Request& request, const PairsInput& input)
      : request_(request),
        count_(input.spec.count),
        array_keys_(input.array_keys > 0 ? input.array_keys : std::max<std::uint64_t>(count_, 1)),
        out_bytes_(round_up(count_ * sizeof(Key), kAlignment) + count_ * sizeof(Value)),
        out_(out_bytes_),
        scratch_bytes_(std::max(cub_scratch_bytes(out_bytes_), input.scratch_bytes)),
        scratch_(scratch_bytes_) {
    std::vector<Value> positions(count_);
    std::iota(positions.begin(), positions.end(), Value{0});
    values_ = std::make_unique<DeviceKeys<Value>>(positions);
    for (unsigned set = 0; set < input_sets(out_bytes_); ++set) {
      GenSpec fresh = input.spec;
      fresh.seed += set;
      keys_.emplace_back(make_ordered_keys<Key>(fresh, request.threads));
      if (input.slices > 1) {
        sort_slices(keys_[set].get(), slices_of(count_, input.slices), keys_out(),
                    scratch_.as<void>(), scratch_bytes_);
      }
      expected_.push_back(check(keys_[set].get(), values_->get()));
    }
  }

  template <class Sort>
  void add(const Contender& contender, const Sort& sort) {
    const RunPlan plan{request_.repeat, static_cast<unsigned>(keys_.size()), out_.as<void>(),
                       out_bytes_};
    const auto queue = [&](unsigned set) {
      sort(Pairs{keys_[set].get(), values_->get(), keys_out(), values_out(), count_},
           CubScratch{scratch_.as<void>(), scratch_bytes_});
    };
    const TimedRuns runs = time_on_device(plan, queue, [&](unsigned set) {
      const DeviceCheck found = check(keys_out(), values_out());
      return found.descents == 0 && found.sum == expected_[set].sum;
    });
    const std::uint64_t moved = 2 * count_ * (sizeof(Key) + sizeof(Value));
    results_.push_back(
        {contender.name, runs.times, count_, moved, runs.verdict, contender.rival, ""});
  }

  [[nodiscard]] const std::vector<Result>& results() const { return results_; }

 private:
  static constexpr std::uint64_t kAlignment = 16;

  [[nodiscard]] Key* keys_out() const { return out_.as<Key>(); }
  [[nodiscard]] Value* values_out() const {
    return reinterpret_cast<Value*>(out_.as<unsigned char>() +
                                    round_up(count_ * sizeof(Key), kAlignment));
  }

  [[nodiscard]] DeviceCheck check(const Key* keys, const Value* values) const {
    return check_pairs<Key, Value>(keys, values, count_, array_keys_, {});
  }

  const Request& request_;
  std::uint64_t count_;
  std::uint64_t array_keys_;
  std::uint64_t out_bytes_;
  DeviceMemory out_;  // keys, then values
  std::size_t scratch_bytes_;
  DeviceMemory scratch_;
  std::unique_ptr<DeviceKeys<Value>> values_;
  std::vector<DeviceKeys<Key>> keys_;
  std::vector<DeviceCheck> expected_;
  std::vector<Result> results_;
};

}  // namespace gsort::bench
