#include <algorithm>
#include <mutex>
#include <vector>

#include "base/tasks.hpp"
#include "library/host_sort.hpp"

namespace gsort::library {
namespace {

// Below this many keys for each, a core is not worth its table.
constexpr std::size_t kLeastKeysPerCore = std::size_t{1} << 18;

using Counts = std::vector<std::uint64_t>;  // by ordered key

template <class Key>
Counts count(std::span<const Key> keys, KeyMap<Key> map, unsigned cores) {
  constexpr std::size_t kValues = std::size_t{1} << (8 * sizeof(Key));
  Counts counts(kValues, 0);
  std::mutex mutex;
  TaskArena(cores).for_each(cores, [&](std::size_t stretch) {
    const std::size_t begin = keys.size() * stretch / cores;
    const std::size_t end = keys.size() * (stretch + 1) / cores;
    Counts mine(kValues, 0);  // by raw key
    for (const Key key : keys.subspan(begin, end - begin)) ++mine[key];
    const std::scoped_lock lock(mutex);
    for (std::size_t raw = 0; raw < kValues; ++raw) {
      counts[map.to_ordered(static_cast<Key>(raw))] += mine[raw];
    }
  });
  return counts;
}

template <class Key>
void sort_narrow(std::span<Key> keys, const KeyFormat& format, unsigned threads) {
  const auto map = KeyMap<Key>::of(format);
  const auto cores =
      static_cast<unsigned>(std::clamp<std::size_t>(keys.size() / kLeastKeysPerCore, 1, threads));
  const Counts counts = count<Key>(keys, map, cores);
  auto place = keys.begin();
  for (std::size_t ordered = 0; ordered < counts.size(); ++ordered) {
    place = std::fill_n(place, counts[ordered], map.to_raw(static_cast<Key>(ordered)));
  }
}

}  // namespace

void sort_by_counting(std::span<std::uint8_t> keys, const KeyFormat& format, unsigned threads) {
  sort_narrow(keys, format, threads);
}

void sort_by_counting(std::span<std::uint16_t> keys, const KeyFormat& format, unsigned threads) {
  sort_narrow(keys, format, threads);
}

}  // namespace gsort::library
