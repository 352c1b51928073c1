// gsort-bench batch: N arrays of d u32 keys each, N * d about the elements asked for, by our sort
// of a batch, told d or told offsets, and by CUB's segmented sorts.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "bench/cub.hpp"
#include "bench/device_bench.hpp"
#include "bench/subcommands.hpp"
#include "bench/titles.hpp"
#include "gpu/segmented/device_batch.hpp"

namespace gsort::bench {
namespace {

// Powers of four, and lengths that fill neither rows nor tiles.
constexpr std::array<std::uint64_t, 20> kArrayKeys = {
    2,    3,    4,    7,     16,    33,    64,     100,     256,     1000,
    1024, 4096, 5000, 10000, 16384, 65536, 262144, 1 << 20, 1 << 22, 1 << 24};

template <class Offset>
void add_cub(DeviceBench<std::uint32_t>& bench, std::uint64_t arrays,
             const DeviceKeys<Offset>& offsets, CubScratch scratch) {
  const auto input = [&](unsigned set) {
    return CubArrays<Offset>{bench.ordered(set), bench.output(), bench.elements(), arrays,
                             offsets.get()};
  };
  for_each_cub([&]<class Cub>(Cub) {
    bench.add(cub_contender<Cub, Offset>("segmented sort"),
              [&](unsigned set) { cub_segmented_sort<Cub>(input(set), scratch); });
    bench.add(cub_contender<Cub, Offset>("segmented radix sort"),
              [&](unsigned set) { cub_segmented_radix_sort<Cub>(input(set), scratch); });
  });
}

void bench_arrays(const Request& request, KeyType type, Distribution distribution,
                  std::uint64_t elements, std::uint64_t array_keys, Report& report) {
  const std::uint64_t arrays = std::max<std::uint64_t>(elements / array_keys, 1);
  const std::uint64_t total = arrays * array_keys;
  BenchInput<std::uint32_t> input{{type, false, false}, distribution, total};
  input.array_keys = array_keys;
  DeviceBench<std::uint32_t> bench(request, input);
  const auto offsets = even_offsets<std::uint64_t>(arrays, array_keys);
  // CUB's segmented sort also keeps lists of segments by size.
  const std::size_t cub_bytes = cub_scratch_bytes(4 * total) + 16 * arrays;
  const std::size_t batch_bytes = gpu::sort_batch_scratch_bytes<std::uint32_t>(arrays, array_keys);
  const std::size_t segmented_bytes =
      std::max(gpu::sort_segmented_batch_scratch_bytes<std::uint32_t>(arrays, total),
               gpu::sort_segmented_batch_scratch_bytes<std::uint32_t>(arrays, total, array_keys));
  const DeviceMemory scratch(std::max({cub_bytes, batch_bytes, segmented_bytes}));
  const CubScratch cub_scratch{scratch.as<void>(), cub_bytes};
  bench.add("gsort", [&](unsigned set) {
    gpu::sort_batch<std::uint32_t>({.input = bench.ordered(set),
                                    .output = bench.output(),
                                    .array_count = arrays,
                                    .array_keys = array_keys,
                                    .scratch = {scratch.as<void>(), batch_bytes}});
  });
  const auto add_segmented = [&](const char* name, std::uint64_t longest) {
    bench.add(name, [&, longest](unsigned set) {
      gpu::sort_segmented_batch<std::uint32_t>({.input = bench.ordered(set),
                                                .output = bench.output(),
                                                .offsets = offsets.get(),
                                                .array_count = arrays,
                                                .count = total,
                                                .longest = longest,
                                                .scratch = {scratch.as<void>(), segmented_bytes}});
    });
  };
  add_segmented("gsort, by offsets", gpu::kUnknownLongest);
  add_segmented("gsort, by offsets, longest known", array_keys);
  if (total < std::uint64_t{1} << 31) {
    add_cub(bench, arrays, even_offsets<std::uint32_t>(arrays, array_keys), cub_scratch);
  }
  add_cub(bench, arrays, offsets, cub_scratch);
  Group group = group_of(
      "sort of " + format_count(arrays) + " arrays of " + format_count(array_keys) + ", in all",
      type, distribution, total);
  group.parameter = "array_keys";
  group.parameter_value = array_keys;
  report.add(group, bench.results());
}

}  // namespace

void bench_batch(const Request& request, Report& report) {
  CopyRate copy_rate(report);
  const std::vector<std::uint64_t> all_array_keys =
      request.array_keys.empty() ? std::vector<std::uint64_t>(kArrayKeys.begin(), kArrayKeys.end())
                                 : request.array_keys;
  for (const Distribution distribution : request.distributions) {
    for (const std::uint64_t elements : elements_or(request, {std::uint64_t{1} << 28})) {
      copy_rate.measure(elements * sizeof(std::uint32_t));
      for (const std::uint64_t array_keys : all_array_keys) {
        bench_arrays(request, KeyType::kU32, distribution, elements,
                     std::max<std::uint64_t>(array_keys, 1), report);
      }
    }
  }
}

}  // namespace gsort::bench
