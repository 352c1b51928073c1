// Sinks that check how they are used: the bytes and places of pieces, their order, and failures.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "engine/engine.hpp"
#include "support/sorted_copy.hpp"

namespace gsort::test {

// Keeps everything in a poisoned buffer, and reports elements that are put twice, not at all, or
// outside [first, first + count).
class CollectingSink final : public PieceSink {
 public:
  CollectingSink(std::uint64_t count, std::uint64_t element_bytes, std::uint64_t first = 0)
      : element_bytes_(element_bytes),
        first_(first),
        bytes_(count * element_bytes, std::byte{0xa5}),
        seen_(count, false) {}

  void put(std::uint64_t position, ConstByteSpan keys) override {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t count = keys.size() / element_bytes_;
    if (keys.size() % element_bytes_ != 0) complain("half a key", position);
    if (position < first_ || position - first_ + count > seen_.size()) {
      return complain("keys outside the sequence", position);
    }
    for (std::uint64_t i = position - first_; i < position - first_ + count; ++i) {
      if (seen_[i]) complain("a key twice", i);
      seen_[i] = true;
    }
    if (!keys.empty()) {
      std::memcpy(bytes_.data() + (position - first_) * element_bytes_, keys.data(), keys.size());
    }
  }

  // The bytes that were put, when all have been put; the first error otherwise.
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }
  [[nodiscard]] std::string complaint() const {
    if (!complaint_.empty()) return complaint_;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (!seen_[i]) return "a key never: " + std::to_string(i);
    }
    return "";
  }

 private:
  void complain(const std::string& what, std::uint64_t position) {
    if (complaint_.empty()) complaint_ = what + ": " + std::to_string(position);
  }

  std::uint64_t element_bytes_;
  std::uint64_t first_;
  Bytes bytes_;
  std::vector<bool> seen_;
  std::mutex mutex_;
  std::string complaint_;
};

// Like a stream, holds a call back until all earlier pieces have been put, or until abandon().
// Fails the piece that holds element `failing`; a failure wakes no thread: the engine must do that.
class StreamSink final : public PieceSink {
 public:
  static constexpr const char* kFailure = "failed as the test wanted";
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  StreamSink(std::uint64_t element_bytes, std::uint64_t first = 0, std::uint64_t failing = kNever)
      : element_bytes_(element_bytes), next_(first), failing_(failing) {}

  void put(std::uint64_t position, ConstByteSpan keys) override {
    std::unique_lock lock(mutex_);
    ++waiting_;
    turn_.wait(lock, [&] { return abandoned_ || position == next_; });
    --waiting_;
    if (abandoned_) throw Error(ErrorKind::kOutput, "writing", "was given up");
    const std::uint64_t end = position + keys.size() / element_bytes_;
    if (position <= failing_ && failing_ < end) {
      throw Error(ErrorKind::kOutput, "writing", kFailure);
    }
    bytes_.insert(bytes_.end(), keys.begin(), keys.end());
    next_ = end;
    turn_.notify_all();
  }

  // Returns when the waiting calls have failed, so that the caller's failure does not become known
  // first, unless the caller takes care of that.
  void abandon() noexcept override {
    {
      const std::scoped_lock lock(mutex_);
      abandoned_ = true;
      turn_.notify_all();
    }
    while (waiting_ > 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

  [[nodiscard]] const Bytes& bytes() const { return bytes_; }
  [[nodiscard]] bool was_abandoned() const { return abandoned_; }

 private:
  std::uint64_t element_bytes_;
  std::uint64_t next_;
  std::uint64_t failing_;
  std::mutex mutex_;
  std::condition_variable turn_;
  Bytes bytes_;
  std::atomic<int> waiting_{0};
  bool abandoned_ = false;
};

}  // namespace gsort::test
