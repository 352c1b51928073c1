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
#include "engine/cpu/pairs/pair_sort.hpp"
#include "io/system/scratch.hpp"
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

// Long rows are sorted one after the other, each by all threads; each thread sorts some of the
// short ones: sort_some(begin, end, threads).
template <class F>
void for_each_row(std::size_t rows, std::size_t row_bytes, unsigned threads, TaskArena& tasks,
                  const F& sort_some) {
  if (rows == 1 || row_bytes >= cpu::kLeastSharedBytes) return sort_some(0, rows, threads);
  const std::size_t step = div_up(kStretchBytes, row_bytes);
  tasks.for_each(div_up(rows, step), [&](std::size_t number) {
    sort_some(number * step, std::min(rows, (number + 1) * step), 1);
  });
}

template <class Key>
void sort_rows(std::span<Key> keys, std::size_t row_keys, const KeyMap<Key>& map, unsigned threads,
               TaskArena& tasks) {
  const auto sort_some = [&](std::size_t begin, std::size_t end, unsigned workers) {
    for (std::size_t row = begin; row < end; ++row) {
      cpu::sort_in_place(keys.subspan(row * row_keys, row_keys), map, workers);
    }
  };
  for_each_row(keys.size() / row_keys, row_keys * sizeof(Key), threads, tasks, sort_some);
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

// Whether positions [first, last) of a row, and the one before them, are those of a stable sort:
// keys ascend, and so do positions of equal keys. So no position occurs twice.
template <class Key, class Index>
bool positions_are_in_order(std::span<const Key> keys, const Index* positions, std::size_t first,
                            std::size_t last, const KeyMap<Key>& classes) {
  bool in_order = true;
  const std::size_t begin = first == 0 ? 0 : first - 1;
  Key key_before = 0;
  std::size_t before = 0;
  for (std::size_t i = begin; i < last; ++i) {
    const std::size_t at = positions[i];
    if (at >= keys.size()) return false;
    const Key key = classes.to_ordered(keys[at]);
    in_order &= i == begin || key_before < key || (key_before == key && before < at);
    key_before = key;
    before = at;
  }
  return in_order;
}

template <class Index, class Key>
void argsort_rows(ConstByteSpan source, ByteSpan result, std::size_t row_keys,
                  const KeyMap<Key>& classes, unsigned threads) {
  TaskArena tasks(threads);
  const std::span<const Key> keys(reinterpret_cast<const Key*>(source.data()),
                                  source.size() / sizeof(Key));
  const std::span<Index> positions(reinterpret_cast<Index*>(result.data()), keys.size());
  const std::size_t rows = keys.size() / row_keys;
  const auto sort_some = [&](std::size_t begin, std::size_t end, unsigned workers) {
    const io::Scratch scratch(cpu::pairs_scratch_bytes<Key, Index>(row_keys), "the positions");
    for (std::size_t row = begin; row < end; ++row) {
      cpu::argsort_keys(keys.subspan(row * row_keys, row_keys),
                        positions.subspan(row * row_keys, row_keys), classes, workers,
                        scratch.bytes());
    }
  };
  for_each_row(rows, row_keys * sizeof(Key), threads, tasks, sort_some);
  const std::size_t step = std::max<std::size_t>(kStretchBytes / sizeof(Key), 1);
  const auto check = [&](std::size_t number) {
    for (std::size_t at = number * step; at < std::min(keys.size(), (number + 1) * step);) {
      const std::size_t row = at / row_keys * row_keys;
      const std::size_t end = std::min({keys.size(), (number + 1) * step, row + row_keys});
      if (!positions_are_in_order(keys.subspan(row, row_keys), positions.data() + row, at - row,
                                  end - row, classes)) {
        throw defect("the positions do not sort the source");
      }
      at = end;
    }
  };
  if (keys.size() <= step) return check(0);
  tasks.for_each(div_up(keys.size(), step), check);
}

// Sorting fewer keys takes less time than asking the host for its cores.
unsigned cores_for_bytes(std::size_t bytes, unsigned threads) {
  if (bytes < cpu::kLeastSharedBytes) return 1;
  return cores_for(threads == 0 ? std::nullopt : std::optional(threads));
}

}  // namespace

void sort_array(ConstByteSpan source, ByteSpan result, std::size_t row_keys,
                const KeyFormat& format, unsigned threads) {
  if (source.empty()) return;
  try {
    const unsigned cores = cores_for_bytes(source.size(), threads);
    with_key_of_width(bytes_of(format.type), [&](auto width) {
      if constexpr (sizeof(width) <= sizeof(std::uint64_t)) {
        sort_keys_in(source, result, row_keys, KeyMap<decltype(width)>::of(format), cores);
      }
    });
  } catch (...) {
    throw current_error();
  }
}

void argsort_array(ConstByteSpan source, ByteSpan result, std::size_t row_keys,
                   const KeyFormat& format, std::size_t index_bytes, unsigned threads) {
  if (source.empty()) return;
  try {
    const unsigned cores = cores_for_bytes(source.size(), threads);
    with_key_of_width(bytes_of(format.type), [&](auto width) {
      if constexpr (sizeof(width) <= sizeof(std::uint64_t)) {
        const auto classes = KeyMap<decltype(width)>::classes_of(format);
        if (index_bytes == sizeof(std::uint32_t)) {
          return argsort_rows<std::uint32_t>(source, result, row_keys, classes, cores);
        }
        argsort_rows<std::uint64_t>(source, result, row_keys, classes, cores);
      }
    });
  } catch (...) {
    throw current_error();
  }
}

}  // namespace gsort::python
