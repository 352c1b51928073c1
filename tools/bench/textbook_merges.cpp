// The first table of gsort-bench textbook: two sorted halves, by default 16M i32 each, through
// every merge of the textbook, CUB's DeviceMerge, ours, and one core.
#include <algorithm>

#include "bench/cub.hpp"
#include "bench/subcommands.hpp"
#include "bench/textbook/merges.hpp"
#include "bench/textbook/sequential_merge.hpp"
#include "bench/textbook_tables.hpp"
#include "bench/titles.hpp"
#include "gpu/merge/device_merge.hpp"

namespace gsort::bench {
namespace {

constexpr unsigned kSets = 2;

TextbookSet make_set(const Request& request, Distribution distribution, std::uint64_t half,
                     std::uint64_t seed) {
  const GenSpec spec{{KeyType::kU32, false, false}, distribution, seed, 2 * half};
  auto keys = make_ordered_keys<std::uint32_t>(spec, request.threads);
  const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(half);
  std::sort(keys.begin(), middle);
  std::sort(middle, keys.end());
  std::vector<std::uint32_t> expected(keys.size());
  std::merge(keys.begin(), middle, middle, keys.end(), expected.begin());
  return TextbookSet::of(keys, expected);
}

void add_contenders(TextbookTable& table, std::uint64_t half) {
  table.add_host("sequential merge, one core", 2 * half, "", [&](const auto& in, auto& out) {
    textbook::sequential_merge(in.data(), half, in.data() + half, half, out.data());
  });
  for (const auto& merge : textbook::all_merges<std::int32_t>()) {
    table.add_device(merge.name, TextbookTable::Form::kRaw,
                     [&](const TextbookSet& set, std::uint32_t* out) {
                       const std::int32_t* const a = set.device_ints();
                       merge.launch({{a, half, a + half, half},
                                     reinterpret_cast<std::int32_t*>(out),
                                     table.scratch(),
                                     nullptr});
                     });
  }
  for_each_cub([&]<class Cub>(Cub) {
    table.add_device(cub_contender<Cub>("merge"), TextbookTable::Form::kOrdered,
                     [&](const TextbookSet& set, std::uint32_t* out) {
                       const std::uint32_t* const a = set.ordered.get();
                       cub_merge<Cub>(a, half, a + half, half, out, table.cub_scratch());
                     });
  });
  table.add_device(
      "gsort", TextbookTable::Form::kOrdered, [&](const TextbookSet& set, std::uint32_t* out) {
        const std::uint64_t counts[] = {half, half};
        gpu::merge_slices<std::uint32_t>({.input = set.ordered.get(),
                                          .slice_counts = counts,
                                          .slice_count = 2,
                                          .output = out,
                                          .scratch = {table.scratch(), table.scratch_bytes()}});
      });
}

}  // namespace

void textbook_merges(const Request& request, Report& report) {
  CopyRate copy_rate(report);
  for (const Distribution distribution : request.distributions) {
    for (const std::uint64_t elements : elements_or(request, {32 * kMiB})) {
      const std::uint64_t half = elements / 2;
      copy_rate.measure(2 * half * sizeof(std::int32_t));
      std::vector<TextbookSet> sets;
      for (unsigned set = 0; set < kSets; ++set) {
        sets.push_back(make_set(request, distribution, half, request.seed + set));
      }
      TextbookTable table(request, std::move(sets));
      add_contenders(table, half);
      report.add(group_of("textbook merge of 2 halves of", KeyType::kI32, distribution, 2 * half),
                 table.results());
    }
  }
}

}  // namespace gsort::bench
