#include "engine/cpu/cpu_engine.hpp"

#include <utility>

#include "base/error.hpp"
#include "engine/cpu/array_lane.hpp"
#include "engine/cpu/chunk_lane.hpp"
#include "engine/cpu/merge_lane.hpp"
#include "engine/cpu/record_chunk_lane.hpp"
#include "engine/cpu/record_merge_lane.hpp"
#include "engine/record_footprint.hpp"

namespace gsort::cpu {
namespace {

// The parts that depend on the element: the lanes, and the memory they take.
template <class Key>
struct KeyLanes {
  static std::uint64_t chunk_bytes(const EngineShape& shape) {
    return CpuChunkFootprint::of(shape.chunk_elements, sizeof(Key), shape.threads,
                                 shape.block_bytes)
        .arena_bytes();
  }
  static std::uint64_t merge_bytes(const EngineShape& /*shape*/, std::uint64_t part_elements) {
    return CpuMergeFootprint::of(part_elements, sizeof(Key)).arena_bytes();
  }
  static std::unique_ptr<ChunkLane> make_chunk_lane(const EngineShape& shape, ByteSpan memory) {
    return std::make_unique<CpuChunkLane<Key>>(shape, memory);
  }
  static std::unique_ptr<MergeLane> make_merge_lane(const EngineShape& shape,
                                                    std::uint64_t part_elements, ByteSpan memory) {
    return std::make_unique<CpuMergeLane<Key>>(shape, part_elements, memory);
  }
};

struct RecordLanes {
  static std::uint64_t chunk_bytes(const EngineShape& shape) {
    return CpuRecordChunkFootprint::of(shape.chunk_elements, shape.records->bytes, shape.threads,
                                       shape.block_bytes)
        .arena_bytes();
  }
  static std::uint64_t merge_bytes(const EngineShape& shape, std::uint64_t part_elements) {
    return CpuRecordMergeFootprint::of(part_elements, shape.records->bytes).arena_bytes();
  }
  static std::unique_ptr<ChunkLane> make_chunk_lane(const EngineShape& shape, ByteSpan memory) {
    return std::make_unique<RecordChunkLane>(shape, memory);
  }
  static std::unique_ptr<MergeLane> make_merge_lane(const EngineShape& shape,
                                                    std::uint64_t part_elements, ByteSpan memory) {
    return std::make_unique<RecordMergeLane>(shape, part_elements, memory);
  }
};

// The parts that all elements have in common.
class AnyCpuEngine : public Engine {
 public:
  AnyCpuEngine(EngineShape shape, ByteSpan memory) : shape_(std::move(shape)), memory_(memory) {}

  [[nodiscard]] std::string_view name() const override { return "cpu"; }

  [[nodiscard]] std::vector<std::unique_ptr<ArrayLane>> make_array_lanes(
      unsigned count, const ArrayShape& arrays) override {
    const std::uint64_t need = array_lane_bytes(shape_, arrays);
    std::vector<std::unique_ptr<ArrayLane>> lanes;
    for (unsigned lane = 0; lane < count; ++lane) {
      lanes.push_back(make_array_lane(shape_, arrays, stretch(lane, need)));
    }
    return lanes;
  }

 protected:
  [[nodiscard]] const EngineShape& shape() const { return shape_; }
  [[nodiscard]] ByteSpan stretch(unsigned lane, std::uint64_t bytes) const {
    if ((std::uint64_t{lane} + 1) * bytes > memory_.size()) {
      throw Error(ErrorKind::kUsage, "making a lane of the CPU engine",
                  "the memory given is too small for the shape");
    }
    return memory_.subspan(lane * bytes, bytes);
  }

 private:
  EngineShape shape_;
  ByteSpan memory_;
};

// For keys of one and two bytes: only arrays of them are sorted.
class NarrowEngine final : public AnyCpuEngine {
 public:
  using AnyCpuEngine::AnyCpuEngine;

  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    throw are_counted();
  }
  [[nodiscard]] std::vector<std::unique_ptr<MergeLane>> make_merge_lanes(
      unsigned /*count*/, std::uint64_t /*part_elements*/) override {
    throw are_counted();
  }

 private:
  static Error are_counted() {
    return {ErrorKind::kUsage, "making a lane of the CPU engine",
            "keys of 1 and 2 bytes are counted, not sorted"};
  }
};

template <class Lanes>
class CpuEngine final : public AnyCpuEngine {
 public:
  using AnyCpuEngine::AnyCpuEngine;

  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    const std::uint64_t need = Lanes::chunk_bytes(shape());
    std::vector<std::unique_ptr<ChunkLane>> lanes;
    for (unsigned lane = 0; lane < shape().chunk_lanes; ++lane) {
      lanes.push_back(Lanes::make_chunk_lane(shape(), stretch(lane, need)));
    }
    return lanes;
  }

  [[nodiscard]] std::vector<std::unique_ptr<MergeLane>> make_merge_lanes(
      unsigned count, std::uint64_t part_elements) override {
    const std::uint64_t need = Lanes::merge_bytes(shape(), part_elements);
    std::vector<std::unique_ptr<MergeLane>> lanes;
    for (unsigned lane = 0; lane < count; ++lane) {
      lanes.push_back(Lanes::make_merge_lane(shape(), part_elements, stretch(lane, need)));
    }
    return lanes;
  }
};

template <class Key>
std::unique_ptr<Engine> make_key_engine(const EngineShape& shape, ByteSpan memory) {
  return std::make_unique<CpuEngine<KeyLanes<Key>>>(shape, memory);
}

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(const EngineShape& shape, ByteSpan memory) {
  if (shape.records && is_wide_key(*shape.records)) {
    return std::make_unique<CpuEngine<KeyLanes<UInt128>>>(shape, memory);
  }
  if (shape.records) return std::make_unique<CpuEngine<RecordLanes>>(shape, memory);
  switch (bytes_of(shape.format.type)) {
    case 4:
      return make_key_engine<std::uint32_t>(shape, memory);
    case 8:
      return make_key_engine<std::uint64_t>(shape, memory);
    case sizeof(UInt128):
      return std::make_unique<CpuEngine<KeyLanes<UInt128>>>(shape, memory);
    default:
      return std::make_unique<NarrowEngine>(shape, memory);
  }
}

}  // namespace gsort::cpu
