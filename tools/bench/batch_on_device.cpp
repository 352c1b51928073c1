// gsort-bench batch: N arrays of d u32 keys each, N * d about the elements asked for, by CUB's
// segmented sorts, and by our sort of one array called N times where N is small enough for that
// to make sense.
#include <string>
#include <vector>

#include "bench/cub_batch.hpp"
#include "bench/device_bench.hpp"
#include "bench/subcommands.hpp"
#include "bench/titles.hpp"
#include "gpu/device_sort.hpp"

namespace gsort::bench {
namespace {

constexpr std::uint64_t kMostCalls = 4096;

void bench_arrays(const Request& request, KeyType type, Distribution distribution,
                  std::uint64_t elements, std::uint64_t array_keys, Report& report) {
  const std::uint64_t arrays = std::max<std::uint64_t>(elements / array_keys, 1);
  const std::uint64_t total = arrays * array_keys;
  BenchInput<std::uint32_t> input{{type, false, false}, distribution, total};
  input.array_keys = array_keys;
  DeviceBench<std::uint32_t> bench(request, input);
  std::vector<std::uint64_t> host_offsets(arrays + 1);
  for (std::uint64_t i = 0; i <= arrays; ++i) host_offsets[i] = i * array_keys;
  const DeviceKeys<std::uint64_t> offsets(host_offsets);
  const DeviceMemory scratch(cub_scratch_bytes(4 * total));
  bench.add("cub segmented sort", true, [&](unsigned set) {
    cub_segmented_sort(bench.ordered(set), bench.output(), total, arrays, offsets.get(),
                       scratch.as<void>(), cub_scratch_bytes(4 * total));
  });
  bench.add("cub segmented radix sort", true, [&](unsigned set) {
    cub_segmented_radix_sort(bench.ordered(set), bench.output(), total, arrays, offsets.get(),
                             scratch.as<void>(), cub_scratch_bytes(4 * total));
  });
  if (arrays <= kMostCalls) {
    bench.add("gsort, array by array", false, [&](unsigned set) {
      for (std::uint64_t begin = 0; begin < total; begin += array_keys) {
        gpu::sort_keys<std::uint32_t>(bench.ordered(set) + begin, bench.output() + begin,
                                      array_keys, {}, {}, bench.scratch(), bench.scratch_bytes(),
                                      nullptr);
      }
    });
  }
  Group group = group_of(
      "sort of " + format_count(arrays) + " arrays of " + format_count(array_keys) + ", in all",
      type, distribution, total);
  group.parameter = "array_keys";
  group.parameter_value = array_keys;
  report.add(group, bench.results());
}

}  // namespace

void bench_batch(const Request& request, Report& report) {
  measure_copy_rate(report);
  report.say(
      "gsort's engine has no sort of batches yet: CUB's contenders, and ours array by array");
  const std::vector<std::uint64_t> all_array_keys =
      request.array_keys.empty() ? std::vector<std::uint64_t>{64, 256, 1024, 4096, 16384, 65536}
                                 : request.array_keys;
  for (const Distribution distribution : request.distributions) {
    for (const std::uint64_t elements : elements_or(request, {std::uint64_t{1} << 28})) {
      for (const std::uint64_t array_keys : all_array_keys) {
        bench_arrays(request, KeyType::kU32, distribution, elements,
                     std::max<std::uint64_t>(array_keys, 1), report);
      }
    }
  }
}

}  // namespace gsort::bench
