// GapWatch: stands before sinks that hold a piece back until all earlier ones have been put, and
// detects that they would wait forever: an engine has left a piece out, so that there is a gap, and
// each of its threads waits with a piece after that gap.
//
//   put         0-9   10-19   20-29   30-39      of two threads
//   thread A    done          waits              has left 10-19 out
//   thread B                          waits      no thread is left to put 10-19: an Error
//
// Threads take pieces in the order of their positions and put one before they take the next
// (engine.hpp), so a piece that is only late belongs to a thread that does not wait.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/tiling.hpp"
#include "engine/passing_sink.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {

// Thread-safe. `next` outlives it. For one sequence of pieces, from element 0 on.
class GapWatch final : public PassingSink {
 public:
  GapWatch(std::uint64_t element_bytes, PieceSink& next)
      : PassingSink(next), element_bytes_(element_bytes) {}

  // Throws: what `next` throws; Error(kCorrupt) if an earlier piece will not come.
  void put(std::uint64_t position, ConstByteSpan elements) override {
    begin(position, elements.size() / element_bytes_);
    try {
      next_.put(position, elements);
    } catch (...) {
      require_no_gap();  // `next` has been abandoned, and its Error says no more
      throw;             // no more pieces will be put, so this one may stay in `putting_`
    }
    end(position);
  }

  void enter() noexcept override {
    const std::scoped_lock lock(mutex_);
    ++threads_;
  }

  void leave() noexcept override {
    {
      const std::scoped_lock lock(mutex_);
      --threads_;
      look_for_gap();
    }
    if (has_gap_) next_.abandon();
  }

 private:
  void begin(std::uint64_t position, std::uint64_t elements) {
    {
      const std::scoped_lock lock(mutex_);
      // The proof detects elements that were put before.
      static_cast<void>(begun_.add(position, position + elements));
      putting_.push_back(position);
      look_for_gap();
    }
    if (has_gap_) next_.abandon();
  }

  void end(std::uint64_t position) {
    const std::scoped_lock lock(mutex_);
    putting_.erase(std::ranges::find(putting_, position));
  }

  void look_for_gap() {
    const std::uint64_t gap = begun_.first_gap();
    const auto waiting =
        std::ranges::count_if(putting_, [&](std::uint64_t position) { return position > gap; });
    if (waiting == 0 || static_cast<std::uint64_t>(waiting) < threads_ || has_gap_) return;
    gap_ = gap;
    has_gap_ = true;
  }

  void require_no_gap() const {
    if (!has_gap_) return;
    throw Error(ErrorKind::kCorrupt, fmt::format("sorting element {} of the output", gap_),
                "the engine put elements behind it, but not this one")
        .hint(kDamageHint);
  }

  const std::uint64_t element_bytes_;
  std::atomic<bool> has_gap_{false};  // never reset
  std::mutex mutex_;                  // guards the members below
  std::uint64_t threads_ = 0;
  std::vector<std::uint64_t> putting_;  // the beginnings of the pieces that are being put
  Tiling begun_;                        // these pieces, and all that have been put
  std::uint64_t gap_ = 0;               // its position, if there is one
};

}  // namespace gsort
