// gsort-bench merge: two sorted halves to one, by merge_slices and by CUB's DeviceMerge.
#include "bench/device_bench.hpp"
#include "bench/subcommands.hpp"
#include "bench/titles.hpp"
#include "gpu/device_merge.hpp"

namespace gsort::bench {

void bench_merge(const Request& request, Report& report) {
  measure_copy_rate(report);
  for_each_input_of_any_width(
      request, {KeyType::kU32, KeyType::kU64}, {std::uint64_t{1} << 28},
      [&]<class Key>(Key, KeyType type, Distribution distribution, std::uint64_t elements) {
        BenchInput<Key> input{{type, false, false}, distribution, elements};
        input.slices = 2;
        DeviceBench<Key> bench(request, input);
        const auto& counts = bench.slice_counts();
        bench.add("cub merge", true, [&](unsigned set) {
          const Key* const a = bench.ordered(set);
          cub_merge<Key>(a, counts[0], a + counts[0], counts[1], bench.output(), bench.scratch(),
                         bench.scratch_bytes());
        });
        bench.add("gsort", false, [&](unsigned set) {
          gpu::merge_slices<Key>(bench.ordered(set), counts.data(), 2, bench.output(), {},
                                 bench.scratch(), bench.scratch_bytes(), nullptr);
        });
        report.add(group_of("merge of 2 halves of", type, distribution, elements), bench.results());
      });
}

}  // namespace gsort::bench
