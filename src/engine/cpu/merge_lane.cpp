#include "engine/cpu/merge_lane.hpp"

#include <algorithm>

#include "element/key_loops.hpp"
#include "element/kway_split.hpp"
#include "engine/cpu/cache_sort.hpp"
#include "engine/cpu/key_map_of.hpp"
#include "engine/cpu/lane_memory.hpp"

namespace gsort::cpu {

template <class Key>
CpuMergeLane<Key>::CpuMergeLane(const EngineShape& shape, std::uint64_t part_elements,
                                ByteSpan memory)
    : map_(map_of<Key>(shape)), keys_are_records_(shape.records.has_value()) {
  const auto footprint = CpuMergeFootprint::of(part_elements, sizeof(Key));
  LaneMemory layout(memory);
  const auto keys = [&](std::uint64_t bytes) {
    return std::span<Key>(reinterpret_cast<Key*>(layout.take(bytes).data()), bytes / sizeof(Key));
  };
  input_ = layout.take(footprint.part_bytes);
  stretch_ = keys(footprint.stretch_bytes);
  scratch_ = keys(footprint.stretch_bytes);
}

template <class Key>
void CpuMergeLane<Key>::merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position,
                              KeyForm form, PieceSink& sink) {
  std::vector<Slice> slices;
  auto* next = reinterpret_cast<Key*>(input_.data());
  std::uint64_t total = 0;
  for (const std::uint64_t count : slice_counts) {
    if (count > 0) slices.push_back({next, count});
    next += count;
    total += count;
  }
  if (keys_are_records_) {
    const std::span<Key> all(reinterpret_cast<Key*>(input_.data()), total);
    map_to_ordered<Key>(all, all, map_);
    form = KeyForm::kRaw;
  }
  cuts_.assign(slices.size(), 0);
  std::vector<std::uint64_t> begin(slices.size(), 0);
  for (std::uint64_t done = 0; done < total;) {
    const std::uint64_t end = std::min<std::uint64_t>(done + stretch_.size(), total);
    begin = cuts_;
    advance_cuts(slices, end);
    const std::span<Key> keys = merge_stretch(slices, begin, end - done);
    if (form == KeyForm::kRaw && !map_.is_identity()) map_to_raw<Key>(keys, keys, map_);
    sink.put(position + done, std::as_bytes(keys));
    done = end;
  }
}

template <class Key>
std::span<Key> CpuMergeLane<Key>::merge_stretch(const std::vector<Slice>& slices,
                                                const std::vector<std::uint64_t>& begin,
                                                std::uint64_t count) {
  const std::span<Key> keys = stretch_.first(count);
  std::size_t gathered = 0;
  bool in_order = true;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const std::span<Key> part(slices[i].keys + begin[i], cuts_[i] - begin[i]);
    if (part.empty()) continue;
    if (part.size() == count) return part;
    in_order = in_order && (gathered == 0 || keys[gathered - 1] <= part.front());
    std::ranges::copy(part, keys.subspan(gathered).begin());
    gathered += part.size();
  }
  if (!in_order) cache_sort(keys, scratch_.first(count));
  return keys;
}

template <class Key>
void CpuMergeLane<Key>::advance_cuts(const std::vector<Slice>& slices, std::uint64_t end) {
  Key least = static_cast<Key>(~Key{0});
  Key greatest = 0;
  high_.resize(slices.size());
  probe_.resize(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    high_[i] = slices[i].count;
    if (cuts_[i] == slices[i].count) continue;
    least = std::min(least, slices[i].keys[cuts_[i]]);
    greatest = std::max(greatest, slices[i].keys[slices[i].count - 1]);
  }
  kway_split<Key, std::uint64_t>(
      end, static_cast<std::uint32_t>(slices.size()), least, greatest, cuts_.data(), high_.data(),
      probe_.data(),
      [&](Key value, const std::uint64_t* low, const std::uint64_t* high, std::uint64_t* counts) {
        for (std::size_t i = 0; i < slices.size(); ++i) {
          counts[i] = upper_bound_in(slices[i].keys, low[i], high[i], value);
        }
      });
}

template class CpuMergeLane<std::uint32_t>;
template class CpuMergeLane<std::uint64_t>;
template class CpuMergeLane<UInt128>;

}  // namespace gsort::cpu
