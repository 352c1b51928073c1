#include "gpu/engine/cuda_lanes.hpp"

#include <numeric>

#include "base/error.hpp"
#include "engine/device_losses.hpp"
#include "engine/footprint.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/engine/host_merge.hpp"

namespace gsort::gpu {
namespace {

constexpr std::uint64_t kPieceMemory = CudaFootprint::kLeastPutters * CudaFootprint::kPieceBytes;

// In all of a lane's memory: when pieces go out, what was there on the way in is on the device.
PieceCopier make_copier(const EngineShape& shape, int ordinal, ByteSpan pinned, unsigned most) {
  const unsigned putters = CudaFootprint::putters(shape.threads, most, pinned.size());
  return {ordinal, pinned.first(putters * CudaFootprint::kPieceBytes), putters, shape.meter};
}

}  // namespace

CudaChunkLane::CudaChunkLane(const EngineShape& shape, int ordinal, ByteSpan pinned)
    : ordinal_(ordinal),
      meter_(shape.meter),
      element_bytes_(element_bytes_of(shape)),
      capacity_(shape.chunk_elements),
      sorter_(make_chunk_sorter(shape)),
      copier_(make_copier(shape, ordinal, pinned,
                          shape.chunk_lanes > 1 ? CudaFootprint::kMostPuttersOfSeveral
                                                : CudaFootprint::kMostPutters)) {
  pinned = pinned.subspan(kPieceMemory);
  for (unsigned block = 0; block < CudaFootprint::readers(shape.threads); ++block) {
    blocks_.push_back(
        {pinned.subspan(block * shape.block_bytes, shape.block_bytes), Event(), false});
  }
  for (Block& block : blocks_) free_.push_back(&block);
}

CudaChunkLane::~CudaChunkLane() {
  return_to_device(ordinal_);
  // Copies may still be under way when another stage has failed; the buffers must outlive them.
  static_cast<void>(cudaStreamSynchronize(stream_.get()));
}

void CudaChunkLane::begin(ConstByteSpan /*sample*/) {
  count_ = 0;
}

ByteSpan CudaChunkLane::acquire_block() {
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

void CudaChunkLane::add(ByteSpan buffer, std::size_t bytes, std::uint64_t position) {
  use_device(ordinal_);
  Block& block = block_at(buffer.data());
  const std::scoped_lock lock(mutex_);
  if (bytes > 0) {
    if (position + bytes / element_bytes_ > capacity_) {
      throw Error(ErrorKind::kUsage, "adding a block to a chunk",
                  "it reaches beyond the chunk's end");
    }
    Span span(meter_, Stage::kCopyIn);
    span.add_bytes(bytes);
    check_cuda(cudaMemcpyAsync(sorter_->input() + position * element_bytes_, buffer.data(), bytes,
                               cudaMemcpyHostToDevice, stream_.get()),
               CudaCall::kCopy, "copying keys to the device");
    block.copied.record(stream_);
    block.in_flight = true;
    count_ += bytes / element_bytes_;
  }
  free_.push_back(&block);
  block_freed_.notify_one();
}

auto CudaChunkLane::block_at(const std::byte* buffer) -> Block& {
  for (Block& block : blocks_) {
    if (block.buffer.data() == buffer) return block;
  }
  throw Error(ErrorKind::kUsage, "adding a block to a chunk", "it is not one of the lane's");
}

void CudaChunkLane::sort(KeyForm form) {
  use_device(ordinal_);
  sorted_ = sorter_->sort(count_, form, stream_);
}

void CudaChunkLane::emit(PieceSink& sink) {
  copier_.copy(sorted_, element_bytes_, 0, stream_, sink);
}

CudaMergeLane::CudaMergeLane(const EngineShape& shape, int ordinal, std::uint64_t part_elements,
                             ByteSpan pinned)
    : shape_(shape),
      ordinal_(ordinal),
      part_elements_(part_elements),
      element_bytes_(element_bytes_of(shape)),
      pinned_(pinned),
      input_(pinned.subspan(kPieceMemory, part_elements * element_bytes_)) {
  if (shape_.losses == nullptr) static_cast<void>(on_device());
}

CudaMergeLane::OnDevice::OnDevice(const CudaMergeLane& lane)
    : merger(make_part_merger(lane.shape_, lane.part_elements_)),
      copier(make_copier(lane.shape_, lane.ordinal_, lane.pinned_,
                         CudaFootprint::kMostPuttersOfSeveral)) {}

CudaMergeLane::~CudaMergeLane() {
  leave_device();
}

auto CudaMergeLane::on_device() -> OnDevice& {
  use_device(ordinal_);
  if (!on_device_) on_device_ = std::make_unique<OnDevice>(*this);
  return *on_device_;
}

// Copies may still be under way when another stage has failed; the buffers must outlive them.
void CudaMergeLane::leave_device() {
  if (!on_device_) return;
  return_to_device(ordinal_);
  static_cast<void>(cudaStreamSynchronize(on_device_->stream.get()));
  on_device_.reset();
}

bool CudaMergeLane::is_without_device() {
  if (!host_ && shape_.losses != nullptr && shape_.losses->loss_of(ordinal_)) {
    leave_device();
    host_ = make_host_merge_lane(shape_, part_elements_, pinned_);
  }
  return host_ != nullptr;
}

bool CudaMergeLane::go_on_without(const DeviceError& failure) {
  if (host_ || shape_.losses == nullptr || failure.ordinal() != ordinal_) return false;
  leave_device();
  host_ = make_host_merge_lane(shape_, part_elements_, pinned_);
  shape_.losses->add(failure, DoneAgain::kParts);
  return true;
}

StoredMerger* CudaMergeLane::stored_merger() {
  return host_ || on_device().merger->stored_input() == nullptr ? nullptr : this;
}

void CudaMergeLane::merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position,
                          KeyForm form, PieceSink& sink) {
  if (host_) return host_->merge(slice_counts, position, form, sink);
  auto& [stream, merger, copier] = on_device();
  const std::uint64_t bytes = slice_bytes(slice_counts);
  copy_in(merger->input(), bytes, bytes);
  copier.copy(merger->merge(slice_counts, form, stream), element_bytes_, position, stream, sink);
}

void CudaMergeLane::merge_stored(std::span<const std::uint64_t> slice_counts,
                                 std::span<const StoredKeys> pieces, std::uint64_t position,
                                 KeyForm form, PieceSink& sink) {
  auto& [stream, merger, copier] = on_device();
  const ConstByteSpan table = std::as_bytes(pieces);
  const auto table_begin = static_cast<std::uint64_t>(table.data() - input_.data());
  copy_in(merger->stored_input(), table_begin + table.size(), slice_bytes(slice_counts));
  merger->unpack(table_begin, pieces.size(), stream);
  copier.copy(merger->merge(slice_counts, form, stream), element_bytes_, position, stream, sink);
}

std::uint64_t CudaMergeLane::slice_bytes(std::span<const std::uint64_t> slice_counts) const {
  return std::accumulate(slice_counts.begin(), slice_counts.end(), std::uint64_t{0}) *
         element_bytes_;
}

void CudaMergeLane::copy_in(std::byte* to, std::uint64_t bytes, std::uint64_t element_bytes) {
  use_device(ordinal_);
  Span span(shape_.meter, Stage::kCopyIn);
  span.add_bytes(element_bytes, bytes);
  check_cuda(
      cudaMemcpyAsync(to, input_.data(), bytes, cudaMemcpyHostToDevice, on_device_->stream.get()),
      CudaCall::kCopy, "copying slices to the device");
}

CudaArrayLane::CudaArrayLane(const EngineShape& shape, int ordinal, const ArrayShape& arrays,
                             ByteSpan pinned)
    : ordinal_(ordinal),
      meter_(shape.meter),
      block_(pinned),
      sorter_(make_array_sorter(shape, arrays)) {}

CudaArrayLane::~CudaArrayLane() {
  return_to_device(ordinal_);
  static_cast<void>(cudaStreamSynchronize(stream_.get()));
}

ConstByteSpan CudaArrayLane::sort(std::size_t bytes) {
  use_device(ordinal_);
  {
    Span span(meter_, Stage::kCopyIn);
    span.add_bytes(bytes);
    check_cuda(cudaMemcpyAsync(sorter_->block(), block_.data(), bytes, cudaMemcpyHostToDevice,
                               stream_.get()),
               CudaCall::kCopy, "copying arrays to the device");
  }
  sorter_->sort(bytes, stream_);
  Span span(meter_, Stage::kCopyOut);
  span.add_bytes(bytes);
  check_cuda(cudaMemcpyAsync(block_.data(), sorter_->block(), bytes, cudaMemcpyDeviceToHost,
                             stream_.get()),
             CudaCall::kCopy, "copying arrays from the device");
  stream_.wait("copying arrays from the device");
  return block_.first(bytes);
}

}  // namespace gsort::gpu
