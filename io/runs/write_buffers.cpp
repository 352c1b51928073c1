#include "io/runs/write_buffers.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/units.hpp"

namespace gsort::io {

void RunIndex::add(const std::vector<BlockEntry>& entries) {
  const std::scoped_lock lock(mutex_);
  entries_.insert(entries_.end(), entries.begin(), entries.end());
}

std::vector<BlockEntry> RunIndex::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(entries_, {});
}

WriteBuffers::WriteBuffers(RunFiles& files, RunTier& tier, const WriteBufferSizes& sizes)
    : files_(files),
      tier_(tier),
      sizes_(sizes),
      memory_(sizes.buffer_bytes * (sizes.open_buffers + sizes.kept_buffers), "runs"),
      live_bytes_(sizes.open_buffers + sizes.kept_buffers, 0) {
  // Takes low numbers first: memory that is never needed is never touched.
  for (std::size_t left = live_bytes_.size(); left > 0; --left) {
    free_.push_back(memory_.bytes().subspan((left - 1) * sizes.buffer_bytes, sizes.buffer_bytes));
  }
}

WriteBuffer& WriteBuffers::open(std::uint64_t run, RunIndex& index, std::uint64_t position) {
  Lock lock(mutex_);
  while (true) {
    if (WriteBuffer* const next = idle_buffer_before(run, position)) {
      next->is_open = true;
      return *next;
    }
    if (buffers_.size() < sizes_.open_buffers) {
      WriteBuffer& buffer = *buffers_.emplace_back(std::make_unique<WriteBuffer>());
      buffer.run = run;
      buffer.index = &index;
      buffer.memory = free_.back();
      buffer.is_open = true;
      free_.pop_back();
      return buffer;
    }
    if (WriteBuffer* const oldest = oldest_idle_buffer()) {
      store(*oldest, lock);
    } else {
      changed_.wait(lock);
    }
  }
}

void WriteBuffers::put_back(WriteBuffer& buffer, bool is_full) {
  Lock lock(mutex_);
  if (is_full) {
    store(buffer, lock);
  } else {
    buffer.is_open = false;
    changed_.notify_all();
  }
}

void WriteBuffers::drop(WriteBuffer& buffer) noexcept {
  const Lock lock(mutex_);
  free_memory(buffer.memory);
  remove(buffer);
}

void WriteBuffers::close(std::uint64_t run) {
  Lock lock(mutex_);
  while (true) {
    wait_for_others(run, lock);
    const auto found =
        std::ranges::find(buffers_, run, [](const auto& buffer) { return buffer->run; });
    if (found == buffers_.end()) return;
    store(**found, lock);
  }
}

void WriteBuffers::discard(std::uint64_t run) noexcept {
  Lock lock(mutex_);
  wait_for_others(run, lock);
  std::erase_if(buffers_, [&](const std::unique_ptr<WriteBuffer>& buffer) {
    if (buffer->run != run) return false;
    free_memory(buffer->memory);
    return true;
  });
}

// A thread of another run may be storing a buffer of this one, to get its memory.
void WriteBuffers::wait_for_others(std::uint64_t run, Lock& lock) {
  changed_.wait(lock, [&] {
    return std::ranges::none_of(buffers_, [&](const std::unique_ptr<WriteBuffer>& buffer) {
      return buffer->run == run && buffer->is_open;
    });
  });
}

ConstByteSpan WriteBuffers::kept(std::uint64_t offset, std::size_t bytes) const {
  return memory_.bytes().subspan(offset, bytes);
}

void WriteBuffers::release(std::uint64_t offset, std::uint64_t bytes) noexcept {
  const std::size_t buffer = offset / sizes_.buffer_bytes;
  const Lock lock(mutex_);
  live_bytes_[buffer] -= bytes;
  if (live_bytes_[buffer] > 0) return;
  --kept_count_;
  free_memory(memory_.bytes().subspan(buffer * sizes_.buffer_bytes, sizes_.buffer_bytes));
}

// The idle buffer of the run with the nearest end before `position`.
WriteBuffer* WriteBuffers::idle_buffer_before(std::uint64_t run, std::uint64_t position) {
  WriteBuffer* nearest = nullptr;
  for (const auto& buffer : buffers_) {
    if (buffer->is_open || buffer->run != run || buffer->next_position > position) continue;
    if (nearest == nullptr || nearest->next_position < buffer->next_position)
      nearest = buffer.get();
  }
  return nearest;
}

// The idle buffer that is least likely to get another piece: that with the least position of the
// earliest run.
WriteBuffer* WriteBuffers::oldest_idle_buffer() {
  WriteBuffer* oldest = nullptr;
  for (const auto& buffer : buffers_) {
    if (buffer->is_open) continue;
    if (oldest == nullptr || std::pair(buffer->run, buffer->next_position) <
                                 std::pair(oldest->run, oldest->next_position)) {
      oldest = buffer.get();
    }
  }
  return oldest;
}

// Leaves the buffer in memory or writes it; either way it is gone afterwards.
void WriteBuffers::store(WriteBuffer& buffer, Lock& lock) {
  buffer.is_open = true;
  try {
    lock.unlock();
    const bool is_in_tier = keep_in_tier(buffer);
    lock.lock();
    if (is_in_tier) {
      free_memory(buffer.memory);
    } else if (kept_count_ < sizes_.kept_buffers) {
      keep(buffer);
    } else {
      lock.unlock();
      write(buffer);
      lock.lock();
      free_memory(buffer.memory);
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    free_memory(buffer.memory);
    remove(buffer);  // or others would wait for it
    throw;
  }
  remove(buffer);
}

bool WriteBuffers::keep_in_tier(WriteBuffer& buffer) {
  const std::optional<std::uint64_t> offset = tier_.append(buffer.memory.first(buffer.used_bytes));
  if (offset) add_to_index(buffer, kInTier, *offset);
  return offset.has_value();
}

void WriteBuffers::write(WriteBuffer& buffer) {
  // The padding counts to the last block: no other block follows it.
  const std::size_t end = round_up(buffer.used_bytes, kDirectAlignment);
  std::memset(buffer.room().data(), 0, end - buffer.used_bytes);
  buffer.entries.back().stored_bytes += static_cast<std::uint32_t>(end - buffer.used_bytes);
  const FilePlace place = files_.append(buffer.memory.first(end), buffer.run);
  add_to_index(buffer, place.folder, place.offset);
}

void WriteBuffers::keep(WriteBuffer& buffer) {
  const auto offset = static_cast<std::uint64_t>(buffer.memory.data() - memory_.data());
  add_to_index(buffer, kInMemory, offset);
  ++kept_count_;
  live_bytes_[offset / sizes_.buffer_bytes] = buffer.used_bytes;
  bytes_kept_ += buffer.used_bytes;
}

void WriteBuffers::add_to_index(WriteBuffer& buffer, std::uint32_t folder, std::uint64_t offset) {
  for (BlockEntry& entry : buffer.entries) {
    entry.folder = folder;
    entry.offset += offset;
  }
  buffer.index->add(buffer.entries);
}

void WriteBuffers::free_memory(ByteSpan memory) {
  free_.push_back(memory);
  changed_.notify_all();
}

void WriteBuffers::remove(WriteBuffer& buffer) {
  std::erase_if(buffers_, [&](const auto& other) { return other.get() == &buffer; });
  changed_.notify_all();
}

}  // namespace gsort::io
