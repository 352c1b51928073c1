// The second table of gsort-bench textbook: N arrays of d i32 keys, by default 16M keys in all,
// by the textbook's batch sorts, CUB's segmented sorts, ours, and the CPU. At the largest d also
// as one array, with the sample sort over as many machines as there are threads.
#include <algorithm>
#include <atomic>

#include "base/parallel.hpp"
#include "bench/cub.hpp"
#include "bench/subcommands.hpp"
#include "bench/textbook/batch_sorts.hpp"
#include "bench/textbook/sample_sort.hpp"
#include "bench/textbook_tables.hpp"
#include "bench/titles.hpp"
#include "gpu/segmented/device_batch.hpp"

namespace gsort::bench {
namespace {

constexpr unsigned kSets = 2;
constexpr std::uint64_t kOneCoreKeys = std::uint64_t{1} << 22;  // the most for one core
constexpr std::size_t kOversampling = 256;

struct BatchShape {
  std::uint64_t arrays;
  std::uint64_t array_keys;
  [[nodiscard]] std::uint64_t total() const { return arrays * array_keys; }
};

// Sorts the first `arrays` arrays of `keys`, on `threads` cores.
template <class Key>
void sort_arrays(std::vector<Key>& keys, std::uint64_t arrays, std::uint64_t array_keys,
                 unsigned threads) {
  std::atomic<std::uint64_t> next{0};
  const std::uint64_t step = std::max<std::uint64_t>(4096 / array_keys, 1);
  run_workers(threads, [&](unsigned) {
    for (std::uint64_t first = next.fetch_add(step); first < arrays; first = next.fetch_add(step)) {
      for (std::uint64_t i = first; i < std::min(first + step, arrays); ++i) {
        const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(i * array_keys);
        std::sort(begin, begin + static_cast<std::ptrdiff_t>(array_keys));
      }
    }
  });
}

TextbookSet make_set(const Request& request, Distribution distribution, const BatchShape& shape,
                     std::uint64_t seed) {
  const GenSpec spec{{KeyType::kU32, false, false}, distribution, seed, shape.total()};
  const auto keys = make_ordered_keys<std::uint32_t>(spec, request.threads);
  auto expected = keys;
  sort_arrays(expected, shape.arrays, shape.array_keys, request.threads);
  return TextbookSet::of(keys, expected);
}

void add_host_contenders(TextbookTable& table, const BatchShape& shape, const Request& request) {
  const std::uint64_t some =
      std::clamp<std::uint64_t>(kOneCoreKeys / shape.array_keys, 1, shape.arrays);
  const std::string note =
      some < shape.arrays ? "the first " + format_count(some) + " arrays only" : "";
  table.add_host("std::sort, one core", some * shape.array_keys, note,
                 [&](const auto& in, auto& out) {
                   std::copy_n(in.begin(), some * shape.array_keys, out.begin());
                   sort_arrays(out, some, shape.array_keys, 1);
                 });
  if (shape.arrays == 1) return;
  table.add_host("std::sort, " + std::to_string(request.threads) + " cores", shape.total(), "",
                 [&](const auto& in, auto& out) {
                   std::copy(in.begin(), in.end(), out.begin());
                   sort_arrays(out, shape.arrays, shape.array_keys, request.threads);
                 });
}

void add_sample_sort(TextbookTable& table, const BatchShape& shape, const Request& request) {
  table.add_host(
      "sample sort, " + std::to_string(request.threads) + " machines", shape.total(), "",
      [&](const auto& in, auto& out) {
        std::vector<std::vector<std::int32_t>> machines(request.threads);
        for (std::size_t m = 0; m < machines.size(); ++m) {
          machines[m].assign(
              in.begin() + static_cast<std::ptrdiff_t>(m * in.size() / machines.size()),
              in.begin() + static_cast<std::ptrdiff_t>((m + 1) * in.size() / machines.size()));
        }
        textbook::sample_sort(machines, kOversampling, request.seed,
                              [](auto begin, auto end) { std::sort(begin, end); });
        auto to = out.begin();
        for (const auto& keys : machines) to = std::copy(keys.begin(), keys.end(), to);
      });
}

template <class Offset>
void add_segmented_cub(TextbookTable& table, const BatchShape& shape,
                       const DeviceKeys<Offset>& offsets) {
  using Form = TextbookTable::Form;
  const auto arrays = [&](const TextbookSet& set, std::uint32_t* out) {
    return CubArrays<Offset>{set.ordered.get(), out, shape.total(), shape.arrays, offsets.get()};
  };
  for_each_cub([&]<class Cub>(Cub) {
    table.add_device(cub_contender<Cub, Offset>("segmented sort"), Form::kOrdered,
                     [&](const TextbookSet& set, std::uint32_t* out) {
                       cub_segmented_sort<Cub>(arrays(set, out), table.cub_scratch());
                     });
    table.add_device(cub_contender<Cub, Offset>("segmented radix sort"), Form::kOrdered,
                     [&](const TextbookSet& set, std::uint32_t* out) {
                       cub_segmented_radix_sort<Cub>(arrays(set, out), table.cub_scratch());
                     });
  });
}

void add_cub_sorts_of_one_array(TextbookTable& table, std::uint64_t count) {
  using Form = TextbookTable::Form;
  for_each_cub_and_count(count, [&]<class Cub, class Count>(Cub, Count) {
    table.add_device(cub_contender<Cub, Count>("merge sort"), Form::kOrdered,
                     [&](const TextbookSet& set, std::uint32_t* out) {
                       cub_merge_sort<Cub, Count>(set.ordered.get(), out, count,
                                                  table.cub_scratch());
                     });
    table.add_device(cub_contender<Cub, Count>("radix sort"), Form::kOrdered,
                     [&](const TextbookSet& set, std::uint32_t* out) {
                       cub_radix_sort<Cub, Count>(set.ordered.get(), out, count,
                                                  table.cub_scratch());
                     });
  });
}

void add_textbook_and_ours(TextbookTable& table, const BatchShape& shape) {
  using Form = TextbookTable::Form;
  for (const auto& sort : textbook::all_batch_sorts<std::int32_t>()) {
    if (shape.array_keys > sort.most_keys) continue;
    if (shape.arrays == 1 && sort.one_block_an_array) continue;  // seconds a run
    table.add_device(sort.name, Form::kRaw, [&](const TextbookSet& set, std::uint32_t* out) {
      sort.launch({set.device_ints(), reinterpret_cast<std::int32_t*>(out), shape.arrays,
                   shape.array_keys, table.scratch(), nullptr});
    });
  }
  table.add_device("gsort", Form::kRaw, [&](const TextbookSet& set, std::uint32_t* out) {
    const auto map = KeyMap<std::uint32_t>::of({KeyType::kI32, false, false});
    gpu::sort_batch<std::uint32_t>({.input = set.raw.get(),
                                    .output = out,
                                    .array_count = shape.arrays,
                                    .array_keys = shape.array_keys,
                                    .load_map = map,
                                    .store_map = map,
                                    .scratch = {table.scratch(), table.scratch_bytes()}});
  });
}

void bench_shape(const Request& request, Distribution distribution, const BatchShape& shape,
                 Report& report) {
  std::vector<TextbookSet> sets;
  for (unsigned set = 0; set < kSets; ++set) {
    sets.push_back(make_set(request, distribution, shape, request.seed + set));
  }
  TextbookTable table(request, std::move(sets));
  add_host_contenders(table, shape, request);
  if (shape.arrays == 1) add_sample_sort(table, shape, request);
  add_textbook_and_ours(table, shape);
  add_segmented_cub(table, shape, even_offsets<std::uint32_t>(shape.arrays, shape.array_keys));
  add_segmented_cub(table, shape, even_offsets<std::uint64_t>(shape.arrays, shape.array_keys));
  if (shape.arrays == 1) add_cub_sorts_of_one_array(table, shape.total());
  const std::string what = shape.arrays == 1
                               ? "textbook sort of one array of"
                               : "textbook sort of " + format_count(shape.arrays) + " arrays of " +
                                     format_count(shape.array_keys) + ", in all";
  Group group = group_of(what, KeyType::kI32, distribution, shape.total());
  group.parameter = "array_keys";
  group.parameter_value = shape.array_keys;
  report.add(group, table.results());
}

}  // namespace

void textbook_batches(const Request& request, Report& report) {
  const std::uint64_t elements = elements_or(request, {16 * kMiB}).front();
  CopyRate(report).measure(elements * sizeof(std::int32_t));
  std::vector<std::uint64_t> all_array_keys = request.array_keys;
  if (all_array_keys.empty()) {
    for (std::uint64_t d = 64; d <= 65536; d *= 4) all_array_keys.push_back(d);
    all_array_keys.push_back(elements);
  }
  for (const Distribution distribution : request.distributions) {
    for (const std::uint64_t array_keys : all_array_keys) {
      const std::uint64_t arrays = elements / std::max<std::uint64_t>(array_keys, 1);
      if (arrays == 0) continue;
      bench_shape(request, distribution, {arrays, array_keys}, report);
    }
  }
}

}  // namespace gsort::bench
