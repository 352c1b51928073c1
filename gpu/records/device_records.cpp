#include "gpu/records/device_records.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "gpu/cuda/call_memory.hpp"
#include "gpu/merge/device_arrays.hpp"
#include "gpu/records/device_pairs.hpp"
#include "gpu/records/launch.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kOperation = "sorting records in device memory";

// The scratch memory, cut into its arrays.
struct Arrays {
  std::uint64_t* words;
  std::uint32_t* numbers;
  std::byte* pairs;  // what sort_pairs needs
  std::size_t pairs_bytes;
  std::size_t total_bytes;
};

Arrays cut(void* scratch, std::uint64_t count) {
  ScratchCutter cutter(scratch);
  Arrays arrays{};
  arrays.words = cutter.take<std::uint64_t>(count);
  arrays.numbers = cutter.take<std::uint32_t>(count);
  arrays.pairs_bytes = sort_pairs_scratch_bytes<std::uint64_t, std::uint32_t>(count);
  arrays.pairs = cutter.take<std::byte>(arrays.pairs_bytes);
  arrays.total_bytes = cutter.used_bytes();
  return arrays;
}

void require_sound(const RecordOrder& order, const std::byte* input, const std::byte* output,
                   std::uint64_t count, const ScratchMemory& scratch) {
  const std::size_t needed = sort_records_scratch_bytes(count);
  const std::uint64_t bytes = count * order.record_bytes();
  const std::array inputs{extent_of(input, bytes, "the input")};
  const std::array outputs{extent_of(output, bytes, "the output")};
  require_call_memory({inputs, outputs, false, scratch, needed, kOperation});
}

}  // namespace

std::size_t sort_records_scratch_bytes(std::uint64_t count) {
  if (count > kMostDeviceRecords) {
    throw Error(
        ErrorKind::kUsage, kOperation,
        fmt::format("{} records are more than the {} of one sort", count, kMostDeviceRecords));
  }
  return cut(nullptr, count).total_bytes;
}

void sort_records(const RecordOrder& order, const std::byte* input, std::byte* output,
                  std::uint64_t count, const ScratchMemory& scratch, cudaStream_t stream) {
  if (count == 0) return;
  require_sound(order, input, output, count, scratch);
  const Arrays arrays = cut(scratch.memory, count);
  const auto record_bytes = static_cast<std::uint32_t>(order.record_bytes());
  const Pairs<std::uint64_t, std::uint32_t> pairs{arrays.words, arrays.numbers};
  launch_count_up(arrays.numbers, 0, count, stream);
  const auto& words = order.words();
  std::for_each(words.rbegin(), words.rend(), [&](const auto& word) {
    launch_read_words(input, record_bytes, word, arrays.numbers, count, arrays.words, stream);
    sort_pairs<std::uint64_t, std::uint32_t>({.input = pairs,
                                              .output = pairs,
                                              .count = count,
                                              .scratch = {arrays.pairs, arrays.pairs_bytes},
                                              .stream = stream});
  });
  launch_gather_records(input, record_bytes, arrays.numbers, count, output, stream);
}

}  // namespace gsort::gpu
