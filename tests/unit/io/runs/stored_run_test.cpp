// Runs that are written and read in stored form, by engines that pack by themselves: they are the
// same runs, and as safe.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "io/runs/run_store.hpp"
#include "io/system/memory.hpp"
#include "support/stored_form.hpp"
#include "support/vector_tier.hpp"
#include "unit/io/runs.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

// Sorted keys whose differences take up to `bits` bits.
template <class Key>
std::vector<Key> keys_within(std::size_t bits, std::size_t count) {
  std::mt19937_64 random(bits * 1000 + count);
  std::vector<Key> keys(count);
  for (Key& key : keys) key = static_cast<Key>(random() >> (64 - bits));
  std::ranges::sort(keys);
  return keys;
}

RunStoreOptions options_for(std::uint64_t block_elements, Packing packing) {
  RunStoreOptions options;
  options.block_elements = block_elements;
  options.write_buffer_bytes = 16384;
  options.packing = packing;
  return options;
}

// Every other piece in stored form; the pieces are whole blocks.
template <class Key>
io::Run store_mixed(RunStore& store, const std::vector<Key>& keys, std::size_t piece) {
  RunWriter writer = store.begin_run(keys.size());
  for (std::size_t at = 0; at < keys.size(); at += piece) {
    const ConstByteSpan some = bytes(keys, at, std::min(at + piece, keys.size()));
    if (at / piece % 2 == 0) {
      const gsort::test::StoredForm stored =
          gsort::test::to_stored(some, sizeof(Key), writer.block_elements(), writer.packing());
      writer.put_blocks(at, stored.blocks());
    } else {
      writer.put(at, some);
    }
  }
  return writer.finish();
}

// Reads keys by way of the stored form. `packed` counts pieces that were packed.
template <class Key>
std::vector<Key> read_stored(const io::Run& run, std::uint64_t begin, std::uint64_t end,
                             ByteSpan scratch, std::size_t* packed = nullptr) {
  const Arena room(run.fences().stored_bytes(begin, end) + 1, "tests");
  const ByteSpan out = room.bytes().first(run.fences().stored_bytes(begin, end));
  std::vector<StoredKeys> pieces(run.fences().blocks_of(begin, end));
  run.read_stored(begin, end, out, pieces, scratch);
  std::vector<Key> keys(end - begin);
  for (const StoredKeys& piece : pieces) {
    EXPECT_EQ(piece.payload % kPayloadAlignment, 0U);
    const Bytes some = gsort::test::keys_of(piece, out, sizeof(Key));
    EXPECT_LE(piece.position * sizeof(Key) + some.size(), keys.size() * sizeof(Key));
    std::ranges::copy(
        some,
        std::as_writable_bytes(std::span(keys)).subspan(piece.position * sizeof(Key)).begin());
    if (packed != nullptr) *packed += piece.packed;
  }
  return keys;
}

template <class Key>
class StoredRunOf : public testing::Test {};
using KeyTypes = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(StoredRunOf, KeyTypes);

TYPED_TEST(StoredRunOf, GivesBackEveryRangeOfEveryShape) {
  using Key = TypeParam;
  const TempFolder folder;
  const Arena scratch(std::size_t{1} << 20, "tests");
  for (const Packing packing : {Packing::kAuto, Packing::kOn, Packing::kOff}) {
    for (const std::size_t block : {1U, 7U, 256U, 1000U}) {
      RunStore store({folder.path()}, sizeof(Key), options_for(block, packing));
      for (const std::size_t count : {1U, 255U, 256U, 257U, 3001U}) {
        const auto keys = keys_within<Key>(8 * sizeof(Key) - 1, count);
        const io::Run run = store_mixed(store, keys, 2 * block);
        ASSERT_EQ(run.elements(), count);
        for (std::size_t begin = 0; begin <= count; begin += 499) {
          for (std::size_t end = begin; end <= count; end += 373) {
            const std::vector<Key> wanted(keys.begin() + static_cast<long>(begin),
                                          keys.begin() + static_cast<long>(end));
            ASSERT_EQ(read_stored<Key>(run, begin, end, scratch.bytes()), wanted);
            ASSERT_EQ(read_back<Key>(run, begin, end, scratch.bytes()), wanted);
          }
        }
      }
    }
  }
}

