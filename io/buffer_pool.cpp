#include "io/buffer_pool.hpp"

#include "base/units.hpp"

namespace gsort::io {

BufferPool::BufferPool(std::size_t buffer_bytes, unsigned count, std::string_view purpose)
    : arena_(round_up(buffer_bytes, kDirectAlignment) * count, purpose) {
  const std::size_t step = round_up(buffer_bytes, kDirectAlignment);
  free_.reserve(count);
  for (unsigned i = count; i-- > 0;) free_.push_back(arena_.bytes().subspan(i * step, step));
}

BufferPool::Lease BufferPool::take() {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [this] { return !free_.empty(); });
  // The one last returned: its pages are in use and in the caches already.
  const ByteSpan bytes = free_.back();
  free_.pop_back();
  return {*this, bytes};
}

void BufferPool::put_back(ByteSpan bytes) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(bytes);
  }
  returned_.notify_one();
}

}  // namespace gsort::io
