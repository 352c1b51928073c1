// WrittenPlaces: which bytes of a file have been written. A File notes here the bytes that the
// kernel has just taken, at the offset that was given to the kernel (file.hpp). So faults in code
// that cuts, joins, buffers or moves pieces are found before the file gets its name: a byte left
// out, put twice or put elsewhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/tiling.hpp"

namespace gsort::io {

// For misplaced(): the state of the output, and the reason.
inline constexpr std::string_view kDiscarded = "the output was discarded, the input is unchanged";
inline constexpr std::string_view kOfNoUse = "do not use the output";

inline constexpr const char* kOverlap = "data overlaps earlier data here";
inline constexpr const char* kMissing = "data is missing here";
inline constexpr const char* kPastEnd = "data was written past the end";

// The Error for data that is missing, or was written to a wrong place: a defect of gsort. `remains`
// is the part of the hint that says in which state the output is.
[[nodiscard]] inline Error misplaced(std::string reason, const std::string& path,
                                     std::string_view remains,
                                     std::string_view operation = "verifying what was written to") {
  return Error(ErrorKind::kCorrupt, std::string(operation), std::move(reason))
      .path(path)
      .hint(fmt::format("this is a bug in gsort, please report it; {}", remains));
}

// Thread-safe.
class WrittenPlaces {
 public:
  // Returns false if any of [offset, offset + bytes) has been written before.
  [[nodiscard]] bool add(std::uint64_t offset, std::uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    return places_.add(offset, offset + bytes);
  }

  // The least size of the file, which this process has written or grown to `end`.
  [[nodiscard]] std::uint64_t end() const { return end_; }
  void note_end(std::uint64_t end) {
    std::uint64_t before = end_;
    while (before < end && !end_.compare_exchange_weak(before, end)) {
    }
  }

  // Whether all of [0, bytes), and nothing after it, has been written.
  [[nodiscard]] bool covers(std::uint64_t bytes) const {
    const std::scoped_lock lock(mutex_);
    return places_.covers(bytes);
  }

  // For a file that other processes write, too. The message names it as `path`; `remains` is as for
  // misplaced(). Throws: Error(kCorrupt) unless [begin, end), and nothing else, was written.
  void require_only(std::uint64_t begin, std::uint64_t end, const std::string& path,
                    std::string_view remains) {
    if (add(0, begin) && covers(end)) return;
    throw misplaced("data is missing, or lies elsewhere", path, remains);
  }

  // The offset of the first byte that has not been written.
  [[nodiscard]] std::uint64_t first_gap() const {
    const std::scoped_lock lock(mutex_);
    return places_.first_gap();
  }

 private:
  mutable std::mutex mutex_;
  Tiling places_;
  std::atomic<std::uint64_t> end_{0};
};

}  // namespace gsort::io
