#include "support/engine_wrap.hpp"

#include <mutex>
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
    Bytes piece(keys.begin(), keys.end());
    if (shared_.hooks.on_piece) {
      const std::scoped_lock lock(shared_.mutex);
      shared_.hooks.on_piece(merging_, position, piece);
    }
    if (!piece.empty()) next_.put(position, piece);
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
  HookedMergeLane(std::unique_ptr<MergeLane> lane, SharedHooks& shared)
      : lane_(std::move(lane)), shared_(shared) {}
  [[nodiscard]] ByteSpan input() override { return lane_->input(); }
  void merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position, KeyForm form,
             PieceSink& sink) override {
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
  SharedHooks& shared_;
};

class HookedEngine final : public Engine {
 public:
  HookedEngine(std::unique_ptr<Engine> engine, EngineHooks hooks)
      : engine_(std::move(engine)), shared_{std::move(hooks), {}} {}
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
      lanes.push_back(std::make_unique<HookedMergeLane>(std::move(lane), shared_));
    }
    return lanes;
  }
  [[nodiscard]] std::vector<std::unique_ptr<ArrayLane>> make_array_lanes(
      unsigned count, const ArrayShape& arrays) override {
    return engine_->make_array_lanes(count, arrays);
  }

 private:
  std::unique_ptr<Engine> engine_;
  SharedHooks shared_;
};

}  // namespace

std::unique_ptr<Engine> wrap_engine(std::unique_ptr<Engine> engine, EngineHooks hooks) {
  return std::make_unique<HookedEngine>(std::move(engine), std::move(hooks));
}

}  // namespace gsort::test
