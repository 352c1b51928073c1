// gsort-bench kway: K sorted slices to one, by merge_slices, by a tree of CUB's two-way merges, and
// by sorting everything again with CUB's radix sort.
#include <string>

#include "bench/device_bench.hpp"
#include "bench/subcommands.hpp"
#include "bench/titles.hpp"
#include "gpu/merge/device_merge.hpp"

namespace gsort::bench {
namespace {

// Rounds of two-way merges between two arrays, neighbour with neighbour; an odd slice is copied.
// The last round ends in the output.
template <class Cub, class Key>
class CubMergeTree {
 public:
  CubMergeTree(const DeviceBench<Key>& bench, std::uint64_t elements)
      : bench_(bench), other_(elements) {}

  void queue(unsigned set) const {
    std::vector<std::uint64_t> counts = bench_.slice_counts();
    unsigned rounds = 0;
    for (std::size_t left = counts.size(); left > 1; left = (left + 1) / 2) ++rounds;
    const Key* from = bench_.ordered(set);
    for (; rounds > 0; --rounds) {
      Key* const to = rounds % 2 == 1 ? bench_.output() : other_.get();
      counts = merge_neighbours(from, to, counts);
      from = to;
    }
  }

 private:
  std::vector<std::uint64_t> merge_neighbours(const Key* from, Key* to,
                                              const std::vector<std::uint64_t>& counts) const {
    std::vector<std::uint64_t> merged;
    for (std::size_t i = 0; i < counts.size(); i += 2) {
      const std::uint64_t b_count = i + 1 < counts.size() ? counts[i + 1] : 0;
      cub_merge<Cub>(from, counts[i], from + counts[i], b_count, to, bench_.cub_scratch());
      merged.push_back(counts[i] + b_count);
      from += merged.back();
      to += merged.back();
    }
    return merged;
  }

  const DeviceBench<Key>& bench_;
  DeviceKeys<Key> other_;
};

template <class Key>
void bench_slices(const Request& request, const BenchInput<Key>& input, Report& report) {
  DeviceBench<Key> bench(request, input);
  const auto& counts = bench.slice_counts();
  const auto slices = static_cast<std::uint32_t>(input.slices);
  for_each_cub([&]<class Cub>(Cub) {
    const CubMergeTree<Cub, Key> tree(bench, input.elements);
    bench.add(cub_contender<Cub>("merge, a tree"), [&](unsigned set) { tree.queue(set); });
  });
  for_each_cub_and_count(input.elements, [&]<class Cub, class Count>(Cub, Count) {
    bench.add(cub_contender<Cub, Count>("radix sort, anew"), [&](unsigned set) {
      cub_radix_sort<Cub, Count>(bench.ordered(set), bench.output(), input.elements,
                                 bench.cub_scratch());
    });
  });
  bench.add("gsort", [&](unsigned set) {
    gpu::merge_slices<Key>({.input = bench.ordered(set),
                            .slice_counts = counts.data(),
                            .slice_count = slices,
                            .output = bench.output(),
                            .scratch = {bench.scratch(), bench.scratch_bytes()}});
  });
  Group group = group_of("merge of " + std::to_string(slices) + " slices of", input.format.type,
                         input.distribution, input.elements);
  group.parameter = "slices";
  group.parameter_value = slices;
  report.add(group, bench.results());
}

}  // namespace

void bench_kway(const Request& request, Report& report) {
  CopyRate copy_rate(report);
  for_each_input(
      request, {KeyType::kU32}, {std::uint64_t{1} << 28},
      [&]<class Key>(Key, KeyType type, Distribution distribution, std::uint64_t elements) {
        copy_rate.measure(elements * sizeof(Key));
        for (const std::uint64_t slices : {2U, 3U, 4U, 8U, 16U, 32U, 64U, 1024U, 10'000U}) {
          BenchInput<Key> input{{type, false, false}, distribution, elements};
          input.slices = slices;
          bench_slices(request, input, report);
        }
      });
}

}  // namespace gsort::bench
