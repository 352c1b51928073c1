#include "gpu/shares/work_shares.hpp"

#include <algorithm>

namespace gsort::gpu {

WorkShares::WorkShares(std::uint64_t jobs, std::size_t workers) {
  const std::uint64_t each = jobs / workers;
  const std::uint64_t more = jobs % workers;  // stretches that have one job more
  std::uint64_t begin = 0;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    const std::uint64_t end = begin + each + (worker < more ? 1 : 0);
    stretches_.push_back({begin, end});
    begin = end;
  }
}

std::optional<WorkShares::Job> WorkShares::take(std::size_t worker) {
  const std::scoped_lock lock(mutex_);
  Stretch& own = stretches_[worker];
  if (own.left() > 0) return Job{own.begin++, true};
  Stretch& longest = *std::ranges::max_element(stretches_, {}, &Stretch::left);
  if (longest.left() == 0) return std::nullopt;
  return Job{--longest.end, false};
}

void WorkShares::stop() {
  const std::scoped_lock lock(mutex_);
  for (Stretch& stretch : stretches_) stretch.begin = stretch.end;
}

}  // namespace gsort::gpu
