#include "support/engine_wrap.hpp"

#include <mutex>
#include <numeric>
#include <utility>

namespace gsort::test {
namespace {

// Hooks that lanes share, one call at a time.
struct SharedHooks {
  EngineHooks hooks;
  std::mutex mutex;
};

class HookedSink final : public PieceSink, public BlockSink {
 public:
  HookedSink(SharedHooks& shared, bool merging, PieceSink& next)
      : shared_(shared), merging_(merging), next_(next) {}
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
  void abandon() noexcept override { next_.abandon(); }
  void enter() noexcept override { next_.enter(); }
  void leave() noexcept override { next_.leave(); }

 private:
  SharedHooks& shared_;
  bool merging_;
  PieceSink& next_;
};

class HookedChunkLane final : public ChunkLane {
 public:
  HookedChunkLane(std::unique_ptr<ChunkLane> lane, SharedHooks& shared)
      : lane_(std::move(lane)), shared_(shared) {}
  void begin(ConstByteSpan sample) override { lane_->begin(sample); }
  [[nodiscard]] ByteSpan acquire_block() override { return lane_->acquire_block(); }
  void add(ByteSpan block, std::size_t bytes, std::uint64_t position) override {
    if (shared_.hooks.on_block && bytes > 0) {
      const std::scoped_lock lock(shared_.mutex);
      bytes = shared_.hooks.on_block(block, bytes);
    }
    lane_->add(block, bytes, position);
  }
  void sort(KeyForm form) override { lane_->sort(form); }
  void emit(PieceSink& sink) override {
    HookedSink hooked(shared_, false, sink);
    lane_->emit(hooked);
  }

 private:
  std::unique_ptr<ChunkLane> lane_;
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

class HookedEngine final : public Engine {
 public:
  HookedEngine(std::unique_ptr<Engine> engine, std::size_t element_bytes, EngineHooks hooks)
      : engine_(std::move(engine)), element_bytes_(element_bytes), shared_{std::move(hooks), {}} {}
  [[nodiscard]] std::string_view name() const override { return engine_->name(); }
  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    std::vector<std::unique_ptr<ChunkLane>> lanes;
    for (auto& lane : engine_->make_chunk_lanes()) {
      lanes.push_back(std::make_unique<HookedChunkLane>(std::move(lane), shared_));
    }
    return lanes;
  }
  [[nodiscard]] std::vector<std::unique_ptr<MergeLane>> make_merge_lanes(
      unsigned count, std::uint64_t part_elements) override {
    if (shared_.hooks.before_merge) shared_.hooks.before_merge();
    std::vector<std::unique_ptr<MergeLane>> lanes;
    for (auto& lane : engine_->make_merge_lanes(count, part_elements)) {
      lanes.push_back(std::make_unique<HookedMergeLane>(std::move(lane), element_bytes_, shared_));
    }
    return lanes;
  }
  [[nodiscard]] std::vector<std::unique_ptr<ArrayLane>> make_array_lanes(
      unsigned count, const ArrayShape& arrays) override {
    std::vector<std::unique_ptr<ArrayLane>> lanes;
    for (auto& lane : engine_->make_array_lanes(count, arrays)) {
      lanes.push_back(std::make_unique<HookedArrayLane>(std::move(lane), shared_));
    }
    return lanes;
  }

 private:
  std::unique_ptr<Engine> engine_;
  std::size_t element_bytes_;
  SharedHooks shared_;
};

}  // namespace

std::unique_ptr<Engine> wrap_engine(std::unique_ptr<Engine> engine, EngineHooks hooks,
                                    std::size_t element_bytes) {
  return std::make_unique<HookedEngine>(std::move(engine), element_bytes, std::move(hooks));
}

}  // namespace gsort::test
