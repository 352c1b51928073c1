#include "cluster/output/counted_result.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "pipeline/output/result.hpp"
#include "pipeline/share/share_range.hpp"

namespace gsort::cluster {
namespace {

OutputRange share_behind(std::uint64_t begin, std::uint64_t end, unsigned rank, unsigned ranks) {
  const OutputRange share = share_of(end - begin, rank, ranks);
  return {begin + share.begin, begin + share.end};
}

// Where these elements of the output are in the order of all.
OutputRange elements_of(const Starts& starts, OutputRange range) {
  return starts.empty() ? range : OutputRange{starts[range.begin], starts[range.end]};
}

// Keeps the one element that is put.
class LastSink final : public PieceSink {
 public:
  void put(std::uint64_t /*position*/, ConstByteSpan element) override {
    element_.assign(element.begin(), element.end());
  }
  [[nodiscard]] ConstByteSpan element() const { return element_; }

 private:
  std::vector<std::byte> element_;
};

}  // namespace

Starts starts_of_distinct(const KeyCounts& counts, const KeyFormat& key) {
  const auto map = KeyMap<std::uint16_t>::classes_of(key);  // only 16-bit floats have classes
  Starts starts;
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
  put_counted(plan, counts, range, nullptr, memory, sink);
}

void CountedResult::put(const Job& job, const Starts& starts, OutputRange own) const {
  const OutputRange elements = elements_of(starts, own);
  LastSink last;
  if (elements.begin > 0) put_range({elements.begin - 1, elements.begin}, last);
  const bool is_own_file = job.unique && starts.empty();
  Result result(job, proof, output, {elements.begin, is_own_file ? 0 : own.begin, last.element()});
  put_range(elements, result.sink());
}

void CountedResult::leave_out(Job job, const Starts& starts, std::uint64_t result, unsigned rank,
                              unsigned ranks) const {
  const std::uint64_t all = starts.empty()
                                ? std::accumulate(counts.begin(), counts.end(), std::uint64_t{0})
                                : starts.size() - 1;
  const OutputRange share = share_behind(result, std::max(result, all), rank, ranks);
  if (starts.empty() && !proof.enabled()) return proof.add_left_out({share.elements()}, UInt128{0});
  const OutputRange elements = elements_of(starts, share);
  job.top = result;
  Result beyond(job, proof, output, {elements.begin, share.begin});
  put_range(elements, beyond.sink());
}

}  // namespace gsort::cluster
