#include "gpu/engine/shared_chunk_lane.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "engine/footprint.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/engine/device_work.hpp"
#include "gpu/engine/piece_copier.hpp"
#include "gpu/shares/shares_sort.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kCopyingIn = "copying keys to the device";

// The part of the chunk that one device holds.
struct Share {
  Share(const EngineShape& shape, int number, ByteSpan pinned, std::uint64_t devices,
        std::size_t key_bytes, std::size_t needed_scratch_bytes)
      : ordinal(current(number)),
        keys(CudaFootprint::share_elements(shape.chunk_elements, shape.block_bytes / key_bytes,
                                           devices) *
             key_bytes),
        scratch_bytes(needed_scratch_bytes),
        scratch(scratch_bytes),
        copier(make_copier(shape, ordinal, pinned, devices)),
        copied(devices * CudaFootprint::readers(shape.threads)) {}
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  // Copies may still be under way when another stage has failed; the buffers must outlive them.
  ~Share() {
    return_to_device(ordinal);
    static_cast<void>(cudaStreamSynchronize(stream.get()));
  }

  static int current(int ordinal) {
    use_device(ordinal);
    return ordinal;
  }
  static PieceCopier make_copier(const EngineShape& shape, int ordinal, ByteSpan pinned,
                                 std::uint64_t devices) {
    const unsigned putters =
        CudaFootprint::putters(static_cast<unsigned>(div_up(shape.threads, devices)),
                               CudaFootprint::kMostPutters, pinned.size());
    return {ordinal, pinned.first(putters * CudaFootprint::kPieceBytes), putters, shape.meter};
  }

  int ordinal;
  Stream stream;
  DeviceMemory keys;
  std::size_t scratch_bytes;
  DeviceMemory scratch;
  PieceCopier copier;         // also uses the memory of blocks, as in any chunk lane
  std::vector<Event> copied;  // for each block: its last copy to this device is complete
};

// Takes the pieces of one device and puts them into the sink of the lane. The sink may hold back
// the pieces of later devices until all those of earlier devices have come. Therefore each device
// counts as a thread that will put from the beginning, not only from its first piece. After a
// failure of any device, no further piece is put.
class ShareSink final : public PieceSink {
 public:
  ShareSink(PieceSink& next, std::atomic<bool>& has_failed) : next_(next), has_failed_(has_failed) {
    next_.enter();
  }
  ShareSink(const ShareSink&) = delete;
  ShareSink& operator=(const ShareSink&) = delete;
  ~ShareSink() override {
    if (!has_come_ && !has_left_) next_.leave();
  }

  void put(std::uint64_t position, ConstByteSpan keys) override {
    if (!has_failed_) next_.put(position, keys);
  }
  void abandon() noexcept override {
    has_failed_ = true;
    next_.abandon();
  }
  void enter() noexcept override {
    if (has_come_.exchange(true)) next_.enter();
  }
  void leave() noexcept override {
    has_left_ = true;
    next_.leave();
  }

 private:
  PieceSink& next_;
  std::atomic<bool>& has_failed_;
  std::atomic<bool> has_come_ = false;
  std::atomic<bool> has_left_ = false;
};

template <class Key>
class SharedChunkLane final : public ChunkLane {
 public:
  SharedChunkLane(const EngineShape& shape, const std::vector<int>& ordinals,
                  std::span<const ByteSpan> pinned)
      : map_(KeyMap<Key>::of(shape.format)),
        meter_(shape.meter),
        capacity_(shape.chunk_elements),
        stripe_elements_(CudaFootprint::stripe_elements(capacity_, shape.block_bytes / sizeof(Key),
                                                        ordinals.size())) {
    const std::uint64_t elements =
        CudaFootprint::share_elements(capacity_, shape.block_bytes / sizeof(Key), ordinals.size());
    const std::size_t scratch_bytes =
        sort_shares_scratch_bytes<Key>(elements, static_cast<std::uint32_t>(ordinals.size()));
    for (std::size_t device = 0; device < ordinals.size(); ++device) {
      shares_.push_back(std::make_unique<Share>(shape, ordinals[device], pinned[device],
                                                ordinals.size(), sizeof(Key), scratch_bytes));
    }
    for (unsigned number = 0; number < CudaFootprint::readers(shape.threads); ++number) {
      for (const ByteSpan& memory : pinned) {
        const std::uint64_t begin = CudaFootprint::kLeastPutters * CudaFootprint::kPieceBytes;
        blocks_.push_back({memory.subspan(begin + number * shape.block_bytes, shape.block_bytes),
                           std::vector<bool>(ordinals.size())});
      }
    }
    for (std::size_t block = 0; block < blocks_.size(); ++block) free_.push_back(block);
  }

  void begin(ConstByteSpan /*sample*/) override { count_ = 0; }

  [[nodiscard]] ByteSpan acquire_block() override {
    std::unique_lock lock(mutex_);
    block_freed_.wait(lock, [&] { return !free_.empty(); });
    const std::size_t number = free_.front();
    free_.pop_front();
    lock.unlock();
    Block& block = blocks_[number];
    for (std::size_t device = 0; device < shares_.size(); ++device) {
      if (!block.in_flight[device]) continue;
      use_device(shares_[device]->ordinal);
      shares_[device]->copied[number].wait(kCopyingIn);
      block.in_flight[device] = false;
    }
    return block.buffer;
  }

