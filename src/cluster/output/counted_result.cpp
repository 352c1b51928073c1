#include "cluster/output/counted_result.hpp"

#include <algorithm>
#include <optional>

#include "cluster/output/counted_sinks.hpp"
#include "cluster/output/result_sink.hpp"
#include "pipeline/output/sinks.hpp"
#include "pipeline/output/unique_sink.hpp"

namespace gsort::cluster {
namespace {

OutputRange share_behind(std::uint64_t begin, std::uint64_t end, unsigned rank, unsigned ranks) {
  const std::uint64_t left = end - begin;
  return {begin + share_begin(left, rank, ranks), begin + share_begin(left, rank + 1, ranks)};
}

}  // namespace

std::vector<std::uint64_t> starts_of_distinct(const KeyCounts& counts, const KeyFormat& key) {
  const auto map = KeyMap<std::uint16_t>::classes_of(key);  // no others have classes
  std::vector<std::uint64_t> starts;
  std::uint64_t elements = 0;
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const std::size_t of_class = map.class_of_ordered(static_cast<std::uint16_t>(i));
    if (last != of_class) starts.push_back(elements);
    last = of_class;
    elements += counts[i];
  }
  starts.push_back(elements);
  return starts;
}

void CountedResult::put_range(OutputRange range, PieceSink& sink) const {
  put_counted(plan_, counts_, range, nullptr, memory_, sink);
}

void CountedResult::put(const Job& job, OutputRange own) const {
  LastSink last;
  if (own.begin > 0) put_range({own.begin - 1, own.begin}, last);
  ResultSink sink(job, proof_, output_, {own.begin, last.element()});
  put_range(own, sink);
}

void CountedResult::leave_out(std::uint64_t result, unsigned rank, unsigned ranks) const {
  const OutputRange share = share_behind(
      result, std::max(result, starts_of_distinct(counts_, plan_.job.element.key).back()), rank,
      ranks);
  if (!proof_.enabled()) return proof_.add_left_out({share.elements()}, 0);
  BeyondSink sink(proof_);
  put_range(share, sink);
}

void CountedResult::put_distinct(const Job& job, const std::vector<std::uint64_t>& starts,
                                 OutputRange own) const {
  ResultSink sink(job, proof_, output_, {starts[own.begin], {}, own.begin});
  put_range({starts[own.begin], starts[own.end]}, sink);
}

void CountedResult::leave_out_distinct(const Job& job, const std::vector<std::uint64_t>& starts,
                                       std::uint64_t result, unsigned rank, unsigned ranks) const {
  const OutputRange share = share_behind(result, starts.size() - 1, rank, ranks);
  BeyondSink beyond(proof_);
  OffsetSink placed(share.begin, beyond);
  UniqueSink sink(job.element.key, proof_, placed, starts[share.begin]);
  put_range({starts[share.begin], starts[share.end]}, sink);
}

}  // namespace gsort::cluster
