// gsort-bench batch: N arrays of d u32 keys each, or of d pairs if values are requested, with N * d
// close to the requested elements, by our sort of a batch, given d or offsets, and by CUB's
// segmented sorts.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "bench/cub.hpp"
#include "bench/device_bench.hpp"
#include "bench/pairs_bench.hpp"
#include "bench/subcommands.hpp"
#include "bench/titles.hpp"
#include "gpu/segmented/device_batch.hpp"
#include "gpu/segmented/device_pair_batch.hpp"

namespace gsort::bench {
namespace {

// Powers of four, and lengths that fill neither rows nor tiles.
constexpr std::array<std::uint64_t, 20> kArrayKeys = {
    2,    3,    4,    7,     16,    33,    64,     100,     256,     1000,
    1024, 4096, 5000, 10000, 16384, 65536, 262144, 1 << 20, 1 << 22, 1 << 24};

// `what` is such as " pairs, u32 values", or empty for keys.
Group group_of_arrays(const std::string& what, std::uint64_t arrays, std::uint64_t array_keys,
                      KeyType type, Distribution distribution) {
  const std::string title = "sort of " + format_count(arrays) + " arrays of " +
                            format_count(array_keys) + what + ", in all";
  Group group = group_of(title, type, distribution, arrays * array_keys);
  group.parameter = "array_keys";
  group.parameter_value = array_keys;
  return group;
}

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
  report.add(group_of_arrays("", arrays, array_keys, type, distribution), bench.results());
}

template <class Key, class Value, class Offset>
void add_cub_pairs(PairsBench<Key, Value>& bench, std::uint64_t arrays,
                   const DeviceKeys<Offset>& offsets) {
  using Pairs = CubPairs<Key, Value>;
  const CubSegments<Offset> segments{arrays, offsets.get()};
  for_each_cub([&]<class Cub>(Cub) {
    bench.add(cub_contender<Cub, Offset>("segmented sort of pairs"),
              [&](const Pairs& pairs, CubScratch scratch) {
                cub_segmented_sort_pairs<Cub>(pairs, segments, scratch);
              });
    bench.add(cub_contender<Cub, Offset>("segmented radix sort of pairs"),
              [&](const Pairs& pairs, CubScratch scratch) {
                cub_segmented_radix_sort_pairs<Cub>(pairs, segments, scratch);
              });
  });
}

template <class Key, class Value>
void add_gsort_pairs(PairsBench<Key, Value>& bench, const char* name,
                     const gpu::ArrayPlaces& arrays) {
  bench.add(name, [&](const CubPairs<Key, Value>& pairs, CubScratch scratch) {
    gpu::sort_pair_batch<Key, Value>({.keys_in = pairs.keys_in,
                                      .keys_out = pairs.keys_out,
                                      .values_in = pairs.values_in,
                                      .values_out = pairs.values_out,
                                      .arrays = arrays,
                                      .scratch = {scratch.memory, scratch.bytes}});
  });
}

template <class Key, class Value>
void bench_arrays_of_pairs(const Request& request, const GenSpec& asked, std::uint64_t array_keys,
                           Report& report) {
  const std::uint64_t arrays = std::max<std::uint64_t>(asked.count / array_keys, 1);
  GenSpec spec = asked;
  spec.count = arrays * array_keys;
  const auto offsets = even_offsets<std::uint64_t>(arrays, array_keys);
  const gpu::ArrayPlaces even{.array_count = arrays, .array_keys = array_keys};
  const gpu::ArrayPlaces any{.array_count = arrays, .offsets = offsets.get(), .count = spec.count};
  gpu::ArrayPlaces limited = any;
  limited.longest = array_keys;
  const std::size_t cub_bytes =
      cub_scratch_bytes(spec.count * (sizeof(Key) + sizeof(Value))) + 16 * arrays;
  const std::size_t scratch_bytes =
      std::max({cub_bytes, gpu::sort_pair_batch_scratch_bytes<Key>(even),
                gpu::sort_pair_batch_scratch_bytes<Key>(any),
                gpu::sort_pair_batch_scratch_bytes<Key>(limited)});
  PairsBench<Key, Value> bench(
      request, {.spec = spec, .array_keys = array_keys, .scratch_bytes = scratch_bytes});
  add_gsort_pairs(bench, "gsort", even);
  add_gsort_pairs(bench, "gsort, by offsets", any);
  add_gsort_pairs(bench, "gsort, by offsets, longest known", limited);
  if (spec.count < std::uint64_t{1} << 31) {
    add_cub_pairs(bench, arrays, even_offsets<std::uint32_t>(arrays, array_keys));
  }
  add_cub_pairs(bench, arrays, offsets);
  const std::string values = sizeof(Value) == 4 ? "u32" : "u64";
  report.add(group_of_arrays(" pairs, " + values + " values", arrays, array_keys, spec.format.type,
                             spec.distribution),
             bench.results());
}

std::vector<std::uint64_t> array_lengths(const Request& request) {
  std::vector<std::uint64_t> lengths(kArrayKeys.begin(), kArrayKeys.end());
  if (!request.array_keys.empty()) lengths = request.array_keys;
  for (std::uint64_t& length : lengths) length = std::max<std::uint64_t>(length, 1);
  return lengths;
}

void bench_batch_of_keys(const Request& request, CopyRate& copy_rate, Report& report) {
  for (const Distribution distribution : request.distributions) {
    for (const std::uint64_t elements : elements_or(request, {std::uint64_t{1} << 28})) {
      copy_rate.measure(elements * sizeof(std::uint32_t));
      for (const std::uint64_t array_keys : array_lengths(request)) {
        bench_arrays(request, KeyType::kU32, distribution, elements, array_keys, report);
      }
    }
  }
}

void bench_batch_of_pairs(const Request& request, KeyType values, CopyRate& copy_rate,
                          Report& report) {
  for_each_input(
      request, {KeyType::kU32, KeyType::kU64}, {std::uint64_t{1} << 28},
      [&]<class Key>(Key, KeyType type, Distribution distribution, std::uint64_t elements) {
        const GenSpec spec{{type, false, false}, distribution, request.seed, elements};
        copy_rate.measure(elements * (sizeof(Key) + bytes_of(values)));
        for (const std::uint64_t array_keys : array_lengths(request)) {
          if (values == KeyType::kU32) {
            bench_arrays_of_pairs<Key, std::uint32_t>(request, spec, array_keys, report);
          } else {
            bench_arrays_of_pairs<Key, std::uint64_t>(request, spec, array_keys, report);
          }
        }
      });
}

}  // namespace

void bench_batch(const Request& request, Report& report) {
  CopyRate copy_rate(report);
  if (request.values.empty()) bench_batch_of_keys(request, copy_rate, report);
  for (const KeyType values : request.values) {
    bench_batch_of_pairs(request, values, copy_rate, report);
  }
}

}  // namespace gsort::bench
