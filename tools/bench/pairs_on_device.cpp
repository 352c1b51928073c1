// gsort-bench pairs: u32 keys with u32 values, u64 keys with u32 and with u64 values, sorted
// stably. The values are the pairs' positions, so the output shows whether equal keys kept their
// order. It measures both sorts of pairs: by merging, and by distribution.
#include "bench/pairs_bench.hpp"
#include "bench/subcommands.hpp"
#include "bench/titles.hpp"
#include "gpu/distribute/device_pair_distribute.hpp"
#include "gpu/records/device_pairs.hpp"

namespace gsort::bench {
namespace {

template <class Key, class Value>
void sort_by_gsort(const CubPairs<Key, Value>& pairs, CubScratch scratch) {
  gpu::sort_pairs<Key, Value>({.input = {pairs.keys_in, pairs.values_in},
                               .output = {pairs.keys_out, pairs.values_out},
                               .count = pairs.count,
                               .scratch = {scratch.memory, scratch.bytes}});
}

// For benchmarks: inputs that are too small to gain from it are distributed, too.
constexpr std::uint64_t kLeastPairs = std::uint64_t{1} << 20;

template <class Key, class Value>
void sort_by_distribution(const CubPairs<Key, Value>& pairs, CubScratch scratch) {
  gpu::sort_many_pairs<Key, Value>({.input = {pairs.keys_in, pairs.values_in},
                                    .output = {pairs.keys_out, pairs.values_out},
                                    .count = pairs.count,
                                    .scratch = {scratch.memory, scratch.bytes}},
                                   {.least_keys = kLeastPairs});
}

template <class Key, class Value>
void bench_pairs_of(const Request& request, const GenSpec& spec, CopyRate& copy_rate,
                    Report& report) {
  copy_rate.measure(spec.count * (sizeof(Key) + sizeof(Value)));
  PairsBench<Key, Value> bench(request,
                               {.spec = spec,
                                .scratch_bytes = gpu::sort_many_pairs_scratch_bytes<Key, Value>(
                                    spec.count, {.least_keys = kLeastPairs})});
  for_each_cub_and_count(spec.count, [&]<class Cub, class Count>(Cub, Count) {
    bench.add(cub_contender<Cub, Count>("radix sort of pairs"),
              cub_radix_sort_pairs<Cub, Count, Key, Value>);
    bench.add(cub_contender<Cub, Count>("merge sort of pairs"),
              cub_merge_sort_pairs<Cub, Count, Key, Value>);
  });
  bench.add("gsort", sort_by_gsort<Key, Value>);
  bench.add("distribute", sort_by_distribution<Key, Value>);
  const std::string values = sizeof(Value) == 4 ? "u32" : "u64";
  report.add(group_of("stable sort of " + values + " values by", spec.format.type,
                      spec.distribution, spec.count),
             bench.results());
}

}  // namespace

void bench_pairs(const Request& request, Report& report) {
  CopyRate copy_rate(report);
  for_each_input(request, {KeyType::kU32, KeyType::kU64}, {std::uint64_t{1} << 28},
                 [&]<class Key>(Key, KeyType type, Distribution distribution, std::uint64_t count) {
                   const GenSpec spec{{type, false, false}, distribution, request.seed, count};
                   bench_pairs_of<Key, std::uint32_t>(request, spec, copy_rate, report);
                   if constexpr (sizeof(Key) == 8)
                     bench_pairs_of<Key, std::uint64_t>(request, spec, copy_rate, report);
                 });
}

}  // namespace gsort::bench
