#include "io/output/write_queue.hpp"

namespace gsort::io {

void WriteQueue::write(std::uint64_t offset, ConstByteSpan bytes) {
  Entry entry{.offset = offset, .bytes = bytes};
  {
    std::unique_lock lock(mutex_);
    is_writing_ ? wait_for(entry, lock) : write_all_from(entry, lock);
  }
  if (entry.failure) std::rethrow_exception(entry.failure);
}

std::size_t WriteQueue::waiting() {
  const std::scoped_lock lock(mutex_);
  std::size_t count = 0;
  for (const Entry* entry = first_; entry != nullptr; entry = entry->next) ++count;
  return count;
}

void WriteQueue::wait_for(Entry& entry, std::unique_lock<std::mutex>& lock) {
  Entry** place = &first_;
  while (*place != nullptr && (*place)->offset < entry.offset) place = &(*place)->next;
  entry.next = *place;
  *place = &entry;
  entry.done.wait(lock, [&] { return entry.is_done; });
}

// Writes this entry, then the waiting ones until there are none. Takes the lock again for each,
// because an entry is destroyed as soon as its thread sees that it is done.
void WriteQueue::write_all_from(Entry& entry, std::unique_lock<std::mutex>& lock) {
  is_writing_ = true;
  for (Entry* next = &entry; next != nullptr;) {
    lock.unlock();
    try {
      write_at_(next->offset, next->bytes);
    } catch (...) {
      next->failure = std::current_exception();
    }
    lock.lock();
    next->is_done = true;
    next->done.notify_one();
    next = first_;
    if (next != nullptr) first_ = next->next;
  }
  is_writing_ = false;
}

}  // namespace gsort::io
