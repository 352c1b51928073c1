// WriteQueue: many threads write to one file, and only one of them at a time calls the kernel.
//
// Problem. A file in the page cache takes one write at a time: the kernel holds the file's lock
// meanwhile. A thread that waits for this lock mostly spins, so threads that all write keep all
// cores busy.
//
// Idea. A thread that finds no other one writing writes its own bytes, and then those of all
// threads that have arrived meanwhile, in order of their offsets. These sleep until their bytes are
// written. So no thread waits for the file's lock, and none is woken between two writes. Nothing is
// copied: bytes that wait are in the buffers of the threads that wait.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>

#include "io/system/bytes.hpp"

namespace gsort::io {

// Thread-safe.
class WriteQueue {
 public:
  using WriteAt = std::function<void(std::uint64_t offset, ConstByteSpan bytes)>;

  // `write_at` is called by one thread at a time.
  explicit WriteQueue(WriteAt write_at) : write_at_(std::move(write_at)) {}

  // Returns when the bytes are written. Throws: what write_at throws for these bytes.
  void write(std::uint64_t offset, ConstByteSpan bytes);

  // The number of threads that wait for another one to write their bytes.
  [[nodiscard]] std::size_t waiting();

 private:
  struct Entry {
    std::uint64_t offset;
    ConstByteSpan bytes;
    Entry* next = nullptr;
    bool is_done = false;
    std::exception_ptr failure{};
    std::condition_variable done{};
  };

  void wait_for(Entry& entry, std::unique_lock<std::mutex>& lock);
  void write_all_from(Entry& entry, std::unique_lock<std::mutex>& lock);

  const WriteAt write_at_;
  std::mutex mutex_;
  bool is_writing_ = false;
  Entry* first_ = nullptr;  // of the waiting threads
};

}  // namespace gsort::io
