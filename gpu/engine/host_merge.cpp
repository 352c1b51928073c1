#include "gpu/engine/host_merge.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "element/element.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "engine/footprint.hpp"

namespace gsort::gpu {
namespace {

// The CPU engine's lane, and the engine, which outlives it.
class HostKeyMerge final : public MergeLane {
 public:
  HostKeyMerge(const EngineShape& shape, std::uint64_t part_elements, ByteSpan memory)
      : engine_(cpu::make_cpu_engine(shape, memory)),
        lane_(std::move(engine_->make_merge_lanes(1, part_elements).front())) {}

  [[nodiscard]] ByteSpan input() override { return lane_->input(); }
  void merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position, KeyForm form,
             PieceSink& sink) override {
    lane_->merge(slice_counts, position, form, sink);
  }

 private:
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<MergeLane> lane_;
};

class HostRecordMerge final : public MergeLane {
 public:
  HostRecordMerge(const EngineShape& shape, std::uint64_t part_elements, ByteSpan memory)
      : order_(*shape.records),
        input_(memory.first(part_elements * order_.record_bytes())),
        piece_(memory.last(CudaFootprint::kPieceBytes)) {}

  [[nodiscard]] ByteSpan input() override { return input_; }

  // Stable: of equal records that of the first slice comes first.
  void merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position, KeyForm /*form*/,
             PieceSink& sink) override {
    const std::size_t bytes = order_.record_bytes();
    std::vector<Slice> heap;
    const std::byte* begin = input_.data();
    for (const std::uint64_t count : slice_counts) {
      const std::byte* const end = begin + count * bytes;
      if (count > 0) heap.push_back({begin, end});
      begin = end;
    }
    const auto is_behind = [this](const Slice& a, const Slice& b) {
      const int compared = order_.compare(a.next, b.next);
      return compared > 0 || (compared == 0 && a.next > b.next);
    };
    std::ranges::make_heap(heap, is_behind);
    std::size_t filled = 0;
    while (!heap.empty()) {
      std::ranges::pop_heap(heap, is_behind);
      Slice& least = heap.back();
      std::memcpy(piece_.data() + filled, least.next, bytes);
      filled += bytes;
      least.next += bytes;
      if (least.next == least.end) {
        heap.pop_back();
      } else {
        std::ranges::push_heap(heap, is_behind);
      }
      if (heap.empty() || filled + bytes > piece_.size()) {
        sink.put(position, piece_.first(filled));
        position += filled / bytes;
        filled = 0;
      }
    }
  }

 private:
  // The rest of a slice. Slices lie one behind the other, so addresses tell which one is first.
  struct Slice {
    const std::byte* next;
    const std::byte* end;
  };

  RecordOrder order_;
  ByteSpan input_;
  ByteSpan piece_;
};

}  // namespace

std::unique_ptr<MergeLane> make_host_merge_lane(const EngineShape& shape,
                                                std::uint64_t part_elements, ByteSpan memory) {
  if (shape.records && !is_wide_key(*shape.records)) {
    return std::make_unique<HostRecordMerge>(shape, part_elements, memory);
  }
  return std::make_unique<HostKeyMerge>(shape, part_elements, memory);
}

}  // namespace gsort::gpu
