// Kernels for records: reading words of their keys, and gathering them.
//
// read_words: one thread a record. Neighbouring threads follow the numbers, in the first pass
// neighbouring records: a word takes one or two sectors of 32 bytes of each.
//
// gather_records: threads stand for units of 16, 8, 4, 2 or 1 bytes, whatever divides a record and
// its address. Neighbouring threads write neighbouring units, and read neighbouring ones of one
// record, so that a record of 100 bytes is read in four or five sectors and written without gaps. A
// block divides once, in 64 bits, to learn where it begins; its threads count from there in 32.
//
// Bytes: read_words n * (4 + sectors + 8); gather_records n * (4 + 2 * record).
#include <algorithm>
#include <bit>

#include "base/units.hpp"
#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/records/launch.hpp"

namespace gsort::gpu {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kUnitsPerThread = 4;

// A grid for `items` of work, `per_block` a block. Device memory holds no work for 2^31 blocks.
LaunchShape shape_for(std::uint64_t items, std::uint64_t per_block, cudaStream_t stream) {
  return {static_cast<unsigned>(div_up(items, per_block)), kThreads, 0, current_architecture(),
          stream};
}

template <class Number>
__global__ void __launch_bounds__(kThreads)
    count_up_kernel(Number* numbers, std::uint64_t first, std::uint64_t count) {
  grid_begin();
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) numbers[i] = static_cast<Number>(first + i);
}

__global__ void __launch_bounds__(kThreads)
    read_words_kernel(const std::byte* records, std::uint32_t record_bytes, const RecordWord word,
                      const std::uint32_t* numbers, std::uint64_t count, std::uint64_t* words) {
  grid_begin();
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) words[i] = word.of(records + std::uint64_t{numbers[i]} * record_bytes);
}

// `units` is the size of a record in Unit, `total` that of all.
template <class Unit>
__global__ void __launch_bounds__(kThreads)
    gather_records_kernel(const Unit* records, std::uint32_t units, const std::uint32_t* numbers,
                          std::uint64_t total, Unit* to) {
  grid_begin();
  constexpr std::uint64_t kPerBlock = std::uint64_t{kThreads} * kUnitsPerThread;
  const std::uint64_t begin = blockIdx.x * kPerBlock;
  const std::uint64_t first_record = begin / units;
  const auto first_unit = static_cast<std::uint32_t>(begin - first_record * units);
#pragma unroll
  for (unsigned step = 0; step < kUnitsPerThread; ++step) {
    const std::uint32_t at = step * kThreads + threadIdx.x;
    if (begin + at >= total) return;
    const std::uint32_t record = (first_unit + at) / units;
    const std::uint32_t unit = first_unit + at - record * units;
    const std::uint64_t from = numbers[first_record + record];
    to[begin + at] = records[from * units + unit];
  }
}

template <class Unit>
void gather_in(const std::byte* records, std::uint32_t record_bytes, const std::uint32_t* numbers,
               std::uint64_t count, std::byte* to, cudaStream_t stream) {
  const auto units = static_cast<std::uint32_t>(record_bytes / sizeof(Unit));
  const std::uint64_t total = count * units;
  launch_kernel(gather_records_kernel<Unit>,
                shape_for(total, std::uint64_t{kThreads} * kUnitsPerThread, stream),
                "launching gather_records_kernel", reinterpret_cast<const Unit*>(records), units,
                numbers, total, reinterpret_cast<Unit*>(to));
}

}  // namespace

template <class Number>
void launch_count_up(Number* numbers, std::uint64_t first, std::uint64_t count,
                     cudaStream_t stream) {
  if (count == 0) return;
  launch_kernel(count_up_kernel<Number>, shape_for(count, kThreads, stream),
                "launching count_up_kernel", numbers, first, count);
}
template void launch_count_up(std::uint32_t*, std::uint64_t, std::uint64_t, cudaStream_t);
template void launch_count_up(std::uint64_t*, std::uint64_t, std::uint64_t, cudaStream_t);

void launch_read_words(const std::byte* records, std::uint32_t record_bytes, const RecordWord& word,
                       const std::uint32_t* numbers, std::uint64_t count, std::uint64_t* words,
                       cudaStream_t stream) {
  if (count == 0) return;
  launch_kernel(read_words_kernel, shape_for(count, kThreads, stream),
                "launching read_words_kernel", records, record_bytes, word, numbers, count, words);
}

void launch_gather_records(const std::byte* records, std::uint32_t record_bytes,
                           const std::uint32_t* numbers, std::uint64_t count, std::byte* to,
                           cudaStream_t stream) {
  if (count == 0) return;
  const auto address = reinterpret_cast<std::uintptr_t>(records) |
                       reinterpret_cast<std::uintptr_t>(to) | record_bytes;
  switch (std::min(std::countr_zero(address), 4)) {
    case 4:
      return gather_in<uint4>(records, record_bytes, numbers, count, to, stream);
    case 3:
      return gather_in<std::uint64_t>(records, record_bytes, numbers, count, to, stream);
    case 2:
      return gather_in<std::uint32_t>(records, record_bytes, numbers, count, to, stream);
    case 1:
      return gather_in<std::uint16_t>(records, record_bytes, numbers, count, to, stream);
    default:
      return gather_in<std::uint8_t>(records, record_bytes, numbers, count, to, stream);
  }
}

}  // namespace gsort::gpu
