// RateWindow: the best rate that a stage has reached, from samples of its totals.
//
// A rate is taken over windows that are long compared with one transfer. A transfer that was under
// way when the window began counts as a whole when it ends: that is negligible in a window of 64
// transfers, but could be everything in a window of one.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gsort {

class RateWindow {
 public:
  static constexpr std::uint64_t kLeastNs = 100'000'000;
  static constexpr std::uint64_t kLeastSpans = 64;

  // Begins again with the totals of `now_ns`.
  void begin(std::uint64_t now_ns, std::uint64_t bytes, std::uint64_t spans) {
    begin_ns_ = now_ns;
    bytes_ = bytes;
    spans_ = spans;
    best_ = 0;
  }

  // Takes the totals again; ends the window and begins the next one if this one is long enough.
  void look(std::uint64_t now_ns, std::uint64_t bytes, std::uint64_t spans) {
    if (now_ns - begin_ns_ < kLeastNs || spans - spans_ < kLeastSpans) return;
    const double rate =
        static_cast<double>(bytes - bytes_) * 1e9 / static_cast<double>(now_ns - begin_ns_);
    const double best = std::max(best_, rate);
    begin(now_ns, bytes, spans);
    best_ = best;
  }

  // Bytes a second; 0 until a window has ended.
  [[nodiscard]] double best() const { return best_; }

 private:
  std::uint64_t begin_ns_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t spans_ = 0;
  double best_ = 0;
};

}  // namespace gsort
