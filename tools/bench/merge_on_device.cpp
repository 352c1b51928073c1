// gsort-bench merge: two sorted halves to one, by gsort and by CUB's DeviceMerge; of keys or, if
// values are requested, of pairs.
#include "bench/device_bench.hpp"
#include "bench/pairs_bench.hpp"
#include "bench/subcommands.hpp"
#include "bench/titles.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/records/device_pairs.hpp"

namespace gsort::bench {
namespace {

template <class Key>
void bench_merge_of_keys(const Request& request, const GenSpec& spec, Report& report) {
  BenchInput<Key> input{spec.format, spec.distribution, spec.count};
  input.slices = 2;
  DeviceBench<Key> bench(request, input);
  const auto& counts = bench.slice_counts();
  for_each_cub([&]<class Cub>(Cub) {
    bench.add(cub_contender<Cub>("merge"), [&](unsigned set) {
      const Key* const a = bench.ordered(set);
      cub_merge<Cub>(a, counts[0], a + counts[0], counts[1], bench.output(), bench.cub_scratch());
    });
  });
  bench.add("gsort", [&](unsigned set) {
    gpu::merge_slices<Key>({.input = bench.ordered(set),
                            .slice_counts = counts.data(),
                            .slice_count = 2,
                            .output = bench.output(),
                            .scratch = {bench.scratch(), bench.scratch_bytes()}});
  });
  report.add(group_of("merge of 2 halves of", spec.format.type, spec.distribution, spec.count),
             bench.results());
}

template <class Key, class Value>
void merge_pairs_by_gsort(const CubPairs<Key, Value>& pairs, CubScratch scratch) {
  const std::uint64_t half = pairs.count / 2;
  gpu::merge_pair_arrays<Key, Value>({.a = {pairs.keys_in, pairs.values_in},
                                      .a_count = half,
                                      .b = {pairs.keys_in + half, pairs.values_in + half},
                                      .b_count = pairs.count - half,
                                      .output = {pairs.keys_out, pairs.values_out},
                                      .scratch = {scratch.memory, scratch.bytes}});
}

template <class Key, class Value>
void bench_merge_of_pairs(const Request& request, const GenSpec& spec, KeyType values,
                          Report& report) {
  PairsBench<Key, Value> bench(request, {.spec = spec, .slices = 2});
  for_each_cub([&]<class Cub>(Cub) {
    bench.add(cub_contender<Cub>("merge of pairs"), cub_merge_pairs<Cub, Key, Value>);
  });
  bench.add("gsort", merge_pairs_by_gsort<Key, Value>);
  report.add(group_of("merge of 2 halves of pairs, " + std::string(name_of(values)) + " values by",
                      spec.format.type, spec.distribution, spec.count),
             bench.results());
}

}  // namespace

void bench_merge(const Request& request, Report& report) {
  CopyRate copy_rate(report);
  for_each_input(
      request, {KeyType::kU32, KeyType::kU64}, {std::uint64_t{1} << 28},
      [&]<class Key>(Key, KeyType type, Distribution distribution, std::uint64_t elements) {
        const GenSpec spec{{type, false, false}, distribution, request.seed, elements};
        if (request.values.empty()) {
          copy_rate.measure(elements * sizeof(Key));
          bench_merge_of_keys<Key>(request, spec, report);
        }
        for (const KeyType values : request.values) {
          copy_rate.measure(elements * (sizeof(Key) + bytes_of(values)));
          if (values == KeyType::kU32) {
            bench_merge_of_pairs<Key, std::uint32_t>(request, spec, values, report);
          } else {
            bench_merge_of_pairs<Key, std::uint64_t>(request, spec, values, report);
          }
        }
      });
}

}  // namespace gsort::bench
