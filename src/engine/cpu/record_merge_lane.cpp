#include "engine/cpu/record_merge_lane.hpp"

#include <algorithm>
#include <numeric>

#include "engine/cpu/lane_memory.hpp"
#include "engine/record_footprint.hpp"

namespace gsort::cpu {

RecordMergeLane::RecordMergeLane(const EngineShape& shape, std::uint64_t part_elements,
                                 ByteSpan memory)
    : order_(*shape.records) {
  const auto footprint = CpuRecordMergeFootprint::of(part_elements, order_.record_bytes());
  LaneMemory layout(memory);
  input_ = layout.take(footprint.part_bytes);
  const ByteSpan entries = layout.take(footprint.entries_bytes);
  entries_ = {reinterpret_cast<RecordEntry*>(entries.data()), entries.size() / sizeof(RecordEntry)};
  piece_ = layout.take(footprint.piece_bytes);
}

void RecordMergeLane::merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position,
                            KeyForm /*form*/, PieceSink& sink) {
  const std::size_t record_bytes = order_.record_bytes();
  const auto count = std::accumulate(slice_counts.begin(), slice_counts.end(), std::uint64_t{0});
  enter_records(entries_.first(count), order_, input_.data());
  sort_entries(entries_.first(count), order_, input_.data());
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t now = std::min<std::uint64_t>(piece_.size() / record_bytes, count - done);
    gather_records(entries_.subspan(done, now), record_bytes, input_.data(), piece_.data());
    sink.put(position + done, piece_.first(now * record_bytes));
    done += now;
  }
}

}  // namespace gsort::cpu
