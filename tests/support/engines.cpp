#include "support/engines.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "base/units.hpp"
#include "element/element.hpp"
#include "engine/array_footprint.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "engine/footprint.hpp"
#include "engine/record_footprint.hpp"
#include "gpu/engine/gpu.hpp"
#include "support/gpu_expected.hpp"
#include "support/std_engine.hpp"

namespace gsort::test {
namespace {

std::uint64_t element_bytes(const EngineShape& shape) {
  return shape.records ? shape.records->bytes : bytes_of(shape.format.type);
}

// As the CPU engine does.
bool sorts_records(const EngineShape& shape) {
  return shape.records && !is_wide_key(*shape.records);
}

std::uint64_t array_host_bytes(const std::string& name, const EngineShape& shape,
                               const ArrayShape& arrays) {
  const std::uint64_t block = arrays.block_elements * element_bytes(shape);
  if (is_cuda_engine(name)) return CudaArrayFootprint::host_bytes(block);
  if (name == "std") return 1;
  return sorts_records(shape)
             ? CpuArrayFootprint::of_records(arrays.array_elements, block).arena_bytes()
             : CpuArrayFootprint::of_keys(arrays.array_elements * element_bytes(shape), block)
                   .arena_bytes();
}

std::uint64_t host_bytes(const std::string& name, const EngineShape& shape, unsigned merge_lanes,
                         std::uint64_t part_elements) {
  const std::uint64_t bytes = element_bytes(shape);
  if (name == "cpu" && sorts_records(shape)) {
    const auto chunk =
        CpuRecordChunkFootprint::of(shape.chunk_elements, bytes, shape.threads, shape.block_bytes);
    const auto merge = CpuRecordMergeFootprint::of(part_elements, bytes);
    return std::max(shape.chunk_lanes * chunk.arena_bytes(), merge_lanes * merge.arena_bytes());
  }
  if (name == "cpu") {
    const auto chunk =
        CpuChunkFootprint::of(shape.chunk_elements, bytes, shape.threads, shape.block_bytes);
    const auto merge = CpuMergeFootprint::of(part_elements, bytes);
    return std::max(shape.chunk_lanes * chunk.arena_bytes(), merge_lanes * merge.arena_bytes());
  }
  if (is_cuda_engine(name)) {
    return std::max(
        shape.chunk_lanes * CudaFootprint::chunk_host_bytes(shape.threads, shape.block_bytes),
        merge_lanes * CudaFootprint::part_host_bytes(part_elements * bytes));
  }
  return 1;
}

#ifdef GSORT_TEST_HAS_CUDA
constexpr bool kHasCuda = true;
#else
constexpr bool kHasCuda = false;
#endif

const gpu::Devices& gpus() {
  static const gpu::Devices found = gpu::find_devices({});
  return found;
}

}  // namespace

std::string why_not(const std::string& name) {
  if (!is_cuda_engine(name) || !gpus().devices.empty()) return "";
  const std::string reason = "the CUDA engine is not tested: " + gpus().absent_reason;
  return kHasCuda ? missing_gpu(reason) : reason;
}

std::vector<int> ordinals_of(std::string_view name) {
  const std::vector<gpu::Device>& devices = gpus().devices;
  const std::size_t count = name == "cuda_x4" ? 4 : name == "cuda_x2" ? 2 : 1;
  std::vector<int> ordinals;
  for (std::size_t i = 0; i < count; ++i) ordinals.push_back(devices[i % devices.size()].ordinal);
  return ordinals;
}

EngineUnderTest::EngineUnderTest(const std::string& name, const EngineShape& shape,
                                 unsigned merge_lanes, std::uint64_t part_elements)
    : memory_(host_bytes(name, shape, merge_lanes, part_elements), "an engine under test") {
  make_engine(name, shape);
}

EngineUnderTest::EngineUnderTest(const std::string& name, const EngineShape& shape,
                                 const ArrayShape& arrays, unsigned lanes)
    : memory_(lanes * array_host_bytes(name, shape, arrays), "an engine under test") {
  make_engine(name, shape);
}

void EngineUnderTest::make_engine(const std::string& name, const EngineShape& shape) {
  std::memset(memory_.data(), 0xa5, memory_.size());
  if (name == "cpu") {
    engine_ = cpu::make_cpu_engine(shape, memory_.bytes());
  } else if (is_cuda_engine(name)) {
    engine_ = gpu::make_cuda_engine(shape, ordinals_of(name), memory_.bytes());
  } else {
    engine_ = make_std_engine(shape);
  }
}

EngineShape shape_for(const KeyFormat& format, std::uint64_t elements, unsigned threads,
                      std::uint64_t block_bytes) {
  EngineShape shape;
  shape.format = format;
  shape.threads = threads;
  shape.block_bytes = block_bytes;
  shape.chunk_elements = std::max<std::uint64_t>(elements, 1);
  shape.device_bytes = 1 * kGiB;
  return shape;
}

void fill_lane(ChunkLane& lane, const EngineShape& shape, ConstByteSpan raw, ConstByteSpan sample,
               std::uint64_t seed, KeyForm form) {
  const std::uint64_t bytes = element_bytes(shape);
  std::vector<std::size_t> begins;
  for (std::size_t at = 0; at < raw.size(); at += shape.block_bytes) begins.push_back(at);
  std::ranges::shuffle(begins, std::mt19937_64(seed));
  lane.begin(sample);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (;;) {
      const ByteSpan block = lane.acquire_block();
      const std::size_t i = next++;
      if (i >= begins.size()) return lane.add(block, 0, 0);
      const ConstByteSpan from =
          raw.subspan(begins[i], std::min<std::size_t>(shape.block_bytes, raw.size() - begins[i]));
      std::ranges::copy(from, block.begin());
      lane.add(block, from.size(), begins[i] / bytes);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < shape.threads; ++i) threads.emplace_back(work);
  }
  lane.sort(form);
}

std::vector<std::byte> even_sample(ConstByteSpan raw, std::uint64_t element_bytes,
                                   std::size_t keys) {
  std::vector<std::byte> sample;
  const std::size_t count = raw.size() / element_bytes;
  const std::size_t wanted = std::min(count, keys);
  for (std::size_t i = 0; i < wanted; ++i) {
    const ConstByteSpan key = raw.subspan(i * count / wanted * element_bytes, element_bytes);
    sample.insert(sample.end(), key.begin(), key.end());
  }
  return sample;
}

}  // namespace gsort::test