  void add(ByteSpan buffer, std::size_t bytes, std::uint64_t position) override {
    const std::size_t number = number_of(buffer);
    const std::uint64_t end = position + bytes / sizeof(Key);
    if (end > capacity_) {
      throw Error(ErrorKind::kUsage, "adding a block to a chunk",
                  "it reaches beyond the chunk's end");
    }
    const auto* from = reinterpret_cast<const Key*>(buffer.data());
    for (std::uint64_t at = position; at < end;) {
      const std::uint64_t here =
          std::min(end, round_down(at, stripe_elements_) + stripe_elements_) - at;
      copy_in(number, from, at, here);
      from += here;
      at += here;
    }
    count_ += end - position;
    const std::scoped_lock lock(mutex_);
    free_.push_back(number);
    block_freed_.notify_one();
  }

  void sort(KeyForm form) override {
    std::vector<DeviceShare<Key>> shares;
    for (const auto& share : shares_) {
      use_device(share->ordinal);
      share->stream.wait(kCopyingIn);
      shares.push_back({.ordinal = share->ordinal,
                        .keys = share->keys.template as<Key>(),
                        .count = count_on(shares.size()),
                        .scratch = {share->scratch.as(), share->scratch_bytes}});
    }
    sort_shares<Key>(shares, map_, form == KeyForm::kRaw ? map_ : KeyMap<Key>{});
  }

  void emit(PieceSink& sink) override {
    std::atomic<bool> has_failed = false;
    std::vector<std::uint64_t> positions = {0};
    std::deque<ShareSink> sinks;
    for (std::size_t device = 0; device < shares_.size(); ++device) {
      positions.push_back(positions.back() + count_on(device));
      sinks.emplace_back(sink, has_failed);
    }
    run_workers(static_cast<unsigned>(shares_.size()), [&](unsigned device) {
      Share& share = *shares_[device];
      const DeviceScope scope(share.ordinal);
      const std::uint64_t count = positions[device + 1] - positions[device];
      if (count == 0) return sinks[device].leave();
      share.copier.copy({share.keys.template as<std::byte>(), count, {}}, sizeof(Key),
                        positions[device], share.stream, sinks[device]);
    });
  }

 private:
  struct Block {
    ByteSpan buffer;
    std::vector<bool> in_flight;  // to each device
  };

  // How many of the added keys a device has. Stripe i is on device i % devices.
  [[nodiscard]] std::uint64_t count_on(std::size_t device) const {
    const std::uint64_t whole = count_ / stripe_elements_;
    const std::uint64_t rest = whole % shares_.size();
    const std::uint64_t stripes = whole / shares_.size() + (device < rest ? 1 : 0);
    return stripes * stripe_elements_ + (device == rest ? count_ % stripe_elements_ : 0);
  }

  [[nodiscard]] std::size_t number_of(ByteSpan buffer) const {
    const auto found = std::ranges::find(blocks_, buffer.data(),
                                         [](const Block& block) { return block.buffer.data(); });
    if (found != blocks_.end()) return static_cast<std::size_t>(found - blocks_.begin());
    throw Error(ErrorKind::kUsage, "adding a block to a chunk", "it is not one of the lane's");
  }

  // Copies keys of one stripe to its device.
  void copy_in(std::size_t number, const Key* from, std::uint64_t position, std::uint64_t count) {
    const std::uint64_t stripe = position / stripe_elements_;
    const std::size_t device = stripe % shares_.size();
    Share& share = *shares_[device];
    const std::uint64_t place =
        stripe / shares_.size() * stripe_elements_ + position % stripe_elements_;
    const DeviceScope scope(share.ordinal);
    use_device(share.ordinal);
    Span span(meter_, Stage::kCopyIn);
    span.add_bytes(count * sizeof(Key));
    check_cuda(cudaMemcpyAsync(share.keys.template as<Key>() + place, from, count * sizeof(Key),
                               cudaMemcpyHostToDevice, share.stream.get()),
               CudaCall::kCopy, kCopyingIn);
    share.copied[number].record(share.stream);
    blocks_[number].in_flight[device] = true;
  }

  KeyMap<Key> map_;
  Meter* meter_;
  std::uint64_t capacity_;
  std::uint64_t stripe_elements_;
  std::vector<std::unique_ptr<Share>> shares_;
  std::mutex mutex_;
  std::condition_variable block_freed_;
  std::vector<Block> blocks_;
  std::deque<std::size_t> free_;  // in the order they were freed: the first was copied longest ago
  std::atomic<std::uint64_t> count_ = 0;
};

}  // namespace

std::unique_ptr<ChunkLane> make_shared_chunk_lane(const EngineShape& shape,
                                                  const std::vector<int>& ordinals,
                                                  std::span<const ByteSpan> pinned) {
  if (element_bytes_of(shape) == sizeof(std::uint32_t)) {
    return std::make_unique<SharedChunkLane<std::uint32_t>>(shape, ordinals, pinned);
  }
  return std::make_unique<SharedChunkLane<std::uint64_t>>(shape, ordinals, pinned);
}

}  // namespace gsort::gpu