TYPED_TEST(StoredRunOf, IsTheRunThatPlainPiecesMake) {
  using Key = TypeParam;
  const TempFolder folder;
  const Arena scratch(std::size_t{1} << 20, "tests");
  const std::size_t block = 1008;
  for (const std::size_t bits : {4 * sizeof(Key), 6 * sizeof(Key)}) {
    const auto keys = keys_within<Key>(bits, 50'000);
    RunStore plain_store({folder.path()}, sizeof(Key), options_for(block, Packing::kAuto));
    RunWriter writer = plain_store.begin_run(keys.size());
    writer.put(0, bytes(keys, 0, keys.size()));
    const io::Run plain = writer.finish();
    RunStore mixed_store({folder.path()}, sizeof(Key), options_for(block, Packing::kAuto));
    const io::Run mixed = store_mixed(mixed_store, keys, 5 * block);
    ASSERT_EQ(mixed.fences().block_count(), plain.fences().block_count());
    for (std::size_t i = 0; i < plain.fences().block_count(); ++i) {
      EXPECT_EQ(mixed.fences().first_key(i), plain.fences().first_key(i));
      EXPECT_EQ(mixed.fences().first_position(i), plain.fences().first_position(i));
    }
    EXPECT_EQ(mixed_store.key_bytes_put(), plain_store.key_bytes_put());
    std::size_t packed = 0;
    EXPECT_EQ(read_stored<Key>(mixed, 0, keys.size(), scratch.bytes(), &packed), keys);
    EXPECT_GE(packed + 1, plain.fences().block_count());  // the last may be too short
    EXPECT_LT(mixed_store.bytes_written(), keys.size() * sizeof(Key));
  }
}

TYPED_TEST(StoredRunOf, IsReadFromMemoryAndFromADeviceToo) {
  using Key = TypeParam;
  const TempFolder folder;
  const Arena scratch(std::size_t{1} << 20, "tests");
  const auto keys = keys_within<Key>(8 * sizeof(Key), 100'000);
  RunStoreOptions options = options_for(1000, Packing::kAuto);
  options.kept_buffers = 3;
  options.tier = std::make_shared<gsort::test::VectorTier>(std::uint64_t{4} << 16);
  options.tier_buffers = 4;
  RunStore store({folder.path()}, sizeof(Key), options);
  const io::Run run = store_mixed(store, keys, 3000);
  EXPECT_GT(store.bytes_kept(), 0U);
  EXPECT_GT(store.bytes_in_tier(), 0U);
  EXPECT_GT(store.bytes_written(), 0U);
  EXPECT_EQ(read_stored<Key>(run, 0, keys.size(), scratch.bytes()), keys);
}

TEST(StoredRun, WithADamagedBlockIsRefused) {
  const TempFolder folder;
  const Arena scratch(std::size_t{1} << 20, "tests");
  const auto keys = keys_within<std::uint32_t>(32, 20'000);
  RunStoreOptions options = options_for(1000, Packing::kAuto);
  options.direct_io = DirectIo::kOff;
  RunStore store({folder.path()}, 4, options);
  const io::Run run = store_mixed(store, keys, 2000);
  const int file = file_in(folder.path());
  ASSERT_GE(file, 0);
  std::byte changed{};
  ASSERT_EQ(sys::pread(file, &changed, 1, 200), 1);
  changed ^= std::byte{1};
  ASSERT_EQ(sys::pwrite(file, &changed, 1, 200), 1);
  const auto error =
      error_of([&] { read_stored<std::uint32_t>(run, 0, keys.size(), scratch.bytes()); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_TRUE(contains(error.what(), "the checksum does not match")) << error.what();
}

TEST(StoredRun, WithPiecesMissingIsNone) {
  const TempFolder folder;
  const auto keys = keys_within<std::uint64_t>(64, 5'000);
  RunStore store({folder.path()}, 8, options_for(1000, Packing::kAuto));
  RunWriter writer = store.begin_run(keys.size());
  const gsort::test::StoredForm stored =
      gsort::test::to_stored(bytes(keys, 2000, 5000), 8, 1000, Packing::kAuto);
  writer.put_blocks(2000, stored.blocks());
  const auto error = error_of([&] { static_cast<void>(writer.finish()); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
}

// Wrongly packed keys of an engine are refused before they get a checksum.
TEST(StoredRun, TakesNoPayloadsOfTheWrongForm) {
  const TempFolder folder;
  const auto keys = keys_within<std::uint32_t>(20, 1'000);
  RunStore store({folder.path()}, 4, options_for(1000, Packing::kAuto));
  const gsort::test::StoredForm right =
      gsort::test::to_stored(bytes(keys, 0, 1'000), 4, 1'000, Packing::kAuto);
  gsort::test::StoredForm wrong_width = right;
  wrong_width.payloads[4 * 4] ^= std::byte{1};  // behind the first keys of four groups
  gsort::test::StoredForm wrong_size = right;
  wrong_size.block_bytes[0] -= 4;
  for (const gsort::test::StoredForm& wrong : {wrong_width, wrong_size}) {
    RunWriter writer = store.begin_run(keys.size());
    const auto error = error_of([&] { writer.put_blocks(0, wrong.blocks()); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_TRUE(contains(error.what(), "are not the size of 1000 keys")) << error.what();
    EXPECT_TRUE(contains(error.hint(), "--engine cpu")) << error.hint();
  }
}

TEST(StoredRun, IsNotOfRecordsOrNarrowKeys) {
  const TempFolder folder;
  for (const std::size_t key_bytes : {1U, 2U, 4U, 8U}) {
    RunStore store({folder.path()}, key_bytes, options_for(100, Packing::kAuto));
    EXPECT_EQ(store.begin_run(100).takes_blocks(), key_bytes >= 4);
  }
  RunStoreOptions options = options_for(100, Packing::kAuto);
  RecordFormat format;
  format.bytes = 8;
  format.keys.emplace_back();
  format.keys[0].bytes = 8;
  options.records.emplace(format);
  RunStore store({folder.path()}, 8, options);
  EXPECT_FALSE(store.begin_run(100).takes_blocks());
}

}  // namespace
}  // namespace gsort::io
