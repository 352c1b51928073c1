#include "io/runs/run_tier.hpp"

#include <algorithm>

#include "io/system/bytes.hpp"

namespace gsort::io {

RunTier::RunTier(TierMemory* memory, std::uint64_t buffers, std::uint64_t buffer_bytes)
    : memory_(memory), buffer_bytes_(buffer_bytes), live_bytes_(buffers, 0) {
  // Takes low numbers first: memory that is never needed is never touched.
  free_.reserve(buffers);
  for (std::uint64_t left = buffers; left > 0; --left) {
    free_.push_back(static_cast<std::uint32_t>(left - 1));
  }
}

std::optional<std::uint64_t> RunTier::append(ConstByteSpan buffer) {
  std::unique_lock lock(mutex_);
  if (free_.empty()) return std::nullopt;
  const std::uint32_t place = free_.back();
  free_.pop_back();
  lock.unlock();
  const std::uint64_t offset = place * buffer_bytes_;
  try {
    memory_->put(offset, buffer);
  } catch (...) {
    lock.lock();
    free_.push_back(place);
    throw;
  }
  lock.lock();
  live_bytes_[place] = static_cast<std::uint32_t>(buffer.size());
  bytes_kept_ += buffer.size();
  return offset;
}

ConstByteSpan RunTier::read(std::uint64_t offset, std::size_t bytes, ByteSpan scratch) const {
  const ByteSpan read = scratch.subspan(offset % kDirectAlignment, bytes);
  memory_->get(offset, read);
  return read;
}

void RunTier::release(std::uint64_t offset, std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  while (bytes > 0) {
    const std::uint64_t place = offset / buffer_bytes_;
    const std::uint64_t here = std::min(bytes, (place + 1) * buffer_bytes_ - offset);
    live_bytes_[place] -= static_cast<std::uint32_t>(here);
    if (live_bytes_[place] == 0) free_.push_back(static_cast<std::uint32_t>(place));
    offset += here;
    bytes -= here;
  }
}

}  // namespace gsort::io
