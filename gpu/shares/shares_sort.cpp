#include "gpu/shares/shares_sort.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "gpu/shares/share_checks.hpp"
#include "gpu/shares/shared_runs.hpp"

namespace gsort::gpu {
namespace {

// Memory for merges and fences.
template <class Key, class Value>
std::size_t others_bytes(std::uint64_t count, std::uint32_t shares) {
  return std::max(merge_bytes<Key, Value>(count, shares), fences_bytes<Key>(count));
}

template <class Key, class Value>
std::size_t shares_bytes(std::uint64_t count, std::uint32_t shares, bool keeps_bits) {
  require_count(count, kSharing);
  ScratchCutter cutter(nullptr);
  static_cast<void>(take_elements<Key, Value>(cutter, count));
  static_cast<void>(cutter.take<std::byte>(others_bytes<Key, Value>(count, shares)));
  return std::max(cutter.used_bytes(), sort_bytes<Key, Value>(count, keeps_bits));
}

// The memory of one share.
template <class Key, class Value>
struct Place {
  Pairs<Key, Value> all{};      // the share, then its part of the sorted sequence
  Pairs<Key, Value> arrived{};  // the slices of that part
  ScratchMemory others{};
  std::uint64_t count = 0;
};

template <class Key, class Value>
Place<Key, Value> cut_place(const PairShare<Key, Value>& share, std::uint32_t shares) {
  ScratchCutter cutter(share.scratch.memory);
  Place<Key, Value> place{.all = {share.keys, share.values}, .count = share.count};
  place.arrived = take_elements<Key, Value>(cutter, share.count);
  place.others.bytes = others_bytes<Key, Value>(share.count, shares);
  place.others.memory = cutter.take<std::byte>(place.others.bytes);
  return place;
}

template <class Key, class Value>
void require_shares(std::span<const PairShare<Key, Value>> shares, bool keeps_bits) {
  require_devices(shares.size(), kSharing);
  MemoryOfCall all(kSharing);
  for (const PairShare<Key, Value>& share : shares) {
    const auto number = static_cast<std::uint32_t>(shares.size());
    const std::size_t needed = shares_bytes<Key, Value>(share.count, number, keeps_bits);
    all.add(share.keys, share.count, "a share");
    if constexpr (kHasValues<Value>) all.add(share.values, share.count, "a share of values");
    all.add_scratch(share.scratch, needed);
  }
  all.require_all_apart();
}

// Phases follow each other; within one all devices work at once. A part is one piece.
template <class Key, class Value>
void sort_in_place(std::span<const PairShare<Key, Value>> shares, const KeyMap<Key>& load_map,
                   const KeyMap<Key>& store_map) {
  const bool keeps_bits = kHasValues<Value> && load_map.folds_classes;
  require_shares(shares, keeps_bits);
  const auto maps = RunMaps<Key>::of(load_map, keeps_bits);
  std::vector<int> ordinals;
  std::vector<Place<Key, Value>> places;
  std::vector<SortedRun<Key, Value>> runs;
  std::vector<std::uint64_t> bounds = {0};
  std::vector<void*> fences;
  std::vector<Pairs<Key, Value>> arrived_at;
  for (const PairShare<Key, Value>& share : shares) {
    ordinals.push_back(share.ordinal);
    places.push_back(cut_place(share, static_cast<std::uint32_t>(shares.size())));
    arrived_at.push_back(places.back().arrived);
    runs.push_back({runs.size(), places.back().all, share.count});
    bounds.push_back(bounds.back() + share.count);
    fences.push_back(places.back().others.memory);
  }
  SharedRuns<Key, Value> sort(ordinals, maps.load);
  sort.on_each([&](std::size_t number, cudaStream_t stream) {
    const auto& [all, arrived, others, count] = places[number];
    if (count == 0) return;
    sort_elements<Key, Value>(
        {all, all, count, load_map, maps.store, shares[number].scratch, stream});
  });
  sort.find_cuts(std::move(runs), bounds, fences);
  sort.on_each(
      [&](std::size_t number, cudaStream_t stream) { sort.send_run(number, arrived_at, stream); });
  sort.on_each([&](std::size_t number, cudaStream_t stream) {
    const auto& [all, arrived, others, count] = places[number];
    if (count > 0) sort.merge_piece(number, {arrived, all, store_map, others, stream});
  });
}

}  // namespace

template <class Key>
std::size_t sort_shares_scratch_bytes(std::uint64_t count, std::uint32_t shares) {
  return shares_bytes<Key, NoValue>(count, shares, false);
}

template <class Key>
void sort_shares(std::span<const DeviceShare<Key>> shares, const KeyMap<Key>& map) {
  sort_shares(shares, map, map);
}

template <class Key>
void sort_shares(std::span<const DeviceShare<Key>> shares, const KeyMap<Key>& load_map,
                 const KeyMap<Key>& store_map) {
  keep_device_during([&] { sort_in_place<Key, NoValue>(shares, load_map, store_map); });
}

template <class Key, class Value>
std::size_t sort_pair_shares_scratch_bytes(std::uint64_t count, std::uint32_t shares,
                                           bool are_floats) {
  return shares_bytes<Key, Value>(count, shares, are_floats);
}

template <class Key, class Value>
void sort_pair_shares(std::span<const PairShare<Key, Value>> shares, const KeyMap<Key>& map) {
  keep_device_during([&] { sort_in_place<Key, Value>(shares, map, map); });
}

#define GSORT_INSTANTIATE(Key)                                                       \
  template std::size_t sort_shares_scratch_bytes<Key>(std::uint64_t, std::uint32_t); \
  template void sort_shares(std::span<const DeviceShare<Key>>, const KeyMap<Key>&);  \
  template void sort_shares(std::span<const DeviceShare<Key>>, const KeyMap<Key>&,   \
                            const KeyMap<Key>&);
GSORT_INSTANTIATE(std::uint32_t)
GSORT_INSTANTIATE(std::uint64_t)
#undef GSORT_INSTANTIATE
#define GSORT_INSTANTIATE(Key, Value)                                                           \
  template std::size_t sort_pair_shares_scratch_bytes<Key, Value>(std::uint64_t, std::uint32_t, \
                                                                  bool);                        \
  template void sort_pair_shares(std::span<const PairShare<Key, Value>>, const KeyMap<Key>&);
GSORT_INSTANTIATE(std::uint32_t, std::uint32_t)
GSORT_INSTANTIATE(std::uint32_t, std::uint64_t)
GSORT_INSTANTIATE(std::uint64_t, std::uint32_t)
GSORT_INSTANTIATE(std::uint64_t, std::uint64_t)
#undef GSORT_INSTANTIATE

}  // namespace gsort::gpu
