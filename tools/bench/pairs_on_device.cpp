// gsort-bench pairs: u32 keys with u32 values, u64 keys with u32 and with u64 values, sorted
// stably. The values are the pairs' positions, so the output shows whether equal keys kept their
// order.
#include <numeric>
#include <vector>

#include "bench/cub_batch.hpp"
#include "bench/device_check.hpp"
#include "bench/device_runs.hpp"
#include "bench/subcommands.hpp"
#include "bench/titles.hpp"
#include "gpu/cuda_check.hpp"
#include "gpu/device_pairs.hpp"

namespace gsort::bench {
namespace {

template <class Key, class Value>
class PairsBench {
 public:
  using Pairs = CubPairs<Key, Value>;

  PairsBench(const Request& request, const GenSpec& spec)
      : request_(request),
        count_(spec.count),
        out_bytes_(spec.count * (sizeof(Key) + sizeof(Value))),
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
      expected_.push_back(check_pairs<Key, Value>(keys_[set].get(), values_->get(), count_, {}));
    }
  }

  template <class Sort>
  void add(const std::string& name, bool is_cub, const Sort& sort) {
    const RunPlan plan{request_.repeat, static_cast<unsigned>(keys_.size()), out_.as<void>(),
                       out_bytes_};
    const auto queue = [&](unsigned set) {
      sort(Pairs{keys_[set].get(), values_->get(), keys_out(), values_out(), count_},
           scratch_.as<void>(), scratch_bytes_);
    };
    const TimedRuns runs = time_on_device(plan, queue, [&](unsigned set) {
      const auto found = check_pairs<Key, Value>(keys_out(), values_out(), count_, {});
      return found.descents == 0 && found.sum == expected_[set].sum;
    });
    results_.push_back({name, runs.times, count_, 2 * out_bytes_, runs.verdict, is_cub, ""});
  }

  [[nodiscard]] const std::vector<Result>& results() const { return results_; }

 private:
  [[nodiscard]] Key* keys_out() const { return out_.as<Key>(); }
  [[nodiscard]] Value* values_out() const {
    return reinterpret_cast<Value*>(out_.as<Key>() + count_);
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

template <class Key, class Value>
void sort_by_gsort(const CubPairs<Key, Value>& pairs, void* scratch, std::size_t scratch_bytes) {
  gpu::sort_pairs<Key, Value>({pairs.keys_in, pairs.values_in}, {pairs.keys_out, pairs.values_out},
                              pairs.count, {}, {}, scratch, scratch_bytes, nullptr);
}

template <class Key, class Value>
void bench_pairs_of(const Request& request, const GenSpec& spec, Report& report) {
  PairsBench<Key, Value> bench(request, spec);
  bench.add("cub radix sort of pairs", true, cub_radix_sort_pairs<Key, Value>);
  bench.add("cub merge sort of pairs", true, cub_merge_sort_pairs<Key, Value>);
  bench.add("gsort", false, sort_by_gsort<Key, Value>);
  const std::string values = sizeof(Value) == 4 ? "u32" : "u64";
  report.add(group_of("stable sort of " + values + " values by", spec.format.type,
                      spec.distribution, spec.count),
             bench.results());
}

}  // namespace

void bench_pairs(const Request& request, Report& report) {
  measure_copy_rate(report);
  for_each_input(request, {KeyType::kU32, KeyType::kU64}, {std::uint64_t{1} << 28},
                 [&]<class Key>(Key, KeyType type, Distribution distribution, std::uint64_t count) {
                   const GenSpec spec{{type, false, false}, distribution, request.seed, count};
                   bench_pairs_of<Key, std::uint32_t>(request, spec, report);
                   if constexpr (sizeof(Key) == 8)
                     bench_pairs_of<Key, std::uint64_t>(request, spec, report);
                 });
}

}  // namespace gsort::bench
