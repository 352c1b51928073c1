#include "engine/cpu/merge_lane.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "element/key_loops.hpp"
#include "element/kway_split.hpp"
#include "engine/cpu/cache_sort.hpp"
#include "engine/cpu/lane_memory.hpp"
#include "engine/key_map_of.hpp"

namespace gsort::cpu {
namespace {

constexpr int kGuesses = 3;

// upper_bound_in, for a bound that is expected near `low`.
template <class Key>
std::uint64_t upper_bound_near(const Key* keys, std::uint64_t low, std::uint64_t high, Key value) {
  for (std::uint64_t step = 1; step <= high - low; step *= 2) {
    if (value < keys[low + step - 1]) return upper_bound_in(keys, low, low + step - 1, value);
    low += step;
  }
  return upper_bound_in(keys, low, high, value);
}

// value + step, but no greater than any key. Requires: step >= 0.
template <class Key>
Key advanced(Key value, double step) {
  constexpr Key kGreatest = static_cast<Key>(~Key{0});
  if (step >= std::ldexp(1.0, 8 * sizeof(Key))) return kGreatest;
  const Key by = static_cast<Key>(step);
  return by < kGreatest - value ? static_cast<Key>(value + by) : kGreatest;
}

}  // namespace

template <class Key>
CpuMergeLane<Key>::CpuMergeLane(const EngineShape& shape, std::uint64_t part_elements,
                                ByteSpan memory)
    : map_(map_of<Key>(shape)), keys_are_records_(shape.records.has_value()) {
  const auto footprint = CpuMergeFootprint::of(part_elements, sizeof(Key));
  LaneMemory layout(memory);
  const auto keys = [&](std::uint64_t bytes) {
    return std::span<Key>(reinterpret_cast<Key*>(layout.take(bytes).data()), bytes / sizeof(Key));
  };
  const std::span<Key> room = keys(footprint.part_bytes);
  input_ = std::as_writable_bytes(room);
  windows_ = room.last(std::min<std::size_t>(CpuMergeFootprint::kStretch, room.size() / 2));
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
  high_.resize(slices.size());
  probe_.resize(slices.size());
  parts_.reserve(slices.size());
  key_density_ = 0;
  leaves_ties_ = false;
  for (std::uint64_t done = 0; done < total;) {
    begin_ = cuts_;
    const std::uint64_t count = advance_cuts(slices, done, total);
    const std::span<Key> keys = merge_stretch(slices, count);
    if (form == KeyForm::kRaw && !map_.is_identity()) map_to_raw<Key>(keys, keys, map_);
    sink.put(position + done, std::as_bytes(keys));
    done += count;
  }
}

template <class Key>
void CpuMergeLane<Key>::merge_stored(std::span<const std::uint64_t> slice_counts,
                                     std::span<const StoredKeys> pieces, std::uint64_t position,
                                     KeyForm form, PieceSink& sink) {
  std::vector<StoredKeys> in_order(pieces.begin(), pieces.end());
  auto slices = stored_slices<Key>(slice_counts, in_order, input_);
  const std::vector<std::span<Key>> rooms = divide_windows(slice_counts, slices.size());
  std::vector<Slice> windows;
  for (const std::span<Key> room : rooms) windows.push_back({room.data(), 0});
  begin_.assign(slices.size(), 0);
  cuts_.resize(slices.size());
  parts_.reserve(slices.size());
  for (;;) {
    for (std::size_t i = 0; i < slices.size(); ++i) {
      windows[i].count += slices[i].take(rooms[i].subspan(windows[i].count));
    }
    const std::uint64_t count = cut_windows(windows, slices);
    if (count == 0) return;
    const std::span<Key> keys = merge_stretch(windows, count);
    if (form == KeyForm::kRaw && !map_.is_identity()) map_to_raw<Key>(keys, keys, map_);
    sink.put(position, std::as_bytes(keys));
    position += count;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      Slice& window = windows[i];
      std::copy(window.keys + cuts_[i], window.keys + window.count, window.keys);
      window.count -= cuts_[i];
    }
  }
}

template <class Key>
std::vector<std::span<Key>> CpuMergeLane<Key>::divide_windows(
    std::span<const std::uint64_t> slice_counts, std::size_t slices) const {
  const auto total = std::accumulate(slice_counts.begin(), slice_counts.end(), std::uint64_t{0});
  const std::uint64_t spare = windows_.size() - slices * kLeastWindow;
  std::span<Key> left = windows_;
  std::vector<std::span<Key>> rooms;
  for (const std::uint64_t count : slice_counts) {
    if (count == 0) continue;
    rooms.push_back(left.first(kLeastWindow + spare * count / total));
    left = left.subspan(rooms.back().size());
  }
  return rooms;
}

template <class Key>
std::uint64_t CpuMergeLane<Key>::cut_windows(const std::vector<Slice>& windows,
                                             const std::vector<StoredSlice<Key>>& slices) {
  const Slice* least = nullptr;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (slices[i].is_at_end()) continue;
    if (least == nullptr || last_of(windows[i]) < last_of(*least)) least = &windows[i];
  }
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto& [keys, count] = windows[i];
    // All of the least one, even if its keys are not in order.
    const bool takes_all = least == nullptr || least == &windows[i];
    cuts_[i] = takes_all ? count : upper_bound_in(keys, std::uint64_t{0}, count, last_of(*least));
    total += cuts_[i];
  }
  return total;
}

