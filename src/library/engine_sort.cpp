// One chunk of the CPU engine, filled from memory instead of a file and emitted back into it.
// Pieces that fit a cache are not worth an engine: they are sorted where they are.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/tasks.hpp"
#include "element/key_loops.hpp"
#include "engine/cpu/cache_sort.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "engine/footprint.hpp"
#include "io/system/memory.hpp"
#include "library/host_sort.hpp"

namespace gsort::library {
namespace {

// Below this many keys one core is done before others could help.
constexpr std::size_t kSmall = std::size_t{1} << 15;
constexpr std::uint64_t kBlockBytes = 256 * kKiB;
constexpr std::size_t kSampleKeys = std::size_t{1} << 14;

// Puts sorted keys where they came from; the engine has its own copy by then.
class SpanSink : public PieceSink {
 public:
  SpanSink(ByteSpan target, std::size_t key_bytes) : target_(target), key_bytes_(key_bytes) {}

  void put(std::uint64_t position, ConstByteSpan keys) override {
    std::memcpy(target_.data() + position * key_bytes_, keys.data(), keys.size());
  }

 private:
  ByteSpan target_;
  std::size_t key_bytes_;
};

template <class Key>
void sort_small(std::span<Key> keys, const KeyFormat& format) {
  const auto map = KeyMap<Key>::of(format);
  std::vector<Key> scratch(keys.size());
  if (!map.is_identity()) map_to_ordered<Key>(keys, keys, map);
  cpu::cache_sort(keys, scratch);
  if (!map.is_identity()) map_to_raw<Key>(keys, keys, map);
}

template <class Key>
std::vector<Key> even_sample(std::span<const Key> keys) {
  std::vector<Key> sample(std::min(keys.size(), kSampleKeys));
  for (std::size_t i = 0; i < sample.size(); ++i)
    sample[i] = keys[i * (keys.size() / sample.size())];
  return sample;
}

template <class Key>
void fill(ChunkLane& lane, std::span<const Key> keys, unsigned threads) {
  const std::vector<Key> sample = even_sample(keys);
  lane.begin(std::as_bytes(std::span(sample)));
  constexpr std::size_t kBlockKeys = kBlockBytes / sizeof(Key);
  TaskArena(threads).for_each(div_up(keys.size(), kBlockKeys), [&](std::size_t number) {
    const std::size_t begin = number * kBlockKeys;
    const auto from = std::as_bytes(keys.subspan(begin, std::min(kBlockKeys, keys.size() - begin)));
    const ByteSpan block = lane.acquire_block();
    std::memcpy(block.data(), from.data(), from.size());
    lane.add(block, from.size(), begin);
  });
}

template <class Key>
void sort_large(std::span<Key> keys, const KeyFormat& format, unsigned threads) {
  EngineShape shape;
  shape.format = format;
  shape.threads = threads;
  shape.block_bytes = kBlockBytes;
  shape.chunk_elements = keys.size();
  const auto footprint =
      CpuChunkFootprint::of(shape.chunk_elements, sizeof(Key), shape.threads, shape.block_bytes);
  const io::Arena memory(footprint.arena_bytes(), "sorting");
  const auto engine = cpu::make_cpu_engine(shape, memory.bytes());
  const auto lanes = engine->make_chunk_lanes();
  fill<Key>(*lanes.front(), keys, threads);
  lanes.front()->sort(KeyForm::kRaw);
  SpanSink sink(std::as_writable_bytes(keys), sizeof(Key));
  lanes.front()->emit(sink);
}

template <class Key>
void sort_any(std::span<Key> keys, const KeyFormat& format, unsigned threads) {
  if (keys.size() < kSmall) {
    sort_small(keys, format);
  } else {
    sort_large(keys, format, threads);
  }
}

}  // namespace

void sort_by_engine(std::span<std::uint32_t> keys, const KeyFormat& format, unsigned threads) {
  sort_any(keys, format, threads);
}

void sort_by_engine(std::span<std::uint64_t> keys, const KeyFormat& format, unsigned threads) {
  sort_any(keys, format, threads);
}

}  // namespace gsort::library
