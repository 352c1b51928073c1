#include "engine/cpu/array_lane.hpp"

#include <algorithm>
#include <vector>

#include "element/key_loops.hpp"
#include "engine/array_footprint.hpp"
#include "engine/cpu/cache_sort.hpp"
#include "engine/cpu/lane_memory.hpp"
#include "engine/cpu/record_entries.hpp"
#include "engine/key_map_of.hpp"

namespace gsort::cpu {
namespace {

bool sorts_records(const EngineShape& shape) {
  return shape.records && !is_wide_key(*shape.records);
}

CpuArrayFootprint footprint_of(const EngineShape& shape, const ArrayShape& arrays) {
  const std::uint64_t bytes = shape.records ? shape.records->bytes : bytes_of(shape.format.type);
  const std::uint64_t block_bytes = arrays.block_elements * bytes;
  return sorts_records(shape)
             ? CpuArrayFootprint::of_records(arrays.array_elements, block_bytes)
             : CpuArrayFootprint::of_keys(arrays.array_elements * bytes, block_bytes);
}

// Keys of one and two bytes are counted if there are enough of them to pay for the table.
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
class KeyArrayLane final : public ArrayLane {
 public:
  KeyArrayLane(const EngineShape& shape, const ArrayShape& arrays, ByteSpan memory)
      : map_(map_of<Key>(shape)), array_elements_(arrays.array_elements) {
    const auto footprint = footprint_of(shape, arrays);
    LaneMemory layout(memory);
    block_ = layout.take(footprint.block_bytes);
    scratch_ = keys_in(layout.take(footprint.scratch_bytes));
  }

  [[nodiscard]] ByteSpan input() override { return block_; }

  [[nodiscard]] ConstByteSpan sort(std::size_t bytes) override {
    const std::span<Key> keys = keys_in(block_.first(bytes));
    map_to_ordered<Key>(keys, keys, map_);
    for (std::span<Key> rest = keys; !rest.empty();) {
      const auto array = rest.first(std::min<std::uint64_t>(rest.size(), array_elements_));
      sort_one(array);
      rest = rest.subspan(array.size());
    }
    map_to_raw<Key>(keys, keys, map_);
    return block_.first(bytes);
  }

 private:
  static std::span<Key> keys_in(ByteSpan bytes) {
    return {reinterpret_cast<Key*>(bytes.data()), bytes.size() / sizeof(Key)};
  }

  void sort_one(std::span<Key> keys) {
    if constexpr (sizeof(Key) < 4) {
      sort_narrow<Key>(keys);
    } else {
      cache_sort(keys, scratch_.first(keys.size()));
    }
  }

  KeyMap<Key> map_;
  std::uint64_t array_elements_;
  ByteSpan block_;
  std::span<Key> scratch_;
};

class RecordArrayLane final : public ArrayLane {
 public:
  RecordArrayLane(const EngineShape& shape, const ArrayShape& arrays, ByteSpan memory)
      : order_(*shape.records), array_elements_(arrays.array_elements) {
    const auto footprint = footprint_of(shape, arrays);
    LaneMemory layout(memory);
    block_ = layout.take(footprint.block_bytes);
    result_ = layout.take(footprint.result_bytes);
    const ByteSpan entries = layout.take(footprint.entries_bytes);
    entries_ = {reinterpret_cast<RecordEntry*>(entries.data()),
                entries.size() / sizeof(RecordEntry)};
  }

  [[nodiscard]] ByteSpan input() override { return block_; }

  [[nodiscard]] ConstByteSpan sort(std::size_t bytes) override {
    const std::size_t record_bytes = order_.record_bytes();
    for (std::size_t at = 0; at < bytes;) {
      const std::uint64_t records =
          std::min<std::uint64_t>((bytes - at) / record_bytes, array_elements_);
      sort_one(block_.data() + at, records, result_.data() + at);
      at += records * record_bytes;
    }
    return result_.first(bytes);
  }

 private:
  void sort_one(const std::byte* records, std::uint64_t count, std::byte* to) {
    const std::span<RecordEntry> entries = entries_.first(count);
    enter_records(entries, order_, records);
    sort_entries(entries, order_, records);
    gather_records(entries, order_.record_bytes(), records, to);
  }

  const RecordOrder order_;
  std::uint64_t array_elements_;
  ByteSpan block_;
  ByteSpan result_;
  std::span<RecordEntry> entries_;
};

}  // namespace

std::uint64_t array_lane_bytes(const EngineShape& shape, const ArrayShape& arrays) {
  return footprint_of(shape, arrays).arena_bytes();
}

std::unique_ptr<ArrayLane> make_array_lane(const EngineShape& shape, const ArrayShape& arrays,
                                           ByteSpan memory) {
  if (sorts_records(shape)) return std::make_unique<RecordArrayLane>(shape, arrays, memory);
  if (shape.records) return std::make_unique<KeyArrayLane<UInt128>>(shape, arrays, memory);
  return with_key_of_width(
      bytes_of(shape.format.type), [&](auto width) -> std::unique_ptr<ArrayLane> {
        return std::make_unique<KeyArrayLane<decltype(width)>>(shape, arrays, memory);
      });
}

}  // namespace gsort::cpu
