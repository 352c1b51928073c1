#include "engine/cpu/cpu_engine.hpp"

#include <utility>

#include "base/error.hpp"
#include "engine/cpu/chunk_lane.hpp"
#include "engine/cpu/merge_lane.hpp"

namespace gsort::cpu {
namespace {

template <class Key>
class CpuEngine final : public Engine {
 public:
  CpuEngine(const EngineShape& shape, ByteSpan memory) : shape_(shape), memory_(memory) {}

  [[nodiscard]] std::string_view name() const override { return "cpu"; }

  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    const auto need = CpuChunkFootprint::of(shape_.chunk_elements, sizeof(Key), shape_.threads,
                                            shape_.block_bytes)
                          .arena_bytes();
    std::vector<std::unique_ptr<ChunkLane>> lanes;
    for (unsigned lane = 0; lane < shape_.chunk_lanes; ++lane) {
      lanes.push_back(std::make_unique<CpuChunkLane<Key>>(shape_, stretch(lane, need)));
    }
    return lanes;
  }

  [[nodiscard]] std::vector<std::unique_ptr<MergeLane>> make_merge_lanes(
      unsigned count, std::uint64_t part_elements) override {
    const auto need = CpuMergeFootprint::of(part_elements, sizeof(Key)).arena_bytes();
    std::vector<std::unique_ptr<MergeLane>> lanes;
    for (unsigned lane = 0; lane < count; ++lane) {
      lanes.push_back(std::make_unique<CpuMergeLane<Key>>(KeyMap<Key>::of(shape_.format),
                                                          part_elements, stretch(lane, need)));
    }
    return lanes;
  }

 private:
  ByteSpan stretch(unsigned lane, std::uint64_t bytes) const {
    if ((std::uint64_t{lane} + 1) * bytes > memory_.size()) {
      throw Error(ErrorKind::kUsage, "making a lane of the CPU engine",
                  "the memory given is too small for the shape");
    }
    return memory_.subspan(lane * bytes, bytes);
  }

  EngineShape shape_;
  ByteSpan memory_;
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(const EngineShape& shape, ByteSpan memory) {
  switch (bytes_of(shape.format.type)) {
    case 4:
      return std::make_unique<CpuEngine<std::uint32_t>>(shape, memory);
    case 8:
      return std::make_unique<CpuEngine<std::uint64_t>>(shape, memory);
    default:
      throw Error(ErrorKind::kUsage, "making the CPU engine",
                  "keys of 1 and 2 bytes are counted, not sorted");
  }
}

}  // namespace gsort::cpu
