// Whether all keys of an array are in order, and their range, found by several cores. Tasks are
// passed by reference (std::cref), because std::function may need memory for a copy of a task.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <span>

#include "base/tasks.hpp"
#include "base/units.hpp"
#include "element/key_loops.hpp"
#include "engine/cpu/cache_sort.hpp"

namespace gsort::cpu {

inline constexpr std::size_t kStretchKeys = std::size_t{1} << 16;  // the keys of one task

// Whether the keys are in the map's order. All tasks stop when one finds that they are not.
template <class Key>
[[nodiscard]] bool are_in_order(std::span<const Key> keys, const KeyMap<Key>& map,
                                TaskArena& tasks) {
  std::atomic<bool> in_order = true;
  const auto look = [&](std::size_t stretch) {
    if (!in_order.load(std::memory_order_relaxed)) return;
    const auto from = keys.subspan(stretch * kStretchKeys);
    const auto some = from.first(std::min(from.size(), kStretchKeys + 1));
    if (first_disorder<Key>(some, map) != some.size()) in_order = false;
  };
  look(0);
  const std::size_t stretches = div_up(keys.size(), kStretchKeys);
  if (in_order && stretches > 1) tasks.for_each(stretches, std::cref(look));
  return in_order;
}

// As range_of(), by `workers` tasks.
template <class Key>
[[nodiscard]] KeyRange<Key> range_of_all(std::span<const Key> keys, std::size_t workers,
                                         TaskArena& tasks) {
  if (workers == 1) return range_of(keys);
  KeyRange<Key> all{keys.front(), keys.front()};
  std::mutex mutex;
  const auto look = [&](std::size_t worker) {
    const std::size_t begin = keys.size() * worker / workers;
    const std::size_t end = keys.size() * (worker + 1) / workers;
    const KeyRange<Key> range = range_of(keys.subspan(begin, end - begin));
    const std::scoped_lock lock(mutex);
    all.least = std::min(all.least, range.least);
    all.greatest = std::max(all.greatest, range.greatest);
  };
  tasks.for_each(workers, std::cref(look));
  return all;
}

}  // namespace gsort::cpu
