#include "gpu/engine/device_work.hpp"

#include <algorithm>
#include <numeric>

#include "engine/footprint.hpp"
#include "gpu/cuda/architecture.hpp"
#include "gpu/distribute/device_distribute.hpp"
#include "gpu/engine/packed_blocks.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/records/device_records.hpp"
#include "gpu/segmented/device_batch.hpp"
#include "gpu/sort/device_sort.hpp"

namespace gsort::gpu {
namespace {

std::uint64_t sum_of(std::span<const std::uint64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// The scratch memory of sorts and merges is free as soon as they are done.
ByteSpan room_for_packing(KeyForm form, const DeviceMemory& scratch, std::size_t bytes) {
  if (form != KeyForm::kOrdered) return {};
  return {scratch.as<std::byte>(), bytes};
}

// The distribution takes no keys of 16 bytes. For keys of 4 bytes, or in pieces, it needs more
// memory than the plan gives, and would save no time, since these sorts wait for the bus.
template <class Key>
void sort_chunk(const KeySort<Key>& chunk) {
  if constexpr (sizeof(Key) == 8) {
    sort_keys_by_distribution(chunk, kNotInPieces);
  } else {
    sort_keys(chunk);
  }
}

template <class Key>
class KeySorter final : public ChunkSorter {
 public:
  explicit KeySorter(const EngineShape& shape)
      : map_(KeyMap<Key>::of(shape.format)),
        scratch_bytes_(CudaFootprint::scratch_bytes(shape.chunk_elements * sizeof(Key))),
        keys_(shape.chunk_elements * sizeof(Key)),
        scratch_(scratch_bytes_) {}

  [[nodiscard]] std::byte* input() override { return keys_.as<std::byte>(); }
  SortedElements sort(std::uint64_t count, KeyForm form, const Stream& stream) override {
    sort_chunk<Key>({.input = keys_.as<Key>(),
                     .output = keys_.as<Key>(),
                     .count = count,
                     .load_map = map_,
                     .store_map = form == KeyForm::kRaw ? map_ : KeyMap<Key>{},
                     .scratch = {scratch_.as(), scratch_bytes_},
                     .stream = stream.get()});
    return {keys_.as<std::byte>(), count, room_for_packing(form, scratch_, scratch_bytes_)};
  }

 private:
  KeyMap<Key> map_;
  std::size_t scratch_bytes_;
  DeviceMemory keys_;
  DeviceMemory scratch_;
};

template <class Key>
class KeyMerger final : public PartMerger {
 public:
  KeyMerger(const EngineShape& shape, std::uint64_t part_elements)
      : map_(KeyMap<Key>::of(shape.format)),
        slices_(part_elements * sizeof(Key)),
        result_(part_elements * sizeof(Key)),
        scratch_bytes_(CudaFootprint::scratch_bytes(part_elements * sizeof(Key))),
        scratch_(scratch_bytes_) {}

  [[nodiscard]] std::byte* input() override { return slices_.as<std::byte>(); }
  [[nodiscard]] std::byte* stored_input() override { return result_.as<std::byte>(); }
  void unpack(std::uint64_t table, std::uint64_t pieces, const Stream& stream) override {
    const std::byte* const stored = result_.as<std::byte>();
    launch_unpack_blocks(stored, reinterpret_cast<const StoredKeys*>(stored + table), pieces,
                         slices_.as<Key>(), current_architecture(), stream.get());
  }
  SortedElements merge(std::span<const std::uint64_t> slice_counts, KeyForm form,
                       const Stream& stream) override {
    merge_slices<Key>({.input = slices_.as<Key>(),
                       .slice_counts = slice_counts.data(),
                       .slice_count = static_cast<std::uint32_t>(slice_counts.size()),
                       .output = result_.as<Key>(),
                       .store_map = form == KeyForm::kRaw ? map_ : KeyMap<Key>{},
                       .scratch = {scratch_.as(), scratch_bytes_},
                       .stream = stream.get()});
    return {result_.as<std::byte>(), sum_of(slice_counts),
            room_for_packing(form, scratch_, scratch_bytes_)};
  }

 private:
  KeyMap<Key> map_;
  DeviceMemory slices_;
  DeviceMemory result_;
  std::uint64_t scratch_bytes_;
  DeviceMemory scratch_;
};

// Chunks and parts alike: slices of records are sorted, too, which costs less than bringing them.
class RecordWork {
 public:
  RecordWork(const RecordFormat& format, std::uint64_t elements)
      : order_(format),
        input_(elements * format.bytes),
        output_(elements * format.bytes),
        scratch_bytes_(sort_records_scratch_bytes(elements)),
        scratch_(scratch_bytes_) {}

  [[nodiscard]] std::byte* input() { return input_.as<std::byte>(); }
  SortedElements sort(std::uint64_t count, const Stream& stream) {
    sort_records(order_, input_.as<std::byte>(), output_.as<std::byte>(), count,
                 {scratch_.as(), scratch_bytes_}, stream.get());
    return {output_.as<std::byte>(), count, {}};
  }

 private:
  RecordOrder order_;
  DeviceMemory input_;
  DeviceMemory output_;
  std::size_t scratch_bytes_;
  DeviceMemory scratch_;
};

class RecordSorter final : public ChunkSorter {
 public:
  explicit RecordSorter(const EngineShape& shape) : work_(*shape.records, shape.chunk_elements) {}
  [[nodiscard]] std::byte* input() override { return work_.input(); }
  SortedElements sort(std::uint64_t count, KeyForm /*form*/, const Stream& stream) override {
    return work_.sort(count, stream);
  }

 private:
  RecordWork work_;
};

class RecordMerger final : public PartMerger {
 public:
  RecordMerger(const EngineShape& shape, std::uint64_t part_elements)
      : work_(*shape.records, part_elements) {}
  [[nodiscard]] std::byte* input() override { return work_.input(); }
  SortedElements merge(std::span<const std::uint64_t> slice_counts, KeyForm /*form*/,
                       const Stream& stream) override {
    return work_.sort(sum_of(slice_counts), stream);
  }

 private:
  RecordWork work_;
};

// All arrays of one length in one launch, and then what is left of a last one.
template <class Key>
class KeyArraySorter final : public ArraySorter {
 public:
  KeyArraySorter(const EngineShape& shape, const ArrayShape& arrays)
      : map_(KeyMap<Key>::of(shape.format)),
        array_elements_(arrays.array_elements),
        scratch_bytes_(std::max(
            sort_batch_scratch_bytes<Key>(arrays.block_elements / array_elements_, array_elements_),
            sort_batch_scratch_bytes<Key>(1, array_elements_))),
        keys_(arrays.block_elements * sizeof(Key)),
        scratch_(scratch_bytes_) {}

  [[nodiscard]] std::byte* block() override { return keys_.as<std::byte>(); }
  void sort(std::size_t bytes, const Stream& stream) override {
    const std::uint64_t count = bytes / sizeof(Key);
    const std::uint64_t whole = count / array_elements_;
    sort_arrays(0, whole, array_elements_, stream);
    sort_arrays(whole * array_elements_, 1, count % array_elements_, stream);
  }

 private:
  void sort_arrays(std::uint64_t begin, std::uint64_t arrays, std::uint64_t elements,
                   const Stream& stream) {
    Key* const keys = keys_.as<Key>() + begin;
    sort_batch<Key>({.input = keys,
                     .output = keys,
                     .array_count = arrays,
                     .array_keys = elements,
                     .load_map = map_,
                     .store_map = map_,
                     .scratch = {scratch_.as(), scratch_bytes_},
                     .stream = stream.get()});
  }

  KeyMap<Key> map_;
  std::uint64_t array_elements_;
  std::size_t scratch_bytes_;
  DeviceMemory keys_;
  DeviceMemory scratch_;
};

}  // namespace

std::uint64_t element_bytes_of(const EngineShape& shape) {
  return shape.records ? shape.records->bytes : bytes_of(shape.format.type);
}

std::unique_ptr<ChunkSorter> make_chunk_sorter(const EngineShape& shape) {
  if (shape.records) return std::make_unique<RecordSorter>(shape);
  switch (element_bytes_of(shape)) {
    case sizeof(std::uint32_t):
      return std::make_unique<KeySorter<std::uint32_t>>(shape);
    case sizeof(UInt128):
      return std::make_unique<KeySorter<UInt128>>(shape);
    default:
      return std::make_unique<KeySorter<std::uint64_t>>(shape);
  }
}

std::unique_ptr<PartMerger> make_part_merger(const EngineShape& shape,
                                             std::uint64_t part_elements) {
  if (shape.records) return std::make_unique<RecordMerger>(shape, part_elements);
  switch (element_bytes_of(shape)) {
    case sizeof(std::uint32_t):
      return std::make_unique<KeyMerger<std::uint32_t>>(shape, part_elements);
    case sizeof(UInt128):
      return std::make_unique<KeyMerger<UInt128>>(shape, part_elements);
    default:
      return std::make_unique<KeyMerger<std::uint64_t>>(shape, part_elements);
  }
}

std::unique_ptr<ArraySorter> make_array_sorter(const EngineShape& shape, const ArrayShape& arrays) {
  if (bytes_of(shape.format.type) == 4) {
    return std::make_unique<KeyArraySorter<std::uint32_t>>(shape, arrays);
  }
  return std::make_unique<KeyArraySorter<std::uint64_t>>(shape, arrays);
}

}  // namespace gsort::gpu
