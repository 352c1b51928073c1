#include "support/engine_wrap.hpp"

#include <mutex>
#include <numeric>
#include <utility>

#include "engine/passing_sink.hpp"

namespace gsort::test {
namespace {

// Hooks that lanes share, one call at a time.
struct SharedHooks {
  EngineHooks hooks;
  std::mutex mutex;
};

class HookedSink final : public PassingSink, public BlockSink {
 public:
  HookedSink(SharedHooks& shared, bool merging, PieceSink& next)
      : PassingSink(next), shared_(shared), merging_(merging) {}
  void put(std::uint64_t position, ConstByteSpan keys) override {
    std::vector<PutPiece> pieces = {{position, Bytes(keys.begin(), keys.end())}};
    if (shared_.hooks.on_piece || shared_.hooks.on_put) {
      const std::scoped_lock lock(shared_.mutex);
      if (shared_.hooks.on_piece) shared_.hooks.on_piece(merging_, position, pieces[0].elements);
      if (shared_.hooks.on_put) shared_.hooks.on_put(merging_, pieces);
    }
    for (const PutPiece& piece : pieces) {
      if (!piece.elements.empty()) next_.put(piece.position, piece.elements);
    }
  }
  [[nodiscard]] BlockSink* block_sink() override {
    return shared_.hooks.on_stored && next_.block_sink() != nullptr ? this : nullptr;
  }
  [[nodiscard]] std::uint64_t block_elements() const override {
    return next_.block_sink()->block_elements();
  }
  [[nodiscard]] Packing packing() const override { return next_.block_sink()->packing(); }
  void put_blocks(std::uint64_t position, const StoredBlocks& blocks) override {
    Bytes payloads(blocks.payloads.begin(), blocks.payloads.end());
    {
      const std::scoped_lock lock(shared_.mutex);
      shared_.hooks.on_stored(false, payloads);
    }
    next_.block_sink()->put_blocks(position, {blocks.count, blocks.block_bytes, payloads});
  }

 private:
  SharedHooks& shared_;
  bool merging_;
};

class HookedChunkLane final : public ForwardingChunkLane {
 public:
  HookedChunkLane(std::unique_ptr<ChunkLane> lane, SharedHooks& shared)
      : ForwardingChunkLane(std::move(lane)), shared_(shared) {}
  void add(ByteSpan block, std::size_t bytes, std::uint64_t position) override {
    if (shared_.hooks.on_block && bytes > 0) {
      const std::scoped_lock lock(shared_.mutex);
      bytes = shared_.hooks.on_block(block, bytes);
    }
    ForwardingChunkLane::add(block, bytes, position);
  }
  void emit(PieceSink& sink) override {
    HookedSink hooked(shared_, false, sink);
    ForwardingChunkLane::emit(hooked);
  }

 private:
  SharedHooks& shared_;
};

class HookedMergeLane final : public MergeLane, public StoredMerger {
 public:
  HookedMergeLane(std::unique_ptr<MergeLane> lane, std::size_t element_bytes, SharedHooks& shared)
      : lane_(std::move(lane)), element_bytes_(element_bytes), shared_(shared) {}
  [[nodiscard]] ByteSpan input() override { return lane_->input(); }
  void merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position, KeyForm form,
             PieceSink& sink) override {
    if (shared_.hooks.on_slices) {
      const std::uint64_t elements =
          std::accumulate(slice_counts.begin(), slice_counts.end(), std::uint64_t{0});
      const std::scoped_lock lock(shared_.mutex);
      shared_.hooks.on_slices(lane_->input().first(elements * element_bytes_));
    }
    HookedSink hooked(shared_, true, sink);
    lane_->merge(slice_counts, position, form, hooked);
  }
  [[nodiscard]] StoredMerger* stored_merger() override {
    return shared_.hooks.on_stored && lane_->stored_merger() != nullptr ? this : nullptr;
  }
  [[nodiscard]] bool takes(std::size_t slices, std::uint64_t stored_bytes,
                           std::uint64_t bytes) const override {
    return lane_->stored_merger()->takes(slices, stored_bytes, bytes);
  }
  void merge_stored(std::span<const std::uint64_t> slice_counts, std::span<const StoredKeys> pieces,
                    std::uint64_t position, KeyForm form, PieceSink& sink) override {
    const auto table = std::as_bytes(pieces).data() - lane_->input().data();
    {
      const std::scoped_lock lock(shared_.mutex);
      shared_.hooks.on_stored(true, lane_->input().first(static_cast<std::size_t>(table)));
    }
    HookedSink hooked(shared_, true, sink);
    lane_->stored_merger()->merge_stored(slice_counts, pieces, position, form, hooked);
  }

 private:
  std::unique_ptr<MergeLane> lane_;
  std::size_t element_bytes_;
  SharedHooks& shared_;
};

class HookedArrayLane final : public ArrayLane {
 public:
  HookedArrayLane(std::unique_ptr<ArrayLane> lane, SharedHooks& shared)
      : lane_(std::move(lane)), shared_(shared) {}
  [[nodiscard]] ByteSpan input() override { return lane_->input(); }
  [[nodiscard]] ConstByteSpan sort(std::size_t bytes) override {
    const ConstByteSpan sorted = lane_->sort(bytes);
    if (!shared_.hooks.on_arrays) return sorted;
    sorted_.assign(sorted.begin(), sorted.end());
    const std::scoped_lock lock(shared_.mutex);
    return shared_.hooks.on_arrays(sorted_);
  }

 private:
  std::unique_ptr<ArrayLane> lane_;
  SharedHooks& shared_;
  Bytes sorted_;
};

class HookedEngine final : public ForwardingEngine {
 public:
  HookedEngine(std::unique_ptr<Engine> engine, std::size_t element_bytes, EngineHooks hooks)
      : ForwardingEngine(std::move(engine)),
        element_bytes_(element_bytes),
        shared_{std::move(hooks), {}} {}
  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    return wrapped<HookedChunkLane>(ForwardingEngine::make_chunk_lanes(), shared_);
  }
  [[nodiscard]] std::vector<std::unique_ptr<MergeLane>> make_merge_lanes(
      unsigned count, std::uint64_t part_elements) override {
    if (shared_.hooks.before_merge) shared_.hooks.before_merge();
    return wrapped<HookedMergeLane>(ForwardingEngine::make_merge_lanes(count, part_elements),
                                    element_bytes_, shared_);
  }
  [[nodiscard]] std::vector<std::unique_ptr<ArrayLane>> make_array_lanes(
      unsigned count, const ArrayShape& arrays) override {
    return wrapped<HookedArrayLane>(ForwardingEngine::make_array_lanes(count, arrays), shared_);
  }

 private:
  std::size_t element_bytes_;
  SharedHooks shared_;
};

}  // namespace

std::unique_ptr<Engine> wrap_engine(std::unique_ptr<Engine> engine, EngineHooks hooks,
                                    std::size_t element_bytes) {
  return std::make_unique<HookedEngine>(std::move(engine), element_bytes, std::move(hooks));
}

}  // namespace gsort::test
