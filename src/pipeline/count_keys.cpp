#include "pipeline/count_keys.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>
#include <vector>

#include "base/failure.hpp"
#include "base/parallel.hpp"
#include "base/tasks.hpp"
#include "base/units.hpp"

namespace gsort {
namespace {

// Four tables, so that equal neighbours do not wait for each other's increment.
template <class Key>
void count_block(std::span<const Key> raw, std::array<std::vector<std::uint32_t>, 4>& tables) {
  std::size_t i = 0;
  for (; i + 4 <= raw.size(); i += 4) {
    ++tables[0][raw[i]];
    ++tables[1][raw[i + 1]];
    ++tables[2][raw[i + 2]];
    ++tables[3][raw[i + 3]];
  }
  for (; i < raw.size(); ++i) ++tables[0][raw[i]];
}

template <class Key>
void add_tables(std::array<std::vector<std::uint32_t>, 4>& tables, KeyMap<Key> map,
                KeyCounts& counts) {
  for (auto& table : tables) {
    for (std::size_t raw = 0; raw < table.size(); ++raw) {
      counts[map.to_ordered(static_cast<Key>(raw))] += table[raw];
      table[raw] = 0;
    }
  }
}

template <class Key>
KeyCounts count_all(const Plan& plan, const BlockReader& read, Meter* meter, ByteSpan memory) {
  constexpr std::size_t kValues = std::size_t{1} << (8 * sizeof(Key));
  // A 32-bit counter cannot overflow before this many keys have been added to it.
  constexpr std::uint64_t kKeysBeforeAdding = std::uint64_t{1} << 31;
  const auto map = KeyMap<Key>::of(plan.job.element.key);
  KeyCounts counts(kValues, 0);
  std::mutex mutex;
  Failure failure;
  run_workers(plan.chunk.readers, [&](unsigned worker) {
    try {
      std::array<std::vector<std::uint32_t>, 4> tables;
      for (auto& table : tables) table.assign(kValues, 0);
      std::uint64_t since_adding = 0;
      const ByteSpan block =
          memory.subspan(worker * plan.chunk.block_bytes, plan.chunk.block_bytes);
      while (const std::size_t filled = failure.failed() ? 0 : read(worker, block)) {
        const ConstByteSpan bytes = block.first(filled);
        Span span(meter, Stage::kSort);
        span.add_bytes(bytes.size());
        const std::span<const Key> keys(reinterpret_cast<const Key*>(bytes.data()),
                                        bytes.size() / sizeof(Key));
        count_block<Key>(keys, tables);
        since_adding += keys.size();
        if (since_adding >= kKeysBeforeAdding) {
          const std::scoped_lock lock(mutex);
          add_tables<Key>(tables, map, counts);
          since_adding = 0;
        }
      }
      const std::scoped_lock lock(mutex);
      add_tables<Key>(tables, map, counts);
    } catch (...) {
      failure.capture();
    }
  });
  failure.rethrow();
  return counts;
}

// Fills `piece` with the keys from element `begin` on. before[k] is the number of keys below
// ordered key k.
template <class Key>
void fill_piece(const KeyCounts& before, KeyMap<Key> map, std::uint64_t begin,
                std::span<Key> piece) {
  auto key = static_cast<std::size_t>(std::ranges::upper_bound(before, begin) - before.begin()) - 1;
  for (std::size_t at = 0; at < piece.size(); ++key) {
    const std::uint64_t end = key + 1 < before.size() ? before[key + 1] : begin + piece.size();
    const auto stop = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), end - begin));
    if (stop <= at) continue;
    std::fill(piece.begin() + static_cast<std::ptrdiff_t>(at),
              piece.begin() + static_cast<std::ptrdiff_t>(stop), map.to_raw(static_cast<Key>(key)));
    at = stop;
  }
}

template <class Key>
void put_range(const Plan& plan, const KeyCounts& counts, OutputRange range, Meter* meter,
               ByteSpan memory, PieceSink& sink) {
  KeyCounts before(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), before.begin(), std::uint64_t{0});
  const auto map = KeyMap<Key>::of(plan.job.element.key);
  const std::uint64_t piece_elements = plan.chunk.block_bytes / sizeof(Key);
  TaskArena(plan.chunk.readers)
      .for_each_in_order(
          div_up(range.elements(), piece_elements),
          [&](std::size_t number, unsigned worker) {
            const std::uint64_t begin = range.begin + number * piece_elements;
            const std::span<Key> piece(
                reinterpret_cast<Key*>(memory.data() + worker * plan.chunk.block_bytes),
                std::min(piece_elements, range.end - begin));
            {
              const Span span(meter, Stage::kSort);
              fill_piece<Key>(before, map, begin, piece);
            }
            sink.put(begin, std::as_bytes(piece));
          },
          {.on_failure = [&] { sink.abandon(); }});
}

}  // namespace

KeyCounts read_counts(const Plan& plan, const BlockReader& read, Meter* meter, ByteSpan memory) {
  return plan.element_bytes == 1 ? count_all<std::uint8_t>(plan, read, meter, memory)
                                 : count_all<std::uint16_t>(plan, read, meter, memory);
}

void put_counted(const Plan& plan, const KeyCounts& counts, OutputRange range, Meter* meter,
                 ByteSpan memory, PieceSink& sink) {
  const auto put = plan.element_bytes == 1 ? put_range<std::uint8_t> : put_range<std::uint16_t>;
  put(plan, counts, range, meter, memory, sink);
}

std::uint64_t count_keys(const Plan& plan, const BlockReader& read, Meter* meter, ByteSpan memory,
                         const OutputMaker& output) {
  const KeyCounts counts = read_counts(plan, read, meter, memory);
  const std::uint64_t elements = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  put_counted(plan, counts, {0, elements}, meter, memory, output(elements));
  return elements;
}

}  // namespace gsort
