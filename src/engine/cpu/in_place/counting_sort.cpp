// Keys of one and two bytes: the number of keys of each value is enough to write them in order.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/tasks.hpp"
#include "engine/cpu/cache_sort.hpp"
#include "engine/cpu/in_place/in_place_sort.hpp"

namespace gsort::cpu {
namespace {

// With fewer keys for each core, a further core does not pay for its table.
constexpr std::size_t kLeastKeysPerCore = std::size_t{1} << 18;

// Fewer keys are sorted in less time than it takes to search a table of all values.
template <class Key>
constexpr std::size_t kLeastCountedKeys = sizeof(Key) == 1 ? 64 : std::size_t{1} << 18;
constexpr std::size_t kMostComparedKeys = 32;

template <class Key>
constexpr std::size_t kValues = std::size_t{1} << (8 * sizeof(Key));

template <class Counter, class Key>
void count_stretch(std::span<const Key> keys, std::span<Counter> counts) {
  for (const Key key : keys) ++counts[key];
}

// Counts each raw key.
template <class Counter, class Key>
std::vector<Counter> count(std::span<const Key> keys, unsigned cores) {
  std::vector<Counter> counts(kValues<Key>, 0);
  if (cores == 1) {
    count_stretch<Counter>(keys, std::span(counts));
    return counts;
  }
  std::mutex mutex;
  TaskArena(cores).for_each(cores, [&](std::size_t stretch) {
    const std::size_t begin = keys.size() * stretch / cores;
    const std::size_t end = keys.size() * (stretch + 1) / cores;
    std::vector<Counter> mine(kValues<Key>, 0);
    count_stretch<Counter>(keys.subspan(begin, end - begin), std::span(mine));
    const std::scoped_lock lock(mutex);
    for (std::size_t raw = 0; raw < mine.size(); ++raw) counts[raw] += mine[raw];
  });
  return counts;
}

template <class Counter, class Key>
void sort_by_table(std::span<Key> keys, KeyMap<Key> map, unsigned cores) {
  const std::vector<Counter> counts = count<Counter, Key>(keys, cores);
  auto place = keys.begin();
  for (std::size_t ordered = 0; ordered < kValues<Key>; ++ordered) {
    const Key raw = map.to_raw(static_cast<Key>(ordered));
    place = std::fill_n(place, counts[raw], raw);
  }
}

// In the cache, as keys of 32 bits.
template <class Key>
void sort_widened(std::span<Key> keys, KeyMap<Key> map) {
  const auto wide = std::make_unique_for_overwrite<std::uint32_t[]>(2 * keys.size());
  const std::span<std::uint32_t> ordered(wide.get(), keys.size());
  std::ranges::transform(keys, ordered.begin(), [map](Key raw) { return map.to_ordered(raw); });
  cache_sort(ordered, std::span(wide.get() + keys.size(), keys.size()));
  std::ranges::transform(ordered, keys.begin(),
                         [map](std::uint32_t key) { return map.to_raw(static_cast<Key>(key)); });
}

template <class Key>
void sort_narrow(std::span<Key> keys, KeyMap<Key> map, unsigned threads) {
  const auto cores =
      static_cast<unsigned>(std::clamp<std::size_t>(keys.size() / kLeastKeysPerCore, 1, threads));
  if (keys.size() <= kMostComparedKeys) {
    std::ranges::sort(keys, {}, [map](Key raw) { return map.to_ordered(raw); });
  } else if (keys.size() < kLeastCountedKeys<Key>) {
    sort_widened(keys, map);
  } else if (keys.size() <= UINT32_MAX) {
    sort_by_table<std::uint32_t>(keys, map, cores);
  } else {
    sort_by_table<std::uint64_t>(keys, map, cores);
  }
}

}  // namespace

void sort_in_place(std::span<std::uint8_t> keys, const KeyMap<std::uint8_t>& map,
                   unsigned threads) {
  sort_narrow(keys, map, threads);
}

void sort_in_place(std::span<std::uint16_t> keys, const KeyMap<std::uint16_t>& map,
                   unsigned threads) {
  sort_narrow(keys, map, threads);
}

}  // namespace gsort::cpu
