// BufferPool: a fixed number of aligned buffers, lent to threads one at a time, so that memory is
// bounded however many threads come.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string_view>
#include <vector>

#include "io/bytes.hpp"
#include "io/memory.hpp"

namespace gsort::io {

// Thread-safe. Outlives its leases. Buffers take no memory before they are first written to.
class BufferPool {
 public:
  // Throws: Error(kResource).
  // Requires: count >= 1.
  BufferPool(std::size_t buffer_bytes, unsigned count, std::string_view purpose);

  // One buffer, until destruction.
  class Lease {
   public:
    Lease(BufferPool& pool, ByteSpan bytes) : pool_(pool), bytes_(bytes) {}
    ~Lease() { pool_.put_back(bytes_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    [[nodiscard]] ByteSpan bytes() const noexcept { return bytes_; }

   private:
    BufferPool& pool_;
    ByteSpan bytes_;
  };

  // Waits until a buffer is free.
  [[nodiscard]] Lease take();

 private:
  void put_back(ByteSpan bytes);

  Arena arena_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<ByteSpan> free_;
};

}  // namespace gsort::io
