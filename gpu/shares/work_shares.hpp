// WorkShares: jobs 0 to jobs - 1 in a row, for several workers that take one after the other. At
// first each worker has a stretch of the row, of which it takes the first job that is left. When
// its own stretch is empty, it takes the last job of the stretch that has the most left. So workers
// of the same speed keep to their stretches, and a fast one does more.
//
//   10 jobs, 2 workers    0 1 2 3 4 | 5 6 7 8 9
//   the first is fast     it takes 0 1 2 3 4, then 9 and 8; the other one takes 5 6 7
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace gsort::gpu {

// Thread-safe.
class WorkShares {
 public:
  // Requires: workers > 0.
  WorkShares(std::uint64_t jobs, std::size_t workers);

  struct Job {
    std::uint64_t number = 0;
    bool is_own = false;  // of the worker's stretch
  };
  // The worker's next job; none if no job is left.
  [[nodiscard]] std::optional<Job> take(std::size_t worker);

  // From now on no job is left.
  void stop();

 private:
  struct Stretch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    [[nodiscard]] std::uint64_t left() const { return end - begin; }
  };

  std::mutex mutex_;
  std::vector<Stretch> stretches_;
};

}  // namespace gsort::gpu
