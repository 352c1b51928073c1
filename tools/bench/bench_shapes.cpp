// Sorts of keys in device memory beside CUB's best of both versions and counts, over sizes and
// shapes of keys, in one run on one card. Every output is checked for order and by fingerprint;
// every time is a median. Usage: bench_shapes u32|u64 REPEATS SIZES SHAPES, where SIZES are such as
// 2^22,9M and SHAPES numbers of KeyShape, or all.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <vector>

#include "bench/cub.hpp"
#include "bench/gpu_contenders.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/sort/device_sort.hpp"

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
  std::printf(
      "%-8s %-15s cub %8.4f ms %6.2f Gkeys/s | merge %8.4f once %8.4f twice %8.4f | "
      "default %8.4f %6.2f Gkeys/s, %5.2f x   (%s)\n",
      size.c_str(), name_of(shape), cub, static_cast<double>(n) / cub * 1e-6, merging, once, twice,
      by_default, static_cast<double>(n) / by_default * 1e-6, cub / by_default, best.c_str());
  std::fflush(stdout);
}

template <class Key>
void bench_all(int repeats, const std::string& sizes, const std::string& shapes) {
  for (const std::string& size : split(sizes)) {
    const Arena<Key> arena(size_of(size));
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
  if (argc != 5) {
    std::fprintf(stderr, "usage: bench_shapes u32|u64 REPEATS SIZES SHAPES\n");
    return 2;
  }
  const std::string type = argv[1];
  const auto repeats = static_cast<int>(gsort::bench::number_of(argv[2]));
  try {
    if (type == "u32") gsort::bench::bench_all<std::uint32_t>(repeats, argv[3], argv[4]);
    if (type == "u64") gsort::bench::bench_all<std::uint64_t>(repeats, argv[3], argv[4]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_shapes: %s\n", error.what());
    return 2;
  }
  return 0;
}
