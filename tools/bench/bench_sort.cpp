// Compares gsort's device sort and merges with CUB's in one run, on one card: every output is
// checked for order and by fingerprint, every time is a median. Usage: bench_sort [log2 of the keys
// [repeats]]
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "bench/cub.hpp"
#include "bench/gpu_contenders.hpp"
#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/merge/launch.hpp"
#include "gpu/sort/device_sort.hpp"
#include "gpu/sort/launch.hpp"

namespace gsort::bench {
namespace {

template <class Key>
struct Arena {
  explicit Arena(std::uint64_t keys)
      : count(keys),
        input_memory(keys * sizeof(Key)),
        output_memory(keys * sizeof(Key)),
        scratch_bytes(keys * sizeof(Key) + keys * sizeof(Key) / 8 + (1U << 26)),
        scratch_memory(scratch_bytes),
        input(input_memory.as<Key>()),
        output(output_memory.as<Key>()),
        scratch(scratch_memory.as<void>()) {}

  std::uint64_t count;
  DeviceMemory input_memory;
  DeviceMemory output_memory;
  std::size_t scratch_bytes;
  DeviceMemory scratch_memory;
  Key* input;
  Key* output;
  void* scratch;
};

// Runs a contender: poison, time, check.
template <class Key, class Work>
float measure(const char* name, Arena<Key>& arena, int repeats, const Work& work) {
  gpu::check_cuda(cudaMemset(arena.output, 0xa5, arena.count * sizeof(Key)), gpu::CudaCall::kMemory,
                  "poisoning");
  const float ms = median_ms(repeats, work);
  const KeyCheck before = check_keys(arena.input, arena.count);
  const KeyCheck after = check_keys(arena.output, arena.count);
  const bool right = after.descents == 0 && after.fingerprint == before.fingerprint;
  const auto keys = static_cast<double>(arena.count);
  std::printf("  %-34s %8.3f ms %7.2f Gkeys/s %6.3f TB/s  %s\n", name, ms, keys / ms * 1e-6,
              2 * keys * sizeof(Key) / ms * 1e-9, right ? "verified" : "WRONG");
  std::fflush(stdout);
  return ms;
}

template <class Key>
void bench_sorts(Arena<Key>& arena, int repeats) {
  std::printf("sort of %zu-bit keys, 2^%.1f\n", 8 * sizeof(Key),
              __builtin_log2(static_cast<double>(arena.count)));
  const std::uint64_t n = arena.count;
  make_keys(KeyShape::kUniform, 1, arena.input, n);
  const float copy = median_ms(repeats, [&] {
    gpu::check_cuda(
        cudaMemcpyAsync(arena.output, arena.input, n * sizeof(Key), cudaMemcpyDeviceToDevice),
        gpu::CudaCall::kCopy, "copying");
  });
  std::printf("  %-34s %8.3f ms %31.3f TB/s\n", "copy", copy,
              2 * static_cast<double>(n * sizeof(Key)) / copy * 1e-9);
  for_each_cub_and_count(n, [&]<class Cub, class Count>(Cub, Count) {
    const CubScratch scratch{arena.scratch, arena.scratch_bytes};
    measure(cub_contender<Cub, Count>("radix sort").name.c_str(), arena, repeats,
            [&] { cub_radix_sort<Cub, Count>(arena.input, arena.output, n, scratch); });
    measure(cub_contender<Cub, Count>("merge sort").name.c_str(), arena, repeats,
            [&] { cub_merge_sort<Cub, Count>(arena.input, arena.output, n, scratch); });
  });
  for (int shape = 0; shape < kKeyShapes; ++shape) {
    make_keys(static_cast<KeyShape>(shape), 2, arena.input, n);
    char name[64];
    std::snprintf(name, sizeof(name), "gsort, %s", name_of(static_cast<KeyShape>(shape)));
    measure(name, arena, shape == 0 ? repeats : 3, [&] {
      gpu::sort_keys<Key>({.input = arena.input,
                           .output = arena.output,
                           .count = n,
                           .scratch = {arena.scratch, arena.scratch_bytes}});
    });
  }
}

// Sorts equal slices of the input in place, so that it is ready to merge.
template <class Key>
std::vector<std::uint64_t> make_slices(Arena<Key>& arena, std::uint32_t slices) {
  std::vector<std::uint64_t> counts(slices, arena.count / slices);
  make_keys(KeyShape::kUniform, slices, arena.input, arena.count);
  Key* begin = arena.input;
  for (const std::uint64_t count : counts) {
    gpu::sort_keys<Key>({.input = begin,
                         .output = begin,
                         .count = count,
                         .scratch = {arena.scratch, arena.scratch_bytes}});
    begin += count;
  }
  return counts;
}

template <class Key>
void bench_merges(Arena<Key>& arena, int repeats) {
  std::printf("merge of %zu-bit keys\n", 8 * sizeof(Key));
  for (const std::uint32_t slices : {2U, 3U, 4U, 8U, 16U, 32U, 64U}) {
    if (arena.count % slices != 0) continue;
    const auto counts = make_slices(arena, slices);
    char name[64];
    if (slices == 2) {
      for_each_cub([&]<class Cub>(Cub) {
        measure(cub_contender<Cub>("merge of 2").name.c_str(), arena, repeats, [&] {
          cub_merge<Cub>(arena.input, counts[0], arena.input + counts[0], counts[1], arena.output,
                         {arena.scratch, arena.scratch_bytes});
        });
      });
    }
    std::snprintf(name, sizeof(name), "gsort merge of %u", slices);
    measure(name, arena, repeats, [&] {
      gpu::merge_slices<Key>({.input = arena.input,
                              .slice_counts = counts.data(),
                              .slice_count = slices,
                              .output = arena.output,
                              .scratch = {arena.scratch, arena.scratch_bytes}});
    });
  }
}

// The kernels one by one: the block sort, then the partition and the merge of runs as long as
// fan_in allows.
template <class Key>
void bench_kernels(Arena<Key>& arena, int repeats) {
  const unsigned architecture = gpu::current_architecture();
  const gpu::KernelTuning tuning = gpu::tuning_for<Key>(architecture);
  const std::uint64_t n = arena.count;
  std::printf("kernels, %zu-bit keys: %s\n", 8 * sizeof(Key), gpu::to_string(tuning).c_str());
  auto* const samples = static_cast<Key*>(arena.scratch);
  const DeviceMemory row_memory(n / 8);
  auto* const rows = row_memory.as<std::uint64_t>();
  make_keys(KeyShape::kUniform, 3, arena.input, n);
  gpu::BlockSortPass<Key> sort;
  sort.input = arena.input;
  sort.output = arena.output;
  sort.samples = samples;
  sort.count = n;
  std::printf("  block sort %8.3f ms\n",
              median_ms(repeats, [&] { gpu::launch_block_sort(sort, architecture, nullptr); }));
  for (std::uint32_t fan_in = 2; fan_in <= tuning.max_fan_in; fan_in *= 2) {
    for (const std::uint64_t run_length : {std::uint64_t{tuning.block_sort_keys()}, n / fan_in}) {
      for (std::uint64_t begin = 0; begin < n; begin += run_length) {
        if (run_length == tuning.block_sort_keys()) break;
        Key* const run = arena.input + begin;
        gpu::sort_keys<Key>({.input = run,
                             .output = run,
                             .count = run_length,
                             .scratch = {arena.scratch, arena.scratch_bytes}});
      }
      const std::uint64_t group_keys = run_length * fan_in;
      if (group_keys == 0 || group_keys > n) continue;
      if (run_length == tuning.block_sort_keys()) {
        sort.output = arena.input;
        gpu::launch_block_sort(sort, architecture, nullptr);
      }
      gpu::MergePass<Key> pass;
      pass.input = arena.input;
      pass.output = arena.output;
      pass.samples = samples;
      pass.fan_in = fan_in;
      pass.runs.total = n;
      pass.runs.run_length = run_length;
      pass.runs.run_count = n / run_length;
      pass.group_count = n / group_keys;
      pass.rows_per_group =
          (group_keys + tuning.merge_tile_keys(fan_in) - 1) / tuning.merge_tile_keys(fan_in) + 1;
      pass.row_count = pass.group_count * pass.rows_per_group;
      pass.rows = rows;
      const float sample_ms = median_ms(repeats, [&] {
        gpu::launch_sample(arena.input, pass.runs, samples, architecture, nullptr);
      });
      const float partition_ms =
          median_ms(repeats, [&] { gpu::launch_partition<Key>(pass, architecture, nullptr); });
      const float merge_ms =
          median_ms(repeats, [&] { gpu::launch_kway_merge(pass, architecture, nullptr); });
      std::printf("  fan-in %u, runs of %10lu: sample %.3f, partition %.3f, merge %.3f ms\n",
                  fan_in, static_cast<unsigned long>(run_length), sample_ms, partition_ms,
                  merge_ms);
      make_keys(KeyShape::kUniform, 3, arena.input, n);
    }
  }
}

template <class Key>
void bench_all(std::uint64_t count, int repeats) {
  Arena<Key> arena(count);
  bench_sorts(arena, repeats);
  bench_merges(arena, repeats);
  bench_kernels(arena, repeats);
}

}  // namespace
}  // namespace gsort::bench

int main(int argc, char** argv) {
  const int log2_keys = argc > 1 ? std::atoi(argv[1]) : 28;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 7;
  try {
    gsort::bench::bench_all<std::uint32_t>(std::uint64_t{1} << log2_keys, repeats);
    gsort::bench::bench_all<std::uint64_t>(std::uint64_t{1} << log2_keys, repeats);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_sort: %s\n", error.what());
    return 2;
  }
  return 0;
}
