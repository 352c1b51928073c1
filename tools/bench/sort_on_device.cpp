// gsort-bench sort, on the card: sort_keys beside CUB's radix and merge sort. CUB gets ordered
// keys; ours gets raw ones, and maps them in its first load and its last store.
#include "bench/device_bench.hpp"
#include "bench/subcommands.hpp"
#include "bench/titles.hpp"
#include "gpu/device_sort.hpp"

namespace gsort::bench {

void bench_device_sort(const Request& request, Report& report) {
  measure_copy_rate(report);
  for_each_input(
      request, {KeyType::kU32, KeyType::kU64}, {std::uint64_t{1} << 28},
      [&]<class Key>(Key, KeyType type, Distribution distribution, std::uint64_t elements) {
        DeviceBench<Key> bench(request, {{type, false, false}, distribution, elements});
        bench.add("cub radix sort", true, [&](unsigned set) {
          cub_radix_sort<Key>(bench.ordered(set), bench.output(), elements, bench.scratch(),
                              bench.scratch_bytes());
        });
        bench.add("cub merge sort", true, [&](unsigned set) {
          cub_merge_sort<Key>(bench.ordered(set), bench.output(), elements, bench.scratch(),
                              bench.scratch_bytes());
        });
        bench.add(
            "gsort", false,
            [&](unsigned set) {
              gpu::sort_keys<Key>(bench.raw(set), bench.output(), elements, bench.map(),
                                  bench.map(), bench.scratch(), bench.scratch_bytes(), nullptr);
            },
            bench.map());
        report.add(group_of("sort of", type, distribution, elements), bench.results());
      });
}

}  // namespace gsort::bench
