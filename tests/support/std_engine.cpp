#include "support/std_engine.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include "base/units.hpp"
#include "io/system/memory.hpp"
#include "support/stored_form.hpp"

namespace gsort::test {
namespace {

void require(bool kept, const char* contract) {
  if (!kept) throw std::logic_error(contract);
}

// Puts sorted, ordered keys piece by piece, in stored form where the sink takes it.
template <class Key>
void put_in_pieces(std::vector<Key>& ordered, KeyMap<Key> map, KeyForm form, std::uint64_t position,
                   std::uint64_t piece_elements, PieceSink& sink) {
  if (form == KeyForm::kRaw) {
    for (Key& key : ordered) key = map.to_raw(key);
  }
  BlockSink* const blocks = form == KeyForm::kOrdered ? sink.block_sink() : nullptr;
  try {
    if (blocks != nullptr) {
      const std::uint64_t block = blocks->block_elements();
      piece_elements = round_up(piece_elements, block);
      for (std::size_t at = 0; at < ordered.size(); at += piece_elements) {
        const std::size_t count = std::min<std::size_t>(piece_elements, ordered.size() - at);
        const auto piece = std::as_bytes(std::span(ordered).subspan(at, count));
        const StoredForm stored = to_stored(piece, sizeof(Key), block, blocks->packing());
        blocks->put_blocks(position + at, stored.blocks());
      }
      return;
    }
    for (std::size_t at = 0; at < ordered.size(); at += piece_elements) {
      const std::size_t count = std::min<std::size_t>(piece_elements, ordered.size() - at);
      sink.put(position + at, std::as_bytes(std::span(ordered).subspan(at, count)));
    }
  } catch (...) {
    sink.abandon();
    throw;
  }
}

template <class Key>
class StdChunkLane final : public ChunkLane {
 public:
  StdChunkLane(const EngineShape& shape, std::uint64_t piece_elements)
      : shape_(shape),
        piece_elements_(piece_elements),
        memory_(shape.threads * shape.block_bytes, "blocks") {
    for (unsigned i = 0; i < shape.threads; ++i) {
      free_.push_back(memory_.bytes().subspan(i * shape.block_bytes, shape.block_bytes));
    }
  }

  void begin(ConstByteSpan /*sample*/) override {
    keys_.clear();
    added_ = 0;
  }

  [[nodiscard]] ByteSpan acquire_block() override {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return !free_.empty(); });
    const ByteSpan block = free_.back();
    free_.pop_back();
    return block;
  }

  void add(ByteSpan block, std::size_t bytes, std::uint64_t position) override {
    const std::scoped_lock lock(mutex_);
    const std::size_t count = bytes / sizeof(Key);
    require(bytes % sizeof(Key) == 0, "a block holds half a key");
    require(added_ + count <= shape_.chunk_elements, "a chunk is larger than the shape says");
    if (count > 0) {
      keys_.resize(std::max<std::size_t>(keys_.size(), position + count));
      std::memcpy(keys_.data() + position, block.data(), bytes);
    }
    added_ += count;
    free_.push_back(block);
    freed_.notify_one();
  }

  void sort(KeyForm form) override {
    form_ = form;
    require(keys_.size() == added_, "the blocks of a chunk leave gaps");
    const auto map = KeyMap<Key>::of(shape_.format);
    for (Key& key : keys_) key = map.to_ordered(key);
    std::sort(keys_.begin(), keys_.end());
  }

  void emit(PieceSink& sink) override {
    put_in_pieces(keys_, KeyMap<Key>::of(shape_.format), form_, 0, piece_elements_, sink);
  }

 private:
  EngineShape shape_;
  std::uint64_t piece_elements_;
  io::Arena memory_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<ByteSpan> free_;
  std::vector<Key> keys_;
  std::size_t added_ = 0;
  KeyForm form_ = KeyForm::kRaw;
};

template <class Key>
class StdMergeLane final : public MergeLane, public StoredMerger {
 public:
  StdMergeLane(const KeyFormat& format, std::uint64_t part_elements, std::uint64_t piece_elements,
               bool slices_may_lie)
      : map_(KeyMap<Key>::of(format)),
        piece_elements_(piece_elements),
        slices_may_lie_(slices_may_lie),
        memory_(std::max<std::uint64_t>(part_elements, 1) * sizeof(Key), "slices") {}

  [[nodiscard]] ByteSpan input() override { return memory_.bytes(); }

