// PairsBench: what DeviceBench is for keys (device_bench.hpp), for pairs. The values are the pairs'
// positions, so the output shows whether equal keys kept their order.
#pragma once

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

template <class Key, class Value>
class PairsBench {
 public:
  using Pairs = CubPairs<Key, Value>;

  // The keys come in `slices` sorted slices, or, if it is 1, as they are.
  PairsBench(const Request& request, const GenSpec& spec, std::uint64_t slices)
      : request_(request),
        count_(spec.count),
        out_bytes_(round_up(spec.count * sizeof(Key), kAlignment) + spec.count * sizeof(Value)),
        out_(out_bytes_),
        scratch_bytes_(cub_scratch_bytes(out_bytes_)),
        scratch_(scratch_bytes_) {
    std::vector<Value> positions(count_);
    std::iota(positions.begin(), positions.end(), Value{0});
    values_ = std::make_unique<DeviceKeys<Value>>(positions);
    for (unsigned set = 0; set < input_sets(out_bytes_); ++set) {
      GenSpec fresh = spec;
      fresh.seed += set;
      keys_.emplace_back(make_ordered_keys<Key>(fresh, request.threads));
      if (slices > 1) {
        sort_slices(keys_[set].get(), slices_of(count_, slices), keys_out(), scratch_.as<void>(),
                    scratch_bytes_);
      }
      expected_.push_back(check_pairs<Key, Value>(keys_[set].get(), values_->get(), count_, {}));
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
      const auto found = check_pairs<Key, Value>(keys_out(), values_out(), count_, {});
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

  const Request& request_;
  std::uint64_t count_;
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
