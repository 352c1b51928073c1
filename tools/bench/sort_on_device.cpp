// gsort-bench sort, on the card: sort_keys beside CUB's radix and merge sort. CUB gets ordered
// keys; ours gets raw ones, and maps them in its first load and its last store.
#include "bench/device_bench.hpp"
#include "bench/subcommands.hpp"
#include "bench/titles.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/sort/device_sort.hpp"

namespace gsort::bench {

void bench_device_sort(const Request& request, Report& report) {
  CopyRate copy_rate(report);
  for_each_input(
      request, {KeyType::kU32, KeyType::kU64}, {std::uint64_t{1} << 28},
      [&]<class Key>(Key, KeyType type, Distribution distribution, std::uint64_t elements) {
        copy_rate.measure(elements * sizeof(Key));
        DeviceBench<Key> bench(request, {{type, false, false}, distribution, elements});
        for_each_cub_and_count(elements, [&]<class Cub, class Count>(Cub, Count) {
          bench.add(cub_contender<Cub, Count>("radix sort"), [&](unsigned set) {
            cub_radix_sort<Cub, Count>(bench.ordered(set), bench.output(), elements,
                                       bench.cub_scratch());
          });
          bench.add(cub_contender<Cub, Count>("merge sort"), [&](unsigned set) {
            cub_merge_sort<Cub, Count>(bench.ordered(set), bench.output(), elements,
                                       bench.cub_scratch());
          });
        });
        bench.add(
            "gsort",
            [&](unsigned set) {
              gpu::sort_keys<Key>({.input = bench.raw(set),
                                   .output = bench.output(),
                                   .count = elements,
                                   .load_map = bench.map(),
                                   .store_map = bench.map(),
                                   .scratch = {bench.scratch(), bench.scratch_bytes()}});
            },
            bench.map());
        bench.add(
            "distribute",
            [&](unsigned set) {
              gpu::sort_keys_by_distribution<Key>(
                  {.input = bench.raw(set),
                   .output = bench.output(),
                   .count = elements,
                   .load_map = bench.map(),
                   .store_map = bench.map(),
                   .scratch = {bench.scratch(), bench.scratch_bytes()}},
                  {.least_keys = std::uint64_t{1} << 22, .most_keys = gpu::kMostDistributedKeys});
            },
            bench.map());
        report.add(group_of("sort of", type, distribution, elements), bench.results());
      });
}

}  // namespace gsort::bench
