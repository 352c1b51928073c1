// See counted_values.hpp.
//
// Threads: a block moves a tile of the output, thread t its positions t, t + kSearchThreads ...;
// the keys at the tile's ends bound the search for those between. Values of one key lie end to end
// in their array, so neighbouring threads read neighbours; all reads of a batch are under way
// before the first is waited for. Device memory: each value is read once and written once, and some
// numbers of the tables a thread.
#include "base/units.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/merge/key_starts.cuh"
#include "gpu/records/counted_values.hpp"

namespace gsort::gpu {
namespace {

constexpr unsigned kBatch = 8;  // values of a thread, read at a time
constexpr unsigned kBatches = 2;
constexpr unsigned kTileValues = kSearchThreads * kBatch * kBatches;

// The output's stretch of one key.
template <class Value>
struct KeyStretch {
  unsigned key = 0;
  std::uint64_t end = 0;           // in the output
  std::uint64_t second_begin = 0;  // in the output: where those of the second array begin
  const Value* first = nullptr;    // first[p] goes to position p, if p < second_begin
  const Value* second = nullptr;   // second[p] else

  [[nodiscard]] __device__ const Value* source(std::uint64_t position) const {
    return (position < second_begin ? first : second) + position;
  }
};

template <class Key, class Value>
__device__ KeyStretch<Value> thread_stretch_of(const CountedValues<Key, Value>& values,
                                               unsigned key) {
  const std::uint64_t begin = values.starts[key];
  const std::uint64_t first_begin = values.first_starts[key];
  const std::uint64_t first_count = values.first_starts[key + 1] - first_begin;
  KeyStretch<Value> stretch;
  stretch.key = key;
  stretch.end = values.starts[key + 1];
  stretch.second_begin = begin + first_count;
  // Of position p the first array's number is first_begin + (p - begin); all keys of the first
  // array up to this one are first_begin + first_count.
  stretch.first = values.first - (begin - first_begin);
  stretch.second = values.second - (first_begin + first_count);
  return stretch;
}

template <class Key, class Value>
__global__ void __launch_bounds__(kSearchThreads)
    move_values_kernel(const CountedValues<Key, Value> values) {
  grid_begin();
  const std::uint64_t tile = std::uint64_t{blockIdx.x} * kTileValues;
  const std::uint64_t tile_end =
      values.total - tile < kTileValues ? values.total : tile + kTileValues;
  const unsigned least = block_key_at<Key>(values.starts, tile);
  const unsigned most = block_key_at<Key>(values.starts, tile_end - 1);
  std::uint64_t position = tile + threadIdx.x;
  KeyStretch<Value> stretch = thread_stretch_of(values, least);
#pragma unroll 1
  for (unsigned batch = 0; batch < kBatches; ++batch) {
    Value moved[kBatch];
#pragma unroll
    for (unsigned i = 0; i < kBatch; ++i) {
      const std::uint64_t to = position + i * kSearchThreads;
      if (to >= tile_end) break;
      if (to >= stretch.end) {
        stretch =
            thread_stretch_of(values, thread_key_at(values.starts, to, stretch.key + 1, most));
      }
      moved[i] = *stretch.source(to);
    }
#pragma unroll
    for (unsigned i = 0; i < kBatch; ++i) {
      const std::uint64_t to = position + i * kSearchThreads;
      if (to < tile_end) values.output[to] = moved[i];
    }
    position += kBatch * kSearchThreads;
  }
}

}  // namespace

template <class Key, class Value>
void launch_move_values(const CountedValues<Key, Value>& values, unsigned architecture,
                        cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(div_up(values.total, kTileValues));
  launch_kernel(move_values_kernel<Key, Value>, {blocks, kSearchThreads, 0, architecture, stream},
                "launching move_values_kernel", values);
}

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define GSORT_VALUES(Value)                                                              \
  template void launch_move_values(const CountedValues<std::uint8_t, Value>&, unsigned,  \
                                   cudaStream_t);                                        \
  template void launch_move_values(const CountedValues<std::uint16_t, Value>&, unsigned, \
                                   cudaStream_t)
// NOLINTEND(bugprone-macro-parentheses)
GSORT_VALUES(std::uint8_t);
GSORT_VALUES(std::uint16_t);
GSORT_VALUES(std::uint32_t);
GSORT_VALUES(std::uint64_t);
#undef GSORT_VALUES

}  // namespace gsort::gpu
