#include "pipeline/part_queue.hpp"

#include <algorithm>

namespace gsort {

std::vector<std::uint64_t> Part::counts() const {
  std::vector<std::uint64_t> counts(begin.size());
  for (std::size_t run = 0; run < begin.size(); ++run) counts[run] = end[run] - begin[run];
  return counts;
}

PartQueue::PartQueue(PartSplitter splitter, OutputRange range, const MergePlan& sizes)
    : splitter_(std::move(splitter)),
      left_(range),
      sizes_(sizes),
      cuts_(splitter_.cuts_at(range.begin)) {}

std::optional<Part> PartQueue::take() {
  const std::scoped_lock lock(mutex_);
  if (left_.elements() == 0) return std::nullopt;
  const std::uint64_t end = left_.begin + next_elements();
  Part part{{left_.begin, end}, cuts_, splitter_.cuts_at(end)};
  cuts_ = part.end;
  left_.begin = end;
  return part;
}

std::uint64_t PartQueue::next_elements() const {
  const std::uint64_t half_share = left_.elements() / (std::uint64_t{2} * sizes_.lanes);
  return std::min(std::clamp(half_share, sizes_.least_part_elements, sizes_.part_elements),
                  left_.elements());
}

SpaceReturn::SpaceReturn(std::span<io::Run> runs, std::uint64_t begin) : runs_(runs), done_(begin) {
  for (const io::Run& run : runs) total_ += run.elements();
}

void SpaceReturn::done(const Part& part) {
  const std::vector<std::uint64_t> ends = ends_to_release(part);
  // Under another lock than done() takes, because punching a hole in a file takes some time.
  const std::scoped_lock lock(releasing_);
  for (std::size_t run = 0; run < ends.size(); ++run) runs_[run].release_before(ends[run]);
}

std::vector<std::uint64_t> SpaceReturn::ends_to_release(const Part& part) {
  const std::scoped_lock lock(mutex_);
  waiting_.emplace(part.range.begin, part);
  for (auto next = waiting_.begin(); next != waiting_.end() && next->first == done_;
       next = waiting_.erase(next)) {
    done_ = next->second.range.end;
    done_ends_ = std::move(next->second.end);
  }
  if (done_ < total_ && done_ - released_ < total_ / kReleases) return {};
  released_ = done_;
  return done_ends_;
}

}  // namespace gsort
