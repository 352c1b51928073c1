#include "pipeline/sort_arrays.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/failure.hpp"
#include "base/key_loops.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "engine/cpu/piece_sort.hpp"
#include "pipeline/metered_read.hpp"

namespace gsort {
namespace {

// Keys of one and two bytes are counted where there are enough of them to pay for the table.
template <class Key>
void sort_narrow(std::span<Key> keys) {
  constexpr std::size_t kValues = std::size_t{1} << (8 * sizeof(Key));
  if (keys.size() < kValues / 8) {
    std::ranges::sort(keys);
    return;
  }
  std::vector<std::size_t> counts(kValues, 0);
  for (const Key key : keys) ++counts[key];
  auto at = keys.begin();
  for (std::size_t key = 0; key < kValues; ++key) {
    at = std::fill_n(at, counts[key], static_cast<Key>(key));
  }
}

template <class Key>
void sort_one(std::span<Key> keys, std::span<Key> scratch) {
  if constexpr (sizeof(Key) < 4) {
    sort_narrow<Key>(keys);
  } else {
    cpu::piece_sort(keys, scratch.first(keys.size()));
  }
}

template <class Key>
class ArraySort {
 public:
  ArraySort(const Plan& plan, io::Reader& reader, Proof& proof, Meter* meter, ByteSpan memory,
            const OutputMaker& output)
      : plan_(plan),
        map_(KeyMap<Key>::of(plan.format)),
        reader_(reader),
        proof_(proof),
        meter_(meter),
        memory_(memory),
        output_(output) {}

  std::uint64_t run() {
    Failure failure;
    run_workers(plan_.batch.workers, [&](unsigned worker) {
      try {
        const std::uint64_t bytes =
            round_up(plan_.batch.block_bytes, kBufferAlignment) + plan_.batch.array_bytes;
        const ByteSpan memory = memory_.subspan(worker * bytes, bytes);
        while (!failure.failed() && work_on_block(memory)) {
        }
      } catch (...) {
        failure.capture();
        const std::scoped_lock lock(mutex_);
        if (sink_ != nullptr) sink_->abandon();
      }
    });
    failure.rethrow();
    return position_;
  }

 private:
  // Reads, sorts and puts one block; false at the end of the input.
  bool work_on_block(ByteSpan memory) {
    const ByteSpan scratch = memory.last(plan_.batch.array_bytes);
    std::uint64_t position = 0;
    const ByteSpan raw = read_block(memory, position);
    if (raw.empty()) return false;
    proof_.add_input(raw);
    {
      Span span(meter_, Stage::kSort);
      span.add_bytes(raw.size());
      sort_block({reinterpret_cast<Key*>(raw.data()), raw.size() / sizeof(Key)},
                 {reinterpret_cast<Key*>(scratch.data()), scratch.size() / sizeof(Key)});
    }
    proof_.add_arrays(position, raw, plan_.batch.array_elements);
    sink_->put(position, raw);
    return true;
  }

  // The reader's blocks may end within an array: reads on until the block is full. The scratch
  // behind it is room that text needs beside the keys it becomes.
  ByteSpan read_block(ByteSpan memory, std::uint64_t& position) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t end = position_ * sizeof(Key) + plan_.batch.block_bytes;
    std::size_t filled = 0;
    while (const auto read = read_next(reader_, meter_, memory.subspan(filled), end)) {
      filled += read->bytes;
    }
    position = position_;
    position_ += filled / sizeof(Key);
    begin_output(filled > 0);
    return memory.first(filled);
  }

  // As soon as it is known whether there is anything to put.
  void begin_output(bool anything) {
    if (sink_ != nullptr) return;
    const auto size = reader_.known_size();
    if (anything) {
      sink_ = &output_(size ? std::optional(*size / sizeof(Key)) : std::nullopt);
    } else {
      sink_ = &output_(0);
    }
  }

  void sort_block(std::span<Key> keys, std::span<Key> scratch) {
    map_to_ordered<Key>(keys, keys, map_);
    for (std::span<Key> rest = keys; !rest.empty();) {
      const auto array = rest.first(std::min(rest.size(), plan_.batch.array_elements));
      sort_one<Key>(array, scratch);
      rest = rest.subspan(array.size());
    }
    map_to_raw<Key>(keys, keys, map_);
  }

  const Plan& plan_;
  KeyMap<Key> map_;
  io::Reader& reader_;
  Proof& proof_;
  Meter* meter_;
  ByteSpan memory_;
  const OutputMaker& output_;
  std::mutex mutex_;  // guards reading, and what follows
  std::uint64_t position_ = 0;
  PieceSink* sink_ = nullptr;
};

}  // namespace

std::uint64_t sort_arrays(const Plan& plan, io::Reader& reader, Proof& proof, Meter* meter,
                          ByteSpan memory, const OutputMaker& output) {
  return with_key_of_width(plan.key_bytes, [&](auto width) {
    return ArraySort<decltype(width)>(plan, reader, proof, meter, memory, output).run();
  });
}

}  // namespace gsort
