// Compares sorts of keys, or of pairs, in device memory with the best of CUB's versions and counts,
// over sizes and shapes of keys, in one run on one card. Every output is checked for order (of
// pairs: stable) and by fingerprint; every time is a median. Usage: bench_shapes TYPE REPEATS SIZES
// SHAPES, where TYPE is u32, u64, u32_u32, u64_u32, u64_u64, argsort_u32 or argsort_u64 (beside
// CUB's sort of pairs, whose values were written before), SIZES are such as 2^22,9M and SHAPES
// numbers of KeyShape, or all.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <vector>

#include "bench/cub.hpp"
#include "bench/device_check.hpp"
#include "bench/gpu_contenders.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/distribute/device_pair_distribute.hpp"
#include "gpu/sort/device_sort.hpp"
#include "gpu/widths/device_argsort.hpp"

namespace gsort::bench {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    items.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

std::uint64_t number_of(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// 2^22, 9M (times 2^20), 1000.
std::uint64_t size_of(const std::string& text) {
  if (text.starts_with("2^")) return std::uint64_t{1} << number_of(text.substr(2));
  return number_of(text) << (text.ends_with('M') ? 20 : 0);
}

template <class Key>
struct Arena {
  explicit Arena(std::uint64_t keys)
      : count(keys),
        input(keys * sizeof(Key)),
        output(keys * sizeof(Key)),
        scratch_bytes(std::max(cub_scratch_bytes(keys * sizeof(Key)),
                               gpu::sort_keys_by_distribution_scratch_bytes<Key>(keys))),
        scratch(scratch_bytes) {}

  std::uint64_t count;
  DeviceMemory input;
  DeviceMemory output;
  std::size_t scratch_bytes;
  DeviceMemory scratch;
};

template <class Key, class Work>
float measure(const Arena<Key>& arena, int repeats, const std::string& name, const Work& work) {
  gpu::check_cuda(cudaMemset(arena.output.template as<Key>(), 0xa5, arena.count * sizeof(Key)),
                  gpu::CudaCall::kMemory, "poisoning");
  const float ms = median_ms(repeats, work);
  const KeyCheck before = check_keys(arena.input.template as<Key>(), arena.count);
  const KeyCheck after = check_keys(arena.output.template as<Key>(), arena.count);
  if (after.descents != 0 || after.fingerprint != before.fingerprint) {
    std::printf("  WRONG: %s\n", name.c_str());
  }
  return ms;
}

// The default sort, captured in a CUDA graph.
template <class Key>
class CapturedSort {
 public:
  explicit CapturedSort(gpu::KeySort<Key> sort) {
    const auto check = [](cudaError_t result) {
      gpu::check_cuda(result, gpu::CudaCall::kLaunch, "capturing a sort");
    };
    check(cudaStreamCreate(&sort.stream));
    check(cudaStreamBeginCapture(sort.stream, cudaStreamCaptureModeThreadLocal));
    gpu::sort_keys_by_distribution(sort);
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(sort.stream, &graph));
    check(cudaGraphInstantiate(&graph_, graph, 0));
    check(cudaGraphDestroy(graph));
    check(cudaStreamDestroy(sort.stream));
  }
  CapturedSort(const CapturedSort&) = delete;
  CapturedSort& operator=(const CapturedSort&) = delete;
  ~CapturedSort() { cudaGraphExecDestroy(graph_); }
  void replay() const {
    gpu::check_cuda(cudaGraphLaunch(graph_, nullptr), gpu::CudaCall::kLaunch, "replaying a sort");
  }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

template <class Key>
void bench_shape(const Arena<Key>& arena, KeyShape shape, int repeats, const std::string& size) {
  const std::uint64_t n = arena.count;
  make_keys(shape, 7, arena.input.template as<Key>(), n);
  float cub = std::numeric_limits<float>::max();
  std::string best;
  for_each_cub_and_count(n, [&]<class Cub, class Count>(Cub, Count) {
    const CubScratch scratch{arena.scratch.template as<void>(), arena.scratch_bytes};
    const auto try_it = [&](const std::string& name, const auto& work) {
      const float ms = measure(arena, repeats, name, work);
      if (ms < cub) best = name;
      cub = std::min(cub, ms);
    };
    const auto* const in = arena.input.template as<Key>();
    auto* const out = arena.output.template as<Key>();
    try_it(cub_contender<Cub, Count>("radix").name,
           [&] { cub_radix_sort<Cub, Count>(in, out, n, scratch); });
    if (n > std::uint64_t{1} << 20) return;
    try_it(cub_contender<Cub, Count>("merge").name,
           [&] { cub_merge_sort<Cub, Count>(in, out, n, scratch); });
  });
  const gpu::KeySort<Key> sort{.input = arena.input.template as<Key>(),
                               .output = arena.output.template as<Key>(),
                               .count = n,
                               .scratch = {arena.scratch.template as<void>(), arena.scratch_bytes}};
  const float merging = measure(arena, repeats, "sort_keys", [&] { gpu::sort_keys(sort); });
  const auto distributed = [&](const char* name, const gpu::DistributionChoice& choice) {
    if (gpu::sort_keys_by_distribution_scratch_bytes<Key>(n, choice) > arena.scratch_bytes) {
      return std::numeric_limits<float>::quiet_NaN();
    }
    return measure(arena, repeats, name, [&] { gpu::sort_keys_by_distribution(sort, choice); });
  };
  const float by_default = distributed("by default", {});
  const float once = distributed("once", {.least_keys = 1, .once = true});
  const float twice = distributed("twice", {.least_keys = 1, .once = false});
  const CapturedSort<Key> captured(sort);
  const float graph = measure(arena, repeats, "in a graph", [&] { captured.replay(); });
  const float pieces = n < std::uint64_t{1} << 29 ? std::numeric_limits<float>::quiet_NaN()
                                                  : distributed("in pieces", {.most_keys = n / 2});
  std::printf(
      "%-8s %-15s cub %8.4f ms %6.2f Gkeys/s | merge %8.4f once %8.4f twice %8.4f "
      "pieces %8.4f graph %8.4f | default %8.4f %6.2f Gkeys/s, %5.2f x   (%s)\n",
      size.c_str(), name_of(shape), cub, static_cast<double>(n) / cub * 1e-6, merging, once, twice,
      pieces, graph, by_default, static_cast<double>(n) / by_default * 1e-6, cub / by_default,
      best.c_str());
  std::fflush(stdout);
}

template <class Key, class Value>
struct PairArena {
  explicit PairArena(std::uint64_t pairs)
      : count(pairs),
        keys_in(pairs * sizeof(Key)),
        values_in(pairs * sizeof(Value)),
        keys_out(pairs * sizeof(Key)),
        values_out(pairs * sizeof(Value)),
        scratch_bytes(std::max(cub_scratch_bytes(pairs * (sizeof(Key) + sizeof(Value))),
                               gpu::sort_many_pairs_scratch_bytes<Key, Value>(pairs, kAlways)) +
                      pairs * (sizeof(Key) + 2 * sizeof(Value)) + (1U << 22)),
        scratch(scratch_bytes) {
    // Values that count up show whether a sort is stable.
    make_keys(KeyShape::kSorted, 0, values_in.template as<Value>(), pairs);
  }

  static constexpr gpu::DistributionChoice kAlways{.least_keys = 1};

  std::uint64_t count;
  DeviceMemory keys_in;
  DeviceMemory values_in;
  DeviceMemory keys_out;
  DeviceMemory values_out;
  std::size_t scratch_bytes;
  DeviceMemory scratch;
};

template <class Key, class Value>
void bench_shape(const PairArena<Key, Value>& arena, KeyShape shape, int repeats,
                 const std::string& size) {
  const std::uint64_t n = arena.count;
  const CubPairs<Key, Value> pairs{
      arena.keys_in.template as<Key>(), arena.values_in.template as<Value>(),
      arena.keys_out.template as<Key>(), arena.values_out.template as<Value>(), n};
  const CubScratch scratch{arena.scratch.template as<void>(), arena.scratch_bytes};
  make_keys(shape, 7, arena.keys_in.template as<Key>(), n);
  const auto before = check_pairs<Key, Value>(pairs.keys_in, pairs.values_in, n, n, {});
  const auto measure_it = [&](const char* name, const auto& work) {
    gpu::check_cuda(cudaMemset(pairs.keys_out, 0xa5, n * sizeof(Key)), gpu::CudaCall::kMemory,
                    "poisoning");
    gpu::check_cuda(cudaMemset(pairs.values_out, 0xa5, n * sizeof(Value)), gpu::CudaCall::kMemory,
                    "poisoning");
    const float ms = median_ms(repeats, work);
    const auto after = check_pairs<Key, Value>(pairs.keys_out, pairs.values_out, n, n, {});
    if (after.descents != 0 || after.sum != before.sum) std::printf("  WRONG: %s\n", name);
    return ms;
  };
  float cub = std::numeric_limits<float>::max();
  for_each_cub_and_count(n, [&]<class Cub, class Count>(Cub, Count) {
    cub = std::min(cub, measure_it("CUB's radix sort", [&] {
                     cub_radix_sort_pairs<Cub, Count, Key, Value>(pairs, scratch);
                   }));
    if (n > std::uint64_t{1} << 20) return;
    cub = std::min(cub, measure_it("CUB's merge sort", [&] {
                     cub_merge_sort_pairs<Cub, Count, Key, Value>(pairs, scratch);
                   }));
  });
  const gpu::PairSort<Key, Value> sort{.input = {pairs.keys_in, pairs.values_in},
                                       .output = {pairs.keys_out, pairs.values_out},
                                       .count = n,
                                       .scratch = {scratch.memory, scratch.bytes}};
  const float merging = measure_it("sort_pairs", [&] { gpu::sort_pairs(sort); });
  const float distributed = measure_it(
      "distributed", [&] { gpu::sort_many_pairs(sort, PairArena<Key, Value>::kAlways); });
  const float by_default = measure_it("by default", [&] { gpu::sort_many_pairs(sort); });
  std::printf(
      "%-8s %-15s cub %8.4f ms %6.2f Gpairs/s | merge %8.4f distribution %8.4f | "
      "default %8.4f %6.2f Gpairs/s, %5.2f x\n",
      size.c_str(), name_of(shape), cub, static_cast<double>(n) / cub * 1e-6, merging, distributed,
      by_default, static_cast<double>(n) / by_default * 1e-6, cub / by_default);
  std::fflush(stdout);
}

// Keys in the arena of pairs whose values are their numbers.
template <class Key>
struct ArgsortArena : PairArena<Key, std::uint32_t> {
  explicit ArgsortArena(std::uint64_t keys)
      : PairArena<Key, std::uint32_t>(keys), numbers(keys * 4) {}

  DeviceMemory numbers;
};

template <class Key>
void bench_shape(const ArgsortArena<Key>& arena, KeyShape shape, int repeats,
                 const std::string& size) {
  using Index = std::uint32_t;
  const std::uint64_t n = arena.count;
  const CubPairs<Key, Index> pairs{
      arena.keys_in.template as<Key>(), arena.values_in.template as<Index>(),
      arena.keys_out.template as<Key>(), arena.values_out.template as<Index>(), n};
  const CubScratch scratch{arena.scratch.template as<void>(), arena.scratch_bytes};
  make_keys(shape, 7, arena.keys_in.template as<Key>(), n);
  float cub = std::numeric_limits<float>::max();
  for_each_cub_and_count(n, [&]<class Cub, class Count>(Cub, Count) {
    cub = std::min(cub, median_ms(repeats, [&] {
                     cub_radix_sort_pairs<Cub, Count, Key, Index>(pairs, scratch);
                   }));
  });
  auto* const numbers = arena.numbers.template as<Index>();
  const float ms = median_ms(repeats, [&] {
    gpu::argsort<Key, Index>({.keys = pairs.keys_in,
                              .indices = numbers,
                              .count = n,
                              .scratch = {scratch.memory, scratch.bytes}});
  });
  if (count_differences<Index>(numbers, pairs.values_out, n) != 0)
    std::printf("  WRONG: argsort\n");
  std::printf("%-8s %-15s cub %8.4f ms | argsort %8.4f ms %6.2f Gkeys/s, %5.2f x\n", size.c_str(),
              name_of(shape), cub, ms, static_cast<double>(n) / ms * 1e-6, cub / ms);
  std::fflush(stdout);
}

template <class Arena>
void bench_all(int repeats, const std::string& sizes, const std::string& shapes) {
  for (const std::string& size : split(sizes)) {
    const Arena arena(size_of(size));
    for (int shape = 0; shape < kKeyShapes; ++shape) {
      const auto wanted = split(shapes);
      const bool is_wanted = shapes == "all" || std::find(wanted.begin(), wanted.end(),
                                                          std::to_string(shape)) != wanted.end();
      if (is_wanted) bench_shape(arena, static_cast<KeyShape>(shape), repeats, size);
    }
  }
}

}  // namespace
}  // namespace gsort::bench

int main(int argc, char** argv) {
  using namespace gsort::bench;
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  if (argc != 5) {
    std::fprintf(stderr, "usage: bench_shapes TYPE REPEATS SIZES SHAPES\n");
    return 2;
  }
  const std::string type = argv[1];
  const auto repeats = static_cast<int>(number_of(argv[2]));
  try {
    if (type == "u32") bench_all<Arena<U32>>(repeats, argv[3], argv[4]);
    if (type == "u64") bench_all<Arena<U64>>(repeats, argv[3], argv[4]);
    if (type == "u32_u32") bench_all<PairArena<U32, U32>>(repeats, argv[3], argv[4]);
    if (type == "u64_u32") bench_all<PairArena<U64, U32>>(repeats, argv[3], argv[4]);
    if (type == "argsort_u32") bench_all<ArgsortArena<U32>>(repeats, argv[3], argv[4]);
    if (type == "argsort_u64") bench_all<ArgsortArena<U64>>(repeats, argv[3], argv[4]);
    if (type == "u64_u64") bench_all<PairArena<U64, U64>>(repeats, argv[3], argv[4]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_shapes: %s\n", error.what());
    return 2;
  }
  return 0;
}
