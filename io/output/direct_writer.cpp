#include "io/output/direct_writer.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "base/units.hpp"
#include "io/system/written_places.hpp"

namespace gsort::io {

DirectWriter::DirectWriter(const File& cached, File direct, const WriteWindows& windows)
    : window_bytes_(windows.bytes),
      cached_(cached),
      direct_(std::move(direct)),
      arena_(windows.count * windows.bytes, "the output's buffers") {
  for (unsigned i = 0; i < windows.count; ++i) free_.push_back(arena_.data() + i * windows.bytes);
  threads_.reserve(kThreads);
  try {
    while (threads_.size() < kThreads) threads_.emplace_back([this] { write_full_windows(); });
  } catch (const std::exception&) {
    // No thread, or no memory for one. Fewer threads suffice; without any, the thread that fills a
    // window writes it.
  }
}

DirectWriter::~DirectWriter() {
  stop();
}

void DirectWriter::put(std::uint64_t offset, ConstByteSpan bytes) {
  while (!bytes.empty()) {
    if (failure_.failed()) failure_.rethrow();
    const std::size_t into = offset % window_bytes_;
    std::size_t count = std::min(bytes.size(), window_bytes_ - into);
    if (into == 0 && count == window_bytes_ && is_aligned(bytes.data())) {
      count = round_down(bytes.size(), window_bytes_);
      write_pages(offset, bytes.first(count));
    } else {
      put_in_window(offset, bytes.first(count));
    }
    bytes = bytes.subspan(count);
    offset += count;
  }
}

void DirectWriter::put_in_window(std::uint64_t offset, ConstByteSpan bytes) {
  if (std::byte* const buffer = claim(offset, bytes.size())) {
    std::memcpy(buffer + offset % window_bytes_, bytes.data(), bytes.size());
  } else {
    cached_.write_full_at(bytes, offset);
  }
  note_filled(offset, bytes.size());
}

// Claims a place in a window, which it opens if necessary, and returns the window's buffer. Waits
// for a buffer if one will become free.
std::byte* DirectWriter::claim(std::uint64_t offset, std::size_t bytes) {
  const std::uint64_t number = offset / window_bytes_;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return open_.contains(number) || !free_.empty() || (full_.empty() && being_written_ == 0) ||
           failure_.failed();
  });
  failure_.rethrow();
  const auto [window, is_new] = open_.try_emplace(number);
  if (is_new && !free_.empty()) {
    window->second.buffer = free_.back();
    free_.pop_back();
  }
  const std::size_t begin = offset % window_bytes_;
  if (!window->second.claimed.add(begin, begin + bytes)) {
    throw misplaced(kOverlap, cached_.path(), kDiscarded, "writing").at(offset);
  }
  return window->second.buffer;
}

void DirectWriter::note_filled(std::uint64_t offset, std::size_t bytes) {
  std::unique_lock lock(mutex_);
  const auto found = open_.find(offset / window_bytes_);
  Window& window = found->second;
  window.filled += bytes;
  if (window.filled != window_bytes_) return;
  const FullWindow full{round_down(offset, window_bytes_), window.buffer};
  open_.erase(found);
  if (full.buffer == nullptr) return;
  if (threads_.empty()) {
    lock.unlock();
    write_window(full);
  } else {
    full_.push_back(full);
    changed_.notify_all();
  }
}

void DirectWriter::write_full_windows() {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !full_.empty() || stopped_; });
    if (stopped_) return;
    const FullWindow window = full_.front();
    full_.pop_front();
    ++being_written_;
    lock.unlock();
    try {
      if (!failure_.failed()) write_window(window);
    } catch (...) {
      failure_.capture();
    }
    lock.lock();
    --being_written_;
    changed_.notify_all();
  }
}

void DirectWriter::write_window(const FullWindow& window) {
  write_pages(window.offset, ConstByteSpan(window.buffer, window_bytes_));
  const std::scoped_lock lock(mutex_);
  free_.push_back(window.buffer);
}

void DirectWriter::write_pages(std::uint64_t offset, ConstByteSpan pages) {
  std::size_t moved = 0;
  if (!refused_ && direct_.write_direct_at(pages, offset, moved)) return;
  refused_ = true;
  cached_.write_full_at(pages.subspan(moved), offset + moved);
}

void DirectWriter::finish() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return full_.empty() && being_written_ == 0; });
  }
  stop();
  failure_.rethrow();
  for (const auto& [number, window] : open_) {
    const std::uint64_t offset = number * window_bytes_;
    const std::size_t bytes = window.claimed.first_gap();
    if (!window.claimed.covers(bytes)) {
      throw misplaced(kMissing, cached_.path(), kDiscarded, "writing").at(offset + bytes);
    }
    if (window.buffer != nullptr) cached_.write_full_at({window.buffer, bytes}, offset);
  }
  open_.clear();
  direct_.close();
}

void DirectWriter::stop() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  threads_.clear();
}

}  // namespace gsort::io