template <class Key>
std::span<Key> CpuMergeLane<Key>::merge_stretch(const std::vector<Slice>& slices,
                                                std::uint64_t count) {
  parts_.clear();
  bool in_order = true;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const std::span<Key> part(slices[i].keys + begin_[i], cuts_[i] - begin_[i]);
    if (part.empty()) continue;
    if (part.size() == count) return part;
    in_order = in_order && (parts_.empty() || parts_.back().back() <= part.front());
    parts_.push_back(part);
  }
  const std::span<Key> keys = stretch_.first(count);
  if (in_order) {
    auto end = keys.begin();
    for (const std::span<const Key> part : parts_) end = std::ranges::copy(part, end).out;
  } else {
    cache_merge<Key>(parts_, keys, scratch_.first(count));
  }
  return keys;
}

template <class Key>
std::uint64_t CpuMergeLane<Key>::advance_cuts(const std::vector<Slice>& slices, std::uint64_t done,
                                              std::uint64_t total) {
  const std::uint64_t left = total - done;
  if (left <= stretch_.size()) {
    for (std::size_t i = 0; i < slices.size(); ++i) cuts_[i] = slices[i].count;
    return left;
  }
  const bool ties_first = leaves_ties_;
  std::uint64_t count = ties_first ? take_ties(slices) : guess_cuts(slices);
  if (count == 0) count = ties_first ? guess_cuts(slices) : take_ties(slices);
  if (count > 0) return count;
  split_at(slices, done + stretch_.size());
  return stretch_.size();
}

template <class Key>
std::uint64_t CpuMergeLane<Key>::guess_cuts(const std::vector<Slice>& slices) {
  has_bounds_ = false;
  if (key_density_ == 0) return 0;
  const std::uint64_t most = stretch_.size();
  const double wanted = 0.875 * static_cast<double>(most);
  double step = wanted / key_density_;
  for (int guess = 0; guess < kGuesses; ++guess) {
    const Key value = advanced(last_value_, step);
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      probe_[i] = upper_bound_near(slices[i].keys, cuts_[i], slices[i].count, value);
      count += probe_[i] - cuts_[i];
    }
    const double counted = std::max(static_cast<double>(count), 1.0);
    if (count >= most / 2 && count <= most) {
      key_density_ = counted / step;
      last_value_ = value;
      cuts_.swap(probe_);
      return count;
    }
    step *= std::min(wanted / counted, 16.0);
    if (count > most && !(has_bounds_ && bound_ < value)) {
      has_bounds_ = true;
      bound_ = value;
      high_.swap(probe_);
    }
  }
  return 0;
}

template <class Key>
std::uint64_t CpuMergeLane<Key>::take_ties(const std::vector<Slice>& slices) {
  probe_ = cuts_;
  std::uint64_t room = stretch_.size();
  Key least = 0;
  for (int value = 0; value < kGuesses && room > stretch_.size() / 2; ++value) {
    least = static_cast<Key>(~Key{0});
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (probe_[i] < slices[i].count) least = std::min(least, slices[i].keys[probe_[i]]);
    }
    for (std::size_t i = 0; i < slices.size() && room > 0; ++i) {
      const std::uint64_t end = std::min(slices[i].count, probe_[i] + room);
      const std::uint64_t begin = probe_[i];
      probe_[i] = upper_bound_near(slices[i].keys, begin, end, least);
      room -= probe_[i] - begin;
    }
  }
  leaves_ties_ = room == 0;
  if (room > stretch_.size() / 2) return 0;
  last_value_ = least;
  cuts_.swap(probe_);
  return stretch_.size() - room;
}

template <class Key>
void CpuMergeLane<Key>::split_at(const std::vector<Slice>& slices, std::uint64_t end) {
  Key least = static_cast<Key>(~Key{0});
  Key greatest = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (!has_bounds_) high_[i] = slices[i].count;
    if (cuts_[i] == slices[i].count) continue;
    least = std::min(least, slices[i].keys[cuts_[i]]);
    greatest = std::max(greatest, slices[i].keys[slices[i].count - 1]);
  }
  if (has_bounds_) greatest = bound_;
  kway_split<Key, std::uint64_t>(
      end, static_cast<std::uint32_t>(slices.size()), least, greatest, cuts_.data(), high_.data(),
      probe_.data(),
      [&](Key value, const std::uint64_t* low, const std::uint64_t* high, std::uint64_t* counts) {
        for (std::size_t i = 0; i < slices.size(); ++i) {
          counts[i] = upper_bound_in(slices[i].keys, low[i], high[i], value);
        }
      });
  // Valid only for this stretch: keys before it may have become raw in place.
  last_value_ = least;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (cuts_[i] > begin_[i]) last_value_ = std::max(last_value_, slices[i].keys[cuts_[i] - 1]);
  }
  key_density_ = last_value_ == least ? 0
                                      : static_cast<double>(stretch_.size()) /
                                            static_cast<double>(last_value_ - least);
}

template class CpuMergeLane<std::uint32_t>;
template class CpuMergeLane<std::uint64_t>;
template class CpuMergeLane<UInt128>;

}  // namespace gsort::cpu
