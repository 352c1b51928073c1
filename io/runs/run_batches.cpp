#include "io/runs/run_batches.hpp"

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

RunBatches::RunBatches(RunFiles& files, RunTier& tier, const RunBatchSizes& sizes)
    : files_(files),
      tier_(tier),
      sizes_(sizes),
      memory_(sizes.batch_bytes * (sizes.open_buffers + sizes.kept_buffers), "runs"),
      live_bytes_(sizes.open_buffers + sizes.kept_buffers, 0) {
  // The first one is lent first: a buffer that was never needed is never touched.
  for (std::size_t left = live_bytes_.size(); left > 0; --left) {
    free_.push_back(memory_.bytes().subspan((left - 1) * sizes.batch_bytes, sizes.batch_bytes));
  }
}

RunBatch& RunBatches::open(std::uint64_t run, RunIndex& index, std::uint64_t position) {
  Lock lock(mutex_);
  while (true) {
    if (RunBatch* const next = idle_batch_before(run, position)) {
      next->is_open = true;
      return *next;
    }
    if (batches_.size() < sizes_.open_buffers) {
      RunBatch& batch = *batches_.emplace_back(std::make_unique<RunBatch>());
      batch.run = run;
      batch.index = &index;
      batch.buffer = free_.back();
      batch.is_open = true;
      free_.pop_back();
      return batch;
    }
    if (RunBatch* const oldest = oldest_idle_batch()) {
      store(*oldest, lock);
    } else {
      changed_.wait(lock);
    }
  }
}

void RunBatches::put_back(RunBatch& batch) {
  Lock lock(mutex_);
  if (batch.room().size() < sizes_.block_bytes) {
    store(batch, lock);
  } else {
    batch.is_open = false;
    changed_.notify_all();
  }
}

void RunBatches::drop(RunBatch& batch) noexcept {
  const Lock lock(mutex_);
  free_buffer(batch.buffer);
  remove(batch);
}

void RunBatches::close(std::uint64_t run) {
  Lock lock(mutex_);
  while (true) {
    wait_for_others(run, lock);
    const auto found =
        std::ranges::find(batches_, run, [](const auto& batch) { return batch->run; });
    if (found == batches_.end()) return;
    store(**found, lock);
  }
}

void RunBatches::discard(std::uint64_t run) noexcept {
  Lock lock(mutex_);
  wait_for_others(run, lock);
  std::erase_if(batches_, [&](const std::unique_ptr<RunBatch>& batch) {
    if (batch->run != run) return false;
    free_buffer(batch->buffer);
    return true;
  });
}

// A thread of another run may be storing a batch of this one, to get its buffer.
void RunBatches::wait_for_others(std::uint64_t run, Lock& lock) {
  changed_.wait(lock, [&] {
    return std::ranges::none_of(batches_, [&](const std::unique_ptr<RunBatch>& batch) {
      return batch->run == run && batch->is_open;
    });
  });
}

ConstByteSpan RunBatches::kept(std::uint64_t offset, std::size_t bytes) const {
  return memory_.bytes().subspan(offset, bytes);
}

void RunBatches::release(std::uint64_t offset, std::uint64_t bytes) noexcept {
  const std::size_t buffer = offset / sizes_.batch_bytes;
  const Lock lock(mutex_);
  live_bytes_[buffer] -= bytes;
  if (live_bytes_[buffer] > 0) return;
  --kept_count_;
  free_buffer(memory_.bytes().subspan(buffer * sizes_.batch_bytes, sizes_.batch_bytes));
}

// The one that ends nearest before `position`.
RunBatch* RunBatches::idle_batch_before(std::uint64_t run, std::uint64_t position) {
  RunBatch* nearest = nullptr;
  for (const auto& batch : batches_) {
    if (batch->is_open || batch->run != run || batch->next_position > position) continue;
    if (nearest == nullptr || nearest->next_position < batch->next_position) nearest = batch.get();
  }
  return nearest;
}

// The one whose next piece is likeliest not to come: the least position of the earliest run.
RunBatch* RunBatches::oldest_idle_batch() {
  RunBatch* oldest = nullptr;
  for (const auto& batch : batches_) {
    if (batch->is_open) continue;
    if (oldest == nullptr || std::pair(batch->run, batch->next_position) <
                                 std::pair(oldest->run, oldest->next_position)) {
      oldest = batch.get();
    }
  }
  return oldest;
}

// Leaves the batch in memory or writes it; either way it is gone afterwards.
void RunBatches::store(RunBatch& batch, Lock& lock) {
  batch.is_open = true;
  try {
    lock.unlock();
    const bool is_in_tier = keep_in_tier(batch);
    lock.lock();
    if (is_in_tier) {
      free_buffer(batch.buffer);
    } else if (kept_count_ < sizes_.kept_buffers) {
      keep(batch);
    } else {
      lock.unlock();
      write(batch);
      lock.lock();
      free_buffer(batch.buffer);
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    free_buffer(batch.buffer);
    remove(batch);  // or others would wait for it
    throw;
  }
  remove(batch);
}

bool RunBatches::keep_in_tier(RunBatch& batch) {
  const std::optional<std::uint64_t> offset = tier_.append(batch.buffer.first(batch.used_bytes));
  if (offset) add_to_index(batch, kInTier, *offset);
  return offset.has_value();
}

void RunBatches::write(RunBatch& batch) {
  // The last block takes the padding: what lies behind it is never anybody else's.
  const std::size_t end = round_up(batch.used_bytes, kDirectAlignment);
  std::memset(batch.room().data(), 0, end - batch.used_bytes);
  batch.entries.back().stored_bytes += static_cast<std::uint32_t>(end - batch.used_bytes);
  const BatchPlace place = files_.append(batch.buffer.first(end), batch.run);
  add_to_index(batch, place.folder, place.offset);
}

void RunBatches::keep(RunBatch& batch) {
  const auto offset = static_cast<std::uint64_t>(batch.buffer.data() - memory_.data());
  add_to_index(batch, kInMemory, offset);
  ++kept_count_;
  live_bytes_[offset / sizes_.batch_bytes] = batch.used_bytes;
  bytes_kept_ += batch.used_bytes;
}

void RunBatches::add_to_index(RunBatch& batch, std::uint32_t folder, std::uint64_t offset) {
  for (BlockEntry& entry : batch.entries) {
    entry.folder = folder;
    entry.offset += offset;
  }
  batch.index->add(batch.entries);
}

void RunBatches::free_buffer(ByteSpan buffer) {
  free_.push_back(buffer);
  changed_.notify_all();
}

void RunBatches::remove(RunBatch& batch) {
  std::erase_if(batches_, [&](const auto& other) { return other.get() == &batch; });
  changed_.notify_all();
}

}  // namespace gsort::io
