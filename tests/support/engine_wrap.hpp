// Engines that do something in addition. In engines of wrap_engine, the input and output of lanes
// pass through hooks, and a hook is called before the merge phase: for engines that lie, and for
// disks that forget. Others are made from the bases, which pass on every call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "support/sorted_copy.hpp"

namespace gsort::test {

class ForwardingEngine : public Engine {
 public:
  explicit ForwardingEngine(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
  [[nodiscard]] std::string_view name() const override { return engine_->name(); }
  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    return engine_->make_chunk_lanes();
  }
  [[nodiscard]] std::vector<std::unique_ptr<MergeLane>> make_merge_lanes(
      unsigned lanes, std::uint64_t part_elements) override {
    return engine_->make_merge_lanes(lanes, part_elements);
  }
  [[nodiscard]] std::vector<std::unique_ptr<ArrayLane>> make_array_lanes(
      unsigned lanes, const ArrayShape& arrays) override {
    return engine_->make_array_lanes(lanes, arrays);
  }

 private:
  std::unique_ptr<Engine> engine_;
};

class ForwardingChunkLane : public ChunkLane {
 public:
  explicit ForwardingChunkLane(std::unique_ptr<ChunkLane> lane) : lane_(std::move(lane)) {}
  void begin(ConstByteSpan sample) override { lane_->begin(sample); }
  [[nodiscard]] ByteSpan acquire_block() override { return lane_->acquire_block(); }
  void add(ByteSpan block, std::size_t bytes, std::uint64_t position) override {
    lane_->add(block, bytes, position);
  }
  void sort(KeyForm form) override { lane_->sort(form); }
  void emit(PieceSink& sink) override { lane_->emit(sink); }

 private:
  std::unique_ptr<ChunkLane> lane_;
};

// Puts each lane into a Wrapper, made from it and `arguments`.
template <class Wrapper, class Lane, class... Arguments>
[[nodiscard]] std::vector<std::unique_ptr<Lane>> wrapped(std::vector<std::unique_ptr<Lane>> lanes,
                                                         Arguments&... arguments) {
  for (auto& lane : lanes) lane = std::make_unique<Wrapper>(std::move(lane), arguments...);
  return lanes;
}

// Sorted elements, and their position.
struct PutPiece {
  std::uint64_t position = 0;
  Bytes elements;
};

// Hooks that get the bytes of a lane are called by one thread at a time.
struct EngineHooks {
  // Changes a piece of sorted keys before it is put, or removes it (empties it). `merging` says
  // which half of the engine made it. Called by one thread at a time.
  std::function<void(bool merging, std::uint64_t position, Bytes& piece)> on_piece;
  // Changes the payloads of keys in stored form, on their way from the engine to a run, or in a
  // part, before the engine unpacks them. Without it keys are plain. Called by one thread at a
  // time.
  std::function<void(bool merging, std::span<std::byte> payloads)> on_stored;
  // Changes a put, one piece before the call: other pieces, elsewhere, more, or none. Called after
  // on_piece.
  std::function<void(bool merging, std::vector<PutPiece>& pieces)> on_put;
  // Changes a block of which `bytes` will be added to a chunk; returns the number of bytes to add.
  std::function<std::size_t(ByteSpan block, std::size_t bytes)> on_block;
  // Changes the slices in a merge lane's input before they are merged.
  std::function<void(ByteSpan slices)> on_slices;
  // Changes a sorted block of arrays; returns the result.
  std::function<ConstByteSpan(ByteSpan sorted)> on_arrays;
  // Called before merge lanes are made.
  std::function<void()> before_merge;
};

// `element_bytes` is for on_slices.
[[nodiscard]] std::unique_ptr<Engine> wrap_engine(std::unique_ptr<Engine> engine, EngineHooks hooks,
                                                  std::size_t element_bytes = 4);

}  // namespace gsort::test
