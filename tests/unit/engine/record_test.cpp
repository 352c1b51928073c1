// Chunks and parts of records, on every engine that has them: what comes out is std::stable_sort of
// what went in.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cpu/record_chunk_lane.hpp"
#include "engine/record_footprint.hpp"
#include "io/system/memory.hpp"
#include "support/engines.hpp"
#include "support/error_of.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"
#include "support/stably_sorted.hpp"

namespace gsort {
namespace {

using test::Bytes;

KeyField text(std::uint32_t offset, std::uint32_t bytes) {
  return {offset, bytes, std::nullopt, false, false};
}

// A key of one byte, several keys, keys of more than one word, a record as long as any, and some
// that are nothing but keys.
const RecordFormat kFormats[] = {
    {1, {text(0, 1)}},
    {12, {{4, 8, KeyType::kF64, true, true}}},
    {21, {{12, 4, KeyType::kI32, true, true}, text(1, 7)}},
    {100, {text(0, 10)}},
    {40, {text(3, 32), {36, 2, KeyType::kU16, false, true}}},
    {RecordFormat::kMostBytes, {text(16'000, 9)}},
    {16, {text(0, 16)}},
    {16, {{8, 8, KeyType::kI64, false, false}, {0, 8, KeyType::kF64, true, true}}},
};

// Bytes below `values`, the first 16 of each record alike: the fewer, the more keys are equal.
Bytes records_of(const RecordFormat& format, std::uint64_t count, unsigned values) {
  Bytes bytes = test::generated({KeyType::kU8, false, false}, Distribution::kUniform,
                                count * format.bytes, count + values);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool is_alike = format.bytes == 40 && i % format.bytes < 16;
    bytes[i] = static_cast<std::byte>(is_alike ? 7 : static_cast<unsigned>(bytes[i]) % values);
  }
  return bytes;
}

EngineShape shape_of(const RecordFormat& format, std::uint64_t elements) {
  EngineShape shape = test::shape_for({}, elements, 2, record_block_bytes(format.bytes, 64 << 10));
  shape.records = format;
  return shape;
}

class RecordsOfEngine : public test::EngineTest {};

TEST_P(RecordsOfEngine, InAChunkAreSortedStably) {
  for (const RecordFormat& format : kFormats) {
    for (const std::uint64_t count : {0U, 1U, 2U, 700U, 60'001U}) {
      if (count * format.bytes > 16'000'000) continue;
      for (const unsigned values : {1U, 2U, 256U}) {
        SCOPED_TRACE(testing::Message() << format.bytes << ' ' << count << ' ' << values);
        const EngineShape shape = shape_of(format, count + 10);
        test::EngineUnderTest engine(GetParam(), shape);
        const auto lanes = engine->make_chunk_lanes();
        const Bytes raw = records_of(format, count, values);
        test::fill_lane(*lanes[0], shape, raw, test::even_sample(raw, format.bytes), count);
        test::CollectingSink sink(count, format.bytes);
        lanes[0]->emit(sink);
        EXPECT_EQ(sink.complaint(), "");
        EXPECT_TRUE(sink.bytes() == test::stably_sorted(raw, format));
      }
    }
  }
}

// All of them, and all but two: equal ones stay as they came, which is not the other way round.
TEST(RecordChunkLane, GivesEachWorkerAHugePageOfItsOwnAndEachBlockOnce) {
  constexpr std::uint64_t kHugePage = CpuChunkFootprint::kHugePageBytes;
  EngineShape shape = shape_of(kFormats[3], 200'000);
  shape.threads = 3;
  const auto footprint =
      CpuRecordChunkFootprint::of(shape.chunk_elements, 100, shape.threads, shape.block_bytes);
  const io::Arena memory(footprint.arena_bytes(), "a lane");
  cpu::RecordChunkLane lane(shape, memory.bytes());
  std::vector<std::size_t> places;
  for (std::uint64_t block = 0; block < footprint.blocks; ++block) {
    places.push_back(static_cast<std::size_t>(lane.acquire_block().data() - memory.data()));
  }
  EXPECT_EQ(places[0], 0U);
  EXPECT_GE(places[1], kHugePage - shape.block_bytes);
  EXPECT_GE(places[2], 2 * (kHugePage - shape.block_bytes));
  std::ranges::sort(places);
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(places[i], i * shape.block_bytes);
}

TEST_P(RecordsOfEngine, InAChunkAreSortedStablyWhereTheyDescend) {
  const RecordFormat format{12, {{4, 8, KeyType::kU64, false, false}}};
  constexpr std::uint64_t kCount = 60'001;
  const Bytes sorted = test::stably_sorted(records_of(format, kCount, 256), format);
  for (const std::uint64_t equal : {kCount, std::uint64_t{1}, kCount / 2, kCount - 1}) {
    SCOPED_TRACE(equal);
    Bytes raw(sorted.size());
    for (std::uint64_t i = 0; i < kCount; ++i) {
      std::copy_n(sorted.end() - static_cast<std::ptrdiff_t>((i + 1) * format.bytes), format.bytes,
                  raw.begin() + static_cast<std::ptrdiff_t>(i * format.bytes));
    }
    if (equal < kCount) {
      const auto key = raw.begin() + static_cast<std::ptrdiff_t>(equal * format.bytes + 4);
      std::copy_n(key - format.bytes, 8, key);
    }
    const EngineShape shape = shape_of(format, kCount);
    test::EngineUnderTest engine(GetParam(), shape);
    const auto lanes = engine->make_chunk_lanes();
    test::fill_lane(*lanes[0], shape, raw, test::even_sample(raw, format.bytes));
    test::CollectingSink sink(kCount, format.bytes);
    lanes[0]->emit(sink);
    EXPECT_TRUE(sink.bytes() == test::stably_sorted(raw, format));
  }
}

TEST_P(RecordsOfEngine, InAChunkAreSortedWhateverTheSampleSaidOfHowTheyBegin) {
  const RecordFormat format{40, {text(3, 32)}};
  for (const std::uint64_t others : {0U, 1U, 30'000U}) {
    Bytes raw = records_of(format, 60'000, 256);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (i % 40 >= 3 && i % 40 < 27) raw[i] = std::byte{9};
    }
    const Bytes sample = test::even_sample(raw, format.bytes);  // of records that begin alike
    for (std::uint64_t i = 0; i < others; ++i) raw[40 * (2 * i + 1) + 5] = std::byte{3};
    const EngineShape shape = shape_of(format, 60'000);
    test::EngineUnderTest engine(GetParam(), shape);
    const auto lanes = engine->make_chunk_lanes();
    for (int turn = 0; turn < 2; ++turn) {
      test::fill_lane(*lanes[0], shape, raw, sample);
      test::CollectingSink sink(60'000, format.bytes);
      lanes[0]->emit(sink);
      EXPECT_TRUE(sink.bytes() == test::stably_sorted(raw, format)) << others;
    }
  }
}

TEST_P(RecordsOfEngine, InAChunkPassTheFailureOfASinkOn) {
  const RecordFormat format{12, {{4, 8, KeyType::kU64, false, false}}};
  const EngineShape shape = shape_of(format, 300'000);
  const Bytes raw = records_of(format, 300'000, 256);
  for (const std::uint64_t failing : {0U, 100'000U, 299'999U}) {
    SCOPED_TRACE(failing);
    test::EngineUnderTest engine(GetParam(), shape);
    const auto lanes = engine->make_chunk_lanes();
    test::fill_lane(*lanes[0], shape, raw, test::even_sample(raw, format.bytes), 300'000);
    test::StreamSink sink(format.bytes, 0, failing);
    const Error error = test::error_of([&] { lanes[0]->emit(sink); });
    EXPECT_EQ(error.reason(), test::StreamSink::kFailure);
  }
}

TEST_P(RecordsOfEngine, InAPartAreMergedStably) {
  const std::vector<std::uint64_t> counts = {300, 0, 1, 2'000, 299};
  for (const RecordFormat& format : kFormats) {
    if (format.bytes > 1'000) continue;
    for (const unsigned values : {1U, 2U, 256U}) {
      SCOPED_TRACE(testing::Message() << format.bytes << ' ' << values);
      Bytes slices;
      for (const std::uint64_t count : counts) {
        const Bytes slice = test::stably_sorted(records_of(format, count, values), format);
        slices.insert(slices.end(), slice.begin(), slice.end());
      }
      const std::uint64_t total = slices.size() / format.bytes;
      test::EngineUnderTest engine(GetParam(), shape_of(format, 10), 1, total);
      const auto lanes = engine->make_merge_lanes(1, total);
      std::ranges::copy(slices, lanes[0]->input().begin());
      test::CollectingSink sink(total, format.bytes, 77);
      lanes[0]->merge(counts, 77, KeyForm::kRaw, sink);
      EXPECT_EQ(sink.complaint(), "");
      EXPECT_TRUE(sink.bytes() == test::stably_sorted(slices, format));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, RecordsOfEngine,
                         testing::Values("cpu", "cuda", "cuda_x2", "cuda_x4"), test::engine_name);

}  // namespace
}  // namespace gsort
