#include "gpu/cuda_lanes.hpp"

#include "base/error.hpp"
#include "base/footprint.hpp"
#include "gpu/cuda_check.hpp"
#include "gpu/device_merge.hpp"
#include "gpu/device_sort.hpp"

namespace gsort::gpu {
namespace {

constexpr std::uint64_t kPieceMemory = CudaFootprint::kPutters * CudaFootprint::kPieceBytes;

// What a merge of a full part may need beside its input and output, for any number of slices.
template <class Key>
std::uint64_t merge_scratch_bytes(std::uint64_t part_elements) {
  const std::uint64_t part_bytes = part_elements * sizeof(Key);
  return CudaFootprint::part_device_bytes(part_bytes) - 2 * part_bytes;
}

}  // namespace

template <class Key>
CudaChunkLane<Key>::CudaChunkLane(const EngineShape& shape, int ordinal, ByteSpan pinned)
    : ordinal_(ordinal),
      meter_(shape.meter),
      map_(KeyMap<Key>::of(shape.format)),
      capacity_(shape.chunk_elements),
      scratch_bytes_(sort_keys_scratch_bytes<Key>(shape.chunk_elements)),
      keys_(shape.chunk_elements * sizeof(Key)),
      scratch_(scratch_bytes_),
      copier_(ordinal, pinned.first(kPieceMemory), CudaFootprint::kPutters, shape.meter) {
  pinned = pinned.subspan(kPieceMemory);
  for (unsigned block = 0; block < shape.threads; ++block) {
    blocks_.push_back(
        {pinned.subspan(block * shape.block_bytes, shape.block_bytes), Event(), false});
  }
  for (Block& block : blocks_) free_.push_back(&block);
}

template <class Key>
CudaChunkLane<Key>::~CudaChunkLane() {
  // Copies may still be under way when another stage has failed; the buffers must outlive them.
  static_cast<void>(cudaStreamSynchronize(stream_.get()));
}

template <class Key>
void CudaChunkLane<Key>::begin(ConstByteSpan /*sample*/) {
  count_ = 0;
}

template <class Key>
ByteSpan CudaChunkLane<Key>::acquire_block() {
  use_device(ordinal_);
  std::unique_lock lock(mutex_);
  block_freed_.wait(lock, [&] { return !free_.empty(); });
  Block& block = *free_.front();
  free_.pop_front();
  lock.unlock();
  if (block.in_flight) block.copied.wait("copying keys to the device");
  block.in_flight = false;
  return block.buffer;
}

template <class Key>
void CudaChunkLane<Key>::add(ByteSpan buffer, std::size_t bytes, std::uint64_t position) {
  use_device(ordinal_);
  Block& block = block_at(buffer.data());
  const std::scoped_lock lock(mutex_);
  if (bytes > 0) {
    if (position + bytes / sizeof(Key) > capacity_) {
      throw Error(ErrorKind::kUsage, "adding a block to a chunk",
                  "it reaches beyond the chunk's end");
    }
    Span span(meter_, Stage::kCopyIn);
    span.add_bytes(bytes);
    check_cuda(cudaMemcpyAsync(keys_.as<Key>() + position, buffer.data(), bytes,
                               cudaMemcpyHostToDevice, stream_.get()),
               CudaCall::kCopy, "copying keys to the device");
    block.copied.record(stream_);
    block.in_flight = true;
    count_ += bytes / sizeof(Key);
  }
  free_.push_back(&block);
  block_freed_.notify_one();
}

template <class Key>
auto CudaChunkLane<Key>::block_at(const std::byte* buffer) -> Block& {
  for (Block& block : blocks_) {
    if (block.buffer.data() == buffer) return block;
  }
  throw Error(ErrorKind::kUsage, "adding a block to a chunk", "it is not one of the lane's");
}

template <class Key>
void CudaChunkLane<Key>::sort(KeyForm form) {
  use_device(ordinal_);
  sort_keys<Key>(keys_.as<Key>(), keys_.as<Key>(), count_, map_,
                 form == KeyForm::kRaw ? map_ : KeyMap<Key>{}, scratch_.as(), scratch_bytes_,
                 stream_.get());
}

template <class Key>
void CudaChunkLane<Key>::emit(PieceSink& sink) {
  copier_.copy(keys_.as<std::byte>(), count_ * sizeof(Key), sizeof(Key), 0, stream_, sink);
}

template <class Key>
CudaMergeLane<Key>::CudaMergeLane(const EngineShape& shape, int ordinal,
                                  std::uint64_t part_elements, ByteSpan pinned)
    : ordinal_(ordinal),
      meter_(shape.meter),
      map_(KeyMap<Key>::of(shape.format)),
      input_(pinned.subspan(kPieceMemory, part_elements * sizeof(Key))),
      slices_(part_elements * sizeof(Key)),
      result_(part_elements * sizeof(Key)),
      scratch_bytes_(merge_scratch_bytes<Key>(part_elements)),
      scratch_(scratch_bytes_),
      copier_(ordinal, pinned.first(kPieceMemory), CudaFootprint::kPutters, shape.meter) {}

template <class Key>
CudaMergeLane<Key>::~CudaMergeLane() {
  static_cast<void>(cudaStreamSynchronize(stream_.get()));
}

template <class Key>
void CudaMergeLane<Key>::merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position,
                               KeyForm form, PieceSink& sink) {
  use_device(ordinal_);
  std::uint64_t total = 0;
  for (const std::uint64_t count : slice_counts) total += count;
  {
    Span span(meter_, Stage::kCopyIn);
    span.add_bytes(total * sizeof(Key));
    check_cuda(cudaMemcpyAsync(slices_.as<Key>(), input_.data(), total * sizeof(Key),
                               cudaMemcpyHostToDevice, stream_.get()),
               CudaCall::kCopy, "copying slices to the device");
  }
  merge_slices<Key>(slices_.as<Key>(), slice_counts.data(),
                    static_cast<std::uint32_t>(slice_counts.size()), result_.as<Key>(),
                    form == KeyForm::kRaw ? map_ : KeyMap<Key>{}, scratch_.as(), scratch_bytes_,
                    stream_.get());
  copier_.copy(result_.as<std::byte>(), total * sizeof(Key), sizeof(Key), position, stream_, sink);
}

template class CudaChunkLane<std::uint32_t>;
template class CudaChunkLane<std::uint64_t>;
template class CudaMergeLane<std::uint32_t>;
template class CudaMergeLane<std::uint64_t>;

}  // namespace gsort::gpu
