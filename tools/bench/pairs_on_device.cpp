// gsort-bench pairs: a u32 key with a u32 value, sorted stably. The values are the pairs'
// positions, so the output shows whether equal keys kept their order.
#include <numeric>
#include <vector>

#include "bench/cub_batch.hpp"
#include "bench/device_check.hpp"
#include "bench/device_runs.hpp"
#include "bench/subcommands.hpp"
#include "bench/titles.hpp"
#include "gpu/cuda_check.hpp"

namespace gsort::bench {
namespace {

using Keys = DeviceKeys<std::uint32_t>;

class PairsBench {
 public:
  PairsBench(const Request& request, const GenSpec& spec)
      : request_(request),
        count_(spec.count),
        out_(2 * spec.count),
        scratch_bytes_(cub_scratch_bytes(8 * spec.count)),
        scratch_(scratch_bytes_) {
    std::vector<std::uint32_t> positions(count_);
    std::iota(positions.begin(), positions.end(), 0U);
    values_ = std::make_unique<Keys>(positions);
    for (unsigned set = 0; set < input_sets(8 * count_); ++set) {
      GenSpec fresh = spec;
      fresh.seed += set;
      keys_.emplace_back(make_ordered_keys<std::uint32_t>(fresh, request.threads));
      expected_.push_back(check_pairs<std::uint32_t>(keys_[set].get(), values_->get(), count_, {}));
    }
  }

  template <class Sort>
  void add(const std::string& name, bool is_cub, const Sort& sort) {
    const RunPlan plan{request_.repeat, static_cast<unsigned>(keys_.size()), out_.get(),
                       out_.bytes()};
    const auto queue = [&](unsigned set) {
      sort(CubPairs{keys_[set].get(), values_->get(), out_.get(), out_.get() + count_, count_},
           scratch_.as<void>(), scratch_bytes_);
    };
    const TimedRuns runs = time_on_device(plan, queue, [&](unsigned set) {
      const auto found = check_pairs<std::uint32_t>(out_.get(), out_.get() + count_, count_, {});
      return found.descents == 0 && found.sum == expected_[set].sum;
    });
    results_.push_back({name, runs.times, count_, 2 * out_.bytes(), runs.verdict, is_cub, ""});
  }

  [[nodiscard]] const std::vector<Result>& results() const { return results_; }

 private:
  const Request& request_;
  std::uint64_t count_;
  Keys out_;  // keys, then values
  std::size_t scratch_bytes_;
  DeviceMemory scratch_;
  std::unique_ptr<Keys> values_;
  std::vector<Keys> keys_;
  std::vector<DeviceCheck> expected_;
  std::vector<Result> results_;
};

}  // namespace

void bench_pairs(const Request& request, Report& report) {
  measure_copy_rate(report);
  report.say("gsort's engine has no device sort of pairs yet: CUB's contenders alone");
  for (const Distribution distribution : request.distributions) {
    for (const std::uint64_t count : elements_or(request, {std::uint64_t{1} << 28})) {
      const GenSpec spec{{KeyType::kU32, false, false}, distribution, request.seed, count};
      PairsBench bench(request, spec);
      bench.add("cub radix sort of pairs", true, cub_radix_sort_pairs);
      bench.add("cub merge sort of pairs", true, cub_merge_sort_pairs);
      report.add(group_of("stable sort of u32 values by", KeyType::kU32, distribution, count),
                 bench.results());
    }
  }
}

}  // namespace gsort::bench
