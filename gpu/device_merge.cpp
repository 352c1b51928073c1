// See device_merge.hpp, and merge_plan.hpp for the passes: from the input by way of output and
// buffer to the output.
#include "gpu/device_merge.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "gpu/cuda_check.hpp"
#include "gpu/device_arrays.hpp"
#include "gpu/launch.hpp"
#include "gpu/merge_plan.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kOperation = "merging slices on the GPU";

template <class Key>
struct MergeArrays {
  Key* buffer = nullptr;  // of two and more passes
  MergeScratch<Key> scratch;
  std::size_t bytes = 0;
};

template <class Key>
MergeArrays<Key> cut_scratch(void* scratch, std::uint64_t total, std::uint32_t slice_count,
                             const KernelTuning& tuning) {
  MergeArrays<Key> arrays;
  ScratchCutter cutter(scratch);
  if (merge_shape_of(slice_count, tuning).passes > 1) arrays.buffer = cutter.take<Key>(total);
  arrays.scratch = cut_merge_scratch<Key>(cutter, total, slice_count, tuning);
  arrays.bytes = cutter.used_bytes();
  return arrays;
}

}  // namespace

template <class Key>
std::size_t merge_slices_scratch_bytes(std::uint64_t total, std::uint32_t slice_count) {
  std::size_t most = 0;
  for (const TuningRow& row : kTunings) {
    const KernelTuning tuning = tuning_for<Key>(row.architecture);
    most = std::max(most, cut_scratch<Key>(nullptr, total, slice_count, tuning).bytes);
  }
  return most;
}

template <class Key>
void merge_slices(const Key* input, const std::uint64_t* slice_counts, std::uint32_t slice_count,
                  Key* output, KeyMap<Key> store_map, void* scratch, std::size_t scratch_bytes,
                  cudaStream_t stream) {
  require_memory(slice_counts, slice_count, 1, kOperation, "the table of slice counts");
  const std::uint64_t total = sum_of_slices(slice_counts, slice_count, kOperation);
  if (total == 0) return;
  const std::uint64_t bytes = total * sizeof(Key);
  const std::size_t needed = merge_slices_scratch_bytes<Key>(total, slice_count);
  require_memory(input, bytes, sizeof(Key), kOperation, "the input");
  require_memory(output, bytes, sizeof(Key), kOperation, "the output");
  require_apart(input, bytes, output, bytes, kOperation, "input and output");
  require_scratch(scratch_bytes, needed, kOperation);
  require_memory(scratch, needed, kScratchAlignment, kOperation, "the scratch memory");
  require_apart(input, bytes, scratch, needed, kOperation, "input and scratch memory");
  require_apart(output, bytes, scratch, needed, kOperation, "output and scratch memory");

  const unsigned architecture = current_architecture();
  const KernelTuning tuning = tuning_for<Key>(architecture);
  const MergeArrays<Key> arrays = cut_scratch<Key>(scratch, total, slice_count, tuning);
  MergePlan<Key> plan = plan_passes(slice_counts, slice_count, arrays.scratch, tuning, store_map);
  launch_table_copy(plan.numbers.data(), plan.numbers.size(), arrays.scratch.tables, stream);
  launch_sample(input, plan.passes.front().runs, arrays.scratch.samples, stream);

  const Key* from = input;
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    MergePass<Key>& pass = plan.passes[i];
    const std::size_t passes_after = plan.passes.size() - 1 - i;
    pass.input = from;
    pass.output = passes_after % 2 == 0 ? output : arrays.buffer;
    launch_partition(pass, architecture, stream);
    launch_kway_merge(pass, architecture, stream);
    from = pass.output;
  }
}

template std::size_t merge_slices_scratch_bytes<std::uint32_t>(std::uint64_t, std::uint32_t);
template std::size_t merge_slices_scratch_bytes<std::uint64_t>(std::uint64_t, std::uint32_t);
template void merge_slices<std::uint32_t>(const std::uint32_t*, const std::uint64_t*, std::uint32_t,
                                          std::uint32_t*, KeyMap<std::uint32_t>, void*, std::size_t,
                                          cudaStream_t);
template void merge_slices<std::uint64_t>(const std::uint64_t*, const std::uint64_t*, std::uint32_t,
                                          std::uint64_t*, KeyMap<std::uint64_t>, void*, std::size_t,
                                          cudaStream_t);

}  // namespace gsort::gpu
