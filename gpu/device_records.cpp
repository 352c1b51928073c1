#include "gpu/device_records.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "gpu/device_arrays.hpp"
#include "gpu/device_pairs.hpp"
#include "gpu/record_kernels.hpp"

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

[[noreturn]] void refuse(std::string reason) {
  throw Error(ErrorKind::kUsage, kOperation, std::move(reason));
}

void require_sound(const RecordOrder& order, const std::byte* input, const std::byte* output,
                   std::uint64_t count, const void* scratch, std::size_t scratch_bytes) {
  if (count > kMostDeviceRecords) {
    refuse(fmt::format("{} records are more than the {} of one sort", count, kMostDeviceRecords));
  }
  if (input == nullptr || output == nullptr) refuse("an array is missing");
  const std::uint64_t bytes = count * order.record_bytes();
  if (input < output + bytes && output < input + bytes) refuse("input and output overlap");
  const std::size_t needed = sort_records_scratch_bytes(count);
  if (scratch == nullptr || scratch_bytes < needed) {
    refuse(fmt::format("{} bytes of scratch memory are too little; {} are needed",
                       scratch == nullptr ? 0 : scratch_bytes, needed));
  }
  if (reinterpret_cast<std::uintptr_t>(scratch) % kScratchAlignment != 0) {
    refuse(fmt::format("the scratch memory is not aligned to {} bytes", kScratchAlignment));
  }
}

}  // namespace

std::size_t sort_records_scratch_bytes(std::uint64_t count) {
  return cut(nullptr, count).total_bytes;
}

void sort_records(const RecordOrder& order, const std::byte* input, std::byte* output,
                  std::uint64_t count, void* scratch, std::size_t scratch_bytes,
                  cudaStream_t stream) {
  if (count == 0) return;
  require_sound(order, input, output, count, scratch, scratch_bytes);
  const Arrays arrays = cut(scratch, count);
  const auto record_bytes = static_cast<std::uint32_t>(order.record_bytes());
  const Pairs<std::uint64_t, std::uint32_t> pairs{arrays.words, arrays.numbers};
  launch_count_up(arrays.numbers, count, stream);
  const auto& words = order.words();
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    launch_read_words(input, record_bytes, *word, arrays.numbers, count, arrays.words, stream);
    sort_pairs<std::uint64_t, std::uint32_t>(pairs, pairs, count, {}, {}, arrays.pairs,
                                             arrays.pairs_bytes, stream);
  }
  launch_gather_records(input, record_bytes, arrays.numbers, count, output, stream);
}

}  // namespace gsort::gpu
