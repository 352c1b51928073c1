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

  [[nodiscard]] std::unique_ptr<ChunkLane> make_chunk_lane() override {
    const auto need = CpuChunkFootprint::of(shape_.chunk_elements, sizeof(Key), shape_.threads,
                                            shape_.block_bytes)
                          .arena_bytes();
    return std::make_unique<CpuChunkLane<Key>>(shape_, stretch(chunk_lanes_++, need));
  }

  [[nodiscard]] std::unique_ptr<MergeLane> make_merge_lane() override {
    const auto need = CpuMergeFootprint::of(shape_.part_elements, sizeof(Key)).arena_bytes();
    return std::make_unique<CpuMergeLane<Key>>(shape_, stretch(merge_lanes_++, need));
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
  unsigned chunk_lanes_ = 0;
  unsigned merge_lanes_ = 0;
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