  void merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position, KeyForm form,
             PieceSink& sink) override {
    const auto* const slices = reinterpret_cast<const Key*>(memory_.data());
    const Key* slice = slices;
    for (const std::uint64_t count : slice_counts) {
      require(slices_may_lie_ || std::is_sorted(slice, slice + count), "a slice is not sorted");
      slice += count;
    }
    merge(slices, slice_counts, position, form, sink);
  }

  [[nodiscard]] StoredMerger* stored_merger() override {
    if constexpr (sizeof(Key) >= 4) return this;
    return nullptr;
  }

  // Unsorted slices are not a fault of the caller: a test may have damaged blocks.
  void merge_stored(std::span<const std::uint64_t> slice_counts, std::span<const StoredKeys> pieces,
                    std::uint64_t position, KeyForm form, PieceSink& sink) override {
    const std::uint64_t total =
        std::accumulate(slice_counts.begin(), slice_counts.end(), std::uint64_t{0});
    std::vector<Key> slices(total);
    std::uint64_t found = 0;
    for (const StoredKeys& piece : pieces) {
      const Bytes keys = keys_of(piece, memory_.bytes(), sizeof(Key));
      require(piece.position + (piece.end - piece.begin) <= total, "a piece lies outside the part");
      std::memcpy(slices.data() + piece.position, keys.data(), keys.size());
      found += piece.end - piece.begin;
    }
    require(found == total, "the pieces do not cover the part");
    merge(slices.data(), slice_counts, position, form, sink);
  }

 private:
  void merge(const Key* next, std::span<const std::uint64_t> slice_counts, std::uint64_t position,
             KeyForm form, PieceSink& sink) {
    std::vector<Key> keys;
    for (const std::uint64_t count : slice_counts) {
      keys.insert(keys.end(), next, next + count);
      next += count;
    }
    std::sort(keys.begin(), keys.end());
    put_in_pieces(keys, map_, form, position, piece_elements_, sink);
  }

  KeyMap<Key> map_;
  std::uint64_t piece_elements_;
  bool slices_may_lie_;
  io::Arena memory_;
};

template <class Key>
class StdArrayLane final : public ArrayLane {
 public:
  StdArrayLane(const KeyFormat& format, const ArrayShape& arrays)
      : map_(KeyMap<Key>::of(format)),
        arrays_(arrays),
        memory_(arrays.block_elements * sizeof(Key) + kBufferAlignment, "arrays") {}

  [[nodiscard]] ByteSpan input() override { return memory_.bytes(); }

  [[nodiscard]] ConstByteSpan sort(std::size_t bytes) override {
    require(bytes % sizeof(Key) == 0, "a block of arrays holds half a key");
    require(bytes <= arrays_.block_elements * sizeof(Key), "a block is larger than its shape says");
    const std::span<Key> keys(reinterpret_cast<Key*>(memory_.data()), bytes / sizeof(Key));
    for (std::size_t at = 0; at < keys.size(); at += arrays_.array_elements) {
      const auto array =
          keys.subspan(at, std::min<std::size_t>(arrays_.array_elements, keys.size() - at));
      std::ranges::sort(array, {}, [this](Key raw) { return map_.to_ordered(raw); });
    }
    return memory_.bytes().first(bytes);
  }

 private:
  KeyMap<Key> map_;
  ArrayShape arrays_;
  io::Arena memory_;
};

template <class Key>
class StdEngine final : public Engine {
 public:
  StdEngine(EngineShape shape, std::uint64_t piece_elements, bool slices_may_lie)
      : shape_(std::move(shape)),
        piece_elements_(piece_elements),
        slices_may_lie_(slices_may_lie) {}

  [[nodiscard]] std::string_view name() const override { return "std"; }

  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    require(sizeof(Key) >= 4, "chunks of keys of 1 and 2 bytes never reach an engine");
    std::vector<std::unique_ptr<ChunkLane>> lanes;
    for (unsigned i = 0; i < shape_.chunk_lanes; ++i) {
      lanes.push_back(std::make_unique<StdChunkLane<Key>>(shape_, piece_elements_));
    }
    return lanes;
  }

  [[nodiscard]] std::vector<std::unique_ptr<MergeLane>> make_merge_lanes(
      unsigned count, std::uint64_t part_elements) override {
    std::vector<std::unique_ptr<MergeLane>> lanes;
    for (unsigned i = 0; i < count; ++i) {
      lanes.push_back(std::make_unique<StdMergeLane<Key>>(shape_.format, part_elements,
                                                          piece_elements_, slices_may_lie_));
    }
    return lanes;
  }

  [[nodiscard]] std::vector<std::unique_ptr<ArrayLane>> make_array_lanes(
      unsigned count, const ArrayShape& arrays) override {
    std::vector<std::unique_ptr<ArrayLane>> lanes;
    for (unsigned i = 0; i < count; ++i) {
      lanes.push_back(std::make_unique<StdArrayLane<Key>>(shape_.format, arrays));
    }
    return lanes;
  }

 private:
  EngineShape shape_;
  std::uint64_t piece_elements_;
  bool slices_may_lie_;
};

}  // namespace

std::unique_ptr<Engine> make_std_engine(const EngineShape& shape, std::uint64_t piece_elements,
                                        bool slices_may_lie) {
  return with_key_of_width(bytes_of(shape.format.type), [&](auto width) -> std::unique_ptr<Engine> {
    return std::make_unique<StdEngine<decltype(width)>>(shape, piece_elements, slices_may_lie);
  });
}

}  // namespace gsort::test
