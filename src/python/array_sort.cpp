#include "python/array_sort.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

#include "base/current_error.hpp"
#include "base/error.hpp"
#include "base/tasks.hpp"
#include "base/units.hpp"
#include "element/fingerprint.hpp"
#include "element/key_loops.hpp"
#include "engine/cpu/in_place/in_place_sort.hpp"
#include "pipeline/survey.hpp"

namespace gsort::python {
namespace {

constexpr std::size_t kStretchBytes = 256 * kKiB;

// Adds up f(begin, end) over stretches of this size.
template <class F>
Fingerprint sum_of_stretches(std::size_t bytes, TaskArena& tasks, const F& f) {
  if (bytes <= kStretchBytes) return f(0, bytes);
  Fingerprint all;
  std::mutex mutex;
  tasks.for_each(div_up(bytes, kStretchBytes), [&](std::size_t number) {
    const std::size_t begin = number * kStretchBytes;
    const Fingerprint some = f(begin, std::min(bytes, begin + kStretchBytes));
    const std::scoped_lock lock(mutex);
    all += some;
  });
  return all;
}

Error defect(const char* reason) {
  return Error(ErrorKind::kCorrupt, "verifying the result", reason)
      .hint(
          "was the array changed meanwhile? if not, the machine's memory may be faulty, or this "
          "is a defect of gsort");
}

// Long rows are sorted one after the other, each by all threads; of short ones, each thread sorts
// some.
template <class Key>
void sort_rows(std::span<Key> keys, std::size_t row_keys, const KeyMap<Key>& map, unsigned threads,
               TaskArena& tasks) {
  const std::size_t rows = keys.size() / row_keys;
  const auto sort_some = [&](std::size_t begin, std::size_t end, unsigned workers) {
    for (std::size_t row = begin; row < end; ++row) {
      cpu::sort_in_place(keys.subspan(row * row_keys, row_keys), map, workers);
    }
  };
  const std::size_t row_bytes = row_keys * sizeof(Key);
  if (rows == 1 || row_bytes >= cpu::kLeastSharedBytes) return sort_some(0, rows, threads);
  const std::size_t step = div_up(kStretchBytes, row_bytes);
  tasks.for_each(div_up(rows, step), [&](std::size_t number) {
    sort_some(number * step, std::min(rows, (number + 1) * step), 1);
  });
}

// Requires: keys from `first` on, up to `last`, and whole rows before and after them.
template <class Key>
bool rows_are_in_order(std::span<const Key> keys, std::size_t row_keys, std::size_t first,
                       std::size_t last, const KeyMap<Key>& map) {
  for (std::size_t at = first; at < last;) {
    const std::size_t row = at - at % row_keys;
    const std::size_t begin = at == row ? at : at - 1;  // with the key before them
    const std::size_t end = std::min(last, row + row_keys);
    if (first_disorder<Key>(keys.subspan(begin, end - begin), map) != end - begin) return false;
    at = end;
  }
  return true;
}

template <class Key>
void sort_keys_in(ConstByteSpan source, ByteSpan result, std::size_t row_keys,
                  const KeyMap<Key>& map, unsigned threads) {
  TaskArena tasks(threads);
  const Fingerprint read =
      sum_of_stretches(source.size(), tasks, [&](std::size_t begin, std::size_t end) {
        const ConstByteSpan from = source.subspan(begin, end - begin);
        if (result.data() != source.data()) {
          std::memcpy(result.data() + begin, from.data(), from.size());
        }
        return fingerprint_of(from, sizeof(Key));
      });
  const std::span<Key> keys(reinterpret_cast<Key*>(result.data()), result.size() / sizeof(Key));
  sort_rows(keys, row_keys, map, threads, tasks);
  const Fingerprint written =
      sum_of_stretches(result.size(), tasks, [&](std::size_t begin, std::size_t end) {
        if (!rows_are_in_order<Key>(keys, row_keys, begin / sizeof(Key), end / sizeof(Key), map)) {
          throw defect("the result is not in order");
        }
        return fingerprint_of(result.subspan(begin, end - begin), sizeof(Key));
      });
  if (!(read == written)) throw defect("the result does not have the elements of the source");
}

}  // namespace

void sort_array(ConstByteSpan source, ByteSpan result, std::size_t row_keys,
                const KeyFormat& format, unsigned threads) {
  if (source.empty()) return;
  try {
    // Fewer keys are sorted in less time than it takes to ask the host for its cores.
    const bool is_shared = source.size() >= cpu::kLeastSharedBytes;
    const unsigned cores =
        is_shared ? cores_for(threads == 0 ? std::nullopt : std::optional(threads)) : 1;
    switch (bytes_of(format.type)) {
      case 1:
        return sort_keys_in(source, result, row_keys, KeyMap<std::uint8_t>::of(format), cores);
      case 2:
        return sort_keys_in(source, result, row_keys, KeyMap<std::uint16_t>::of(format), cores);
      case 4:
        return sort_keys_in(source, result, row_keys, KeyMap<std::uint32_t>::of(format), cores);
      default:
        return sort_keys_in(source, result, row_keys, KeyMap<std::uint64_t>::of(format), cores);
    }
  } catch (...) {
    throw current_error();
  }
}

}  // namespace gsort::python
