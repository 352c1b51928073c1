#include "pipeline/output/result.hpp"

namespace gsort {

// Makes the sinks from the last to the first. A set operation itself puts one of each key.
Result::Result(const Job& job, Proof& proof, PieceSink& target, const ResultRange& range)
    : first_(&target) {
  const ElementFormat element = job.shown.value_or(job.element);
  if (job.count) {
    first_ =
        &counted_.emplace(element, job.adds_counts(), job.min_count.value_or(1), proof, *first_);
  } else {
    if (job.numbered) {
      const std::size_t bytes = range.index_bytes > 0 ? range.index_bytes : job.result_bytes();
      first_ = &positions_.emplace(job.numbering(), bytes, *first_);
    }
    if (!range.is_proven_later) first_ = &proven_.emplace(proof, *first_);
    if (job.top) first_ = &limited_.emplace(*job.top, element.bytes(), proof, *first_);
    if (job.unique && !job.compares_inputs()) {
      first_ = &unique_.emplace(element, proof, *first_, range.place, range.before);
    }
  }
  if (range.begin != range.place) first_ = &placed_.emplace(range.place - range.begin, *first_);
}

}  // namespace gsort
