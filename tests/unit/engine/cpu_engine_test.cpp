// The guarantees of only the CPU engine; the rest is in chunk_test.cpp and merge_test.cpp.
#include "engine/cpu/cpu_engine.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "engine/cpu/chunk_lane.hpp"
#include "engine/footprint.hpp"
#include "io/system/memory.hpp"
#include "support/engines.hpp"
#include "support/error_of.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"

namespace gsort {
namespace {

EngineShape wide_shape() {
  return test::shape_for({KeyType::kU64, false, false}, 100'000);
}

TEST(CpuEngine, RefusesKeysThatAreCounted) {
  for (const KeyType type : {KeyType::kU8, KeyType::kI8, KeyType::kU16, KeyType::kI16}) {
    EXPECT_EQ(test::error_of([&] {
                (void)cpu::make_cpu_engine(test::shape_for({type, false, false}, 10), {})
                    ->make_chunk_lanes();
              }).kind(),
              ErrorKind::kUsage);
  }
}

TEST(CpuEngine, RefusesMemoryThatIsTooSmallForItsChunkLanes) {
  EngineShape shape = wide_shape();
  shape.chunk_lanes = 2;
  const auto need =
      CpuChunkFootprint::of(shape.chunk_elements, 8, shape.threads, shape.block_bytes);
  const io::Arena memory(2 * need.arena_bytes(), "lanes");
  const auto enough = cpu::make_cpu_engine(shape, memory.bytes());
  EXPECT_EQ(enough->make_chunk_lanes().size(), 2U);
  EXPECT_EQ(test::error_of([&] {
              const auto engine =
                  cpu::make_cpu_engine(shape, memory.bytes().first(memory.size() - 1));
              (void)engine->make_chunk_lanes();
            }).kind(),
            ErrorKind::kUsage);
}

TEST(CpuEngine, RefusesMemoryThatIsTooSmallForItsMergeLanes) {
  const std::uint64_t need = CpuMergeFootprint::of(5'000, 8).arena_bytes();
  const io::Arena memory(3 * need, "lanes");
  const auto engine = cpu::make_cpu_engine(wide_shape(), memory.bytes());
  EXPECT_EQ(engine->make_merge_lanes(3, 5'000).size(), 3U);
  EXPECT_EQ(test::error_of([&] { (void)engine->make_merge_lanes(4, 5'000); }).kind(),
            ErrorKind::kUsage);
}

template <class Key>
void expect_sorted_by_halves(const KeyFormat& format, Distribution distribution) {
  SCOPED_TRACE(testing::Message() << test::words_of(format) << ' ' << name_of(distribution));
  const std::uint64_t count = 200'000;
  const EngineShape shape = test::shape_for(format, count, 2, 64 << 10);
  const auto footprint =
      CpuChunkFootprint::of(count, sizeof(Key), shape.threads, shape.block_bytes);
  const io::Arena memory(footprint.arena_bytes(), "a lane");
  const test::Bytes raw = test::generated(format, distribution, count);
  cpu::CpuChunkLane<Key> lane(shape, memory.bytes(), footprint.piece_bytes() / 16);
  test::fill_lane(lane, shape, raw, test::even_sample(raw, sizeof(Key)));
  test::CollectingSink sink(count, sizeof(Key), 0);
  lane.emit(sink);
  EXPECT_EQ(sink.complaint(), "");
  EXPECT_TRUE(sink.bytes() == test::sorted_copy(raw, format));
}

TEST(CpuEngine, HalvesBucketsThatDoNotFitTheCache) {
  for (const Distribution distribution : kAllDistributions) {
    expect_sorted_by_halves<std::uint32_t>({KeyType::kF32, false, true}, distribution);
    expect_sorted_by_halves<std::uint64_t>({KeyType::kI64, false, false}, distribution);
    expect_sorted_by_halves<UInt128>({KeyType::kU128, false, false}, distribution);
  }
}

// The number of pieces that a lane puts of the same random keys.
std::size_t pieces_put(std::uint64_t most_cached_bytes) {
  class CountingSink final : public PieceSink {
   public:
    void put(std::uint64_t /*position*/, ConstByteSpan /*keys*/) override { ++pieces; }
    std::atomic<std::size_t> pieces = 0;
  } sink;
  const KeyFormat format{KeyType::kU32, false, false};
  const std::uint64_t count = 200'000;
  const EngineShape shape = test::shape_for(format, count, 2, 64 << 10);
  const io::Arena memory(
      CpuChunkFootprint::of(count, 4, shape.threads, shape.block_bytes).arena_bytes(), "a lane");
  const test::Bytes raw = test::generated(format, Distribution::kUniform, count);
  cpu::CpuChunkLane<std::uint32_t> lane(shape, memory.bytes(), most_cached_bytes);
  test::fill_lane(lane, shape, raw, test::even_sample(raw, 4));
  lane.emit(sink);
  return sink.pieces;
}

// A piece of an output in order waits for those before it, so a bucket must be ready before any of
// it is put.
TEST(CpuEngine, PutsABucketAtOnceIfItIsHalved) {
  EXPECT_EQ(pieces_put(1 << 10), pieces_put(CpuChunkFootprint::kMostCachedBytes));
}

TEST(CpuEngine, SaysItsName) {
  const io::Arena memory(4096, "nothing");
  EXPECT_EQ(cpu::make_cpu_engine(wide_shape(), memory.bytes())->name(), "cpu");
}

TEST(CpuEngine, HandsOutAlignedBuffers) {
  EngineShape shape = wide_shape();
  shape.chunk_lanes = 2;
  test::EngineUnderTest engine("cpu", shape, 2, 1'001);
  for (const auto& lane : engine->make_chunk_lanes()) {
    lane->begin({});
    const ByteSpan block = lane->acquire_block();
    EXPECT_EQ(block.size(), shape.block_bytes);
    EXPECT_TRUE(io::is_aligned(block.data()));
    lane->add(block, 0, 0);
  }
  for (const auto& lane : engine->make_merge_lanes(2, 1'001)) {
    EXPECT_TRUE(io::is_aligned(lane->input().data()));
    EXPECT_GE(lane->input().size(), 1'001U * 8);
  }
}

}  // namespace
}  // namespace gsort
