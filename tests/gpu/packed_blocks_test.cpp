// Packing and unpacking blocks on the card: bit by bit what the host packs, and the keys again, for
// every width, at the borders of groups, blocks and groups of blocks, with nothing written beside.
#include "gpu/engine/packed_blocks.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "gpu/cuda/architecture.hpp"
#include "gpu/engine/packed_elements.hpp"
#include "support/stored_form.hpp"

namespace gsort::gpu {
namespace {

using test::StoredForm;

template <class Key>
class PackedBlocksOf : public GpuTest {};
using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t, UInt128>;
TYPED_TEST_SUITE(PackedBlocksOf, KeyTypes);

template <class Key>
constexpr unsigned kBits = 8 * sizeof(Key);

template <class Key>
Key random_number(std::mt19937_64& random, unsigned bits) {
  if (bits == 0) return 0;
  if (bits <= 64) return static_cast<Key>(random() >> (64 - bits));
  const UInt128 upper = random() >> (128 - bits);
  return static_cast<Key>(upper << 64 | random());
}

// Ascending keys whose differences take up to `bits` bits, as long as they do not overflow.
template <class Key>
std::vector<Key> keys_with_steps(std::size_t count, unsigned bits, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Key> keys(count);
  Key key = static_cast<Key>(random() >> (65 - kBits<Key> / 2));
  for (Key& place : keys) {
    const auto step = random_number<Key>(random, bits);
    if (step <= static_cast<Key>(~key)) key = static_cast<Key>(key + step);
    place = key;
  }
  return keys;
}

template <class Key>
std::span<const std::byte> bytes_of(const std::vector<Key>& keys) {
  return std::as_bytes(std::span(keys));
}

// Packs on the card and compares with the host's blocks.
template <class Key>
void expect_packs(const std::vector<Key>& keys, BlockShape shape) {
  SCOPED_TRACE(::testing::Message() << keys.size() << " keys in blocks of " << shape.block_elements
                                    << ", " << shape.group_blocks << " a group");
  shape.count = keys.size();
  shape.key_bytes = sizeof(Key);
  const StoredForm wanted =
      test::to_stored(bytes_of(keys), sizeof(Key), shape.block_elements, shape.packing);
  const DeviceArray<Key> input(keys);
  const DeviceArray<std::uint32_t> block_bytes(shape.blocks());
  const DeviceArray<std::byte> packed(shape.packed_bytes());
  launch_pack_blocks(input.get(), shape, block_bytes.get(), packed.get(), current_architecture(),
                     nullptr);
  ASSERT_EQ(block_bytes.values(), wanted.block_bytes);
  EXPECT_TRUE(block_bytes.guards_hold());
  EXPECT_TRUE(packed.guards_hold());
  const std::vector<std::byte> found = packed.values();
  auto next = wanted.payloads.begin();
  std::uint64_t place = 0;
  for (std::size_t block = 0; block < wanted.block_bytes.size(); ++block) {
    if (block % shape.group_blocks == 0) {
      place = block / shape.group_blocks * shape.group_bytes();
    }
    const std::uint32_t size = wanted.block_bytes[block];
    ASSERT_TRUE(std::equal(next, next + size, found.begin() + static_cast<long>(place)))
        << "block " << block;
    next += static_cast<long>(round_up(size, kPayloadAlignment));
    place += round_up(size, kPayloadAlignment);
  }
}

BlockShape shape_of(std::uint64_t block_elements, std::uint64_t group_blocks,
                    Packing packing = Packing::kAuto) {
  BlockShape shape;
  shape.block_elements = block_elements;
  shape.group_blocks = group_blocks;
  shape.packing = packing;
  return shape;
}

TYPED_TEST(PackedBlocksOf, ArePackedAsTheHostPacksThemInEveryWidth) {
  for (unsigned bits = 0; bits <= kBits<TypeParam>; ++bits) {
    const auto keys = keys_with_steps<TypeParam>(5'000, bits, bits);
    expect_packs(keys, shape_of(1'008, 3));
    expect_packs(keys, shape_of(2'040, 1, Packing::kOn));
  }
}

TYPED_TEST(PackedBlocksOf, ArePackedAtTheBordersOfGroupsAndBlocks) {
  for (const std::uint64_t block : {1U, 7U, 255U, 256U, 257U, 2'047U, 2'048U, 2'049U, 16'368U}) {
    for (const std::uint64_t group : {1U, 2U, 100U}) {
      for (const std::uint64_t count : {std::uint64_t{1}, block - 1, block, block + 1, 2 * block,
                                        5 * block + 3, group * block, group * block + 1}) {
        if (count == 0 || count / block > 300) continue;
        const auto keys = keys_with_steps<TypeParam>(count, 9, count);
        expect_packs(keys, shape_of(block, group, Packing::kOn));
      }
    }
  }
}

TYPED_TEST(PackedBlocksOf, StayPlainWherePackingSavesTooLittle) {
  using Key = TypeParam;
  // A jump in every group of 256 keys, so that packing saves less than a tenth.
  constexpr unsigned kJump = kBits<Key> - (kIsWide<Key> ? 8 : 4);
  std::vector<Key> keys(3'000);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = static_cast<Key>((static_cast<Key>(i / 200) << kJump) + i);
  }
  for (const Packing packing : {Packing::kAuto, Packing::kOn, Packing::kOff}) {
    expect_packs(keys, shape_of(1'000, 2, packing));
  }
  const auto sizes = [&](Packing packing) {
    return test::to_stored(bytes_of(keys), sizeof(Key), 1'000, packing).block_bytes;
  };
  EXPECT_EQ(sizes(Packing::kAuto), std::vector<std::uint32_t>(3, 1'000 * sizeof(Key)));
  EXPECT_LT(sizes(Packing::kOn).front(), 1'000 * sizeof(Key));
}

// Unpacks pieces of `keys`, stored in blocks, behind one another, and compares.
template <class Key>
void expect_unpacks(const std::vector<Key>& keys, std::uint64_t block_elements, Packing packing,
                    std::size_t step) {
  const StoredForm stored = test::to_stored(bytes_of(keys), sizeof(Key), block_elements, packing);
  std::vector<StoredKeys> pieces;
  std::vector<Key> wanted;
  std::uint64_t payload = 0;
  for (std::size_t block = 0; block < stored.block_bytes.size(); ++block) {
    const std::uint64_t first = block * block_elements;
    const auto count =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(keys.size() - first, block_elements));
    const std::uint32_t packed = stored.block_bytes[block] < count * sizeof(Key) ? 1 : 0;
    for (std::uint32_t begin = 0; begin < count; begin += static_cast<std::uint32_t>(step)) {
      for (const std::uint32_t length : {std::uint32_t{1}, std::uint32_t{256}, count}) {
        const std::uint32_t end = std::min(count, begin + length);
        pieces.push_back({payload, wanted.size(), count, begin, end, packed});
        wanted.insert(wanted.end(), keys.begin() + static_cast<long>(first + begin),
                      keys.begin() + static_cast<long>(first + end));
      }
    }
    payload += round_up(stored.block_bytes[block], kPayloadAlignment);
  }
  std::shuffle(pieces.begin(), pieces.end(), std::mt19937(7));
  const DeviceArray<std::byte> input(stored.payloads);
  const DeviceArray<StoredKeys> table(pieces);
  for (const std::size_t misalign : {0U, 1U, 3U}) {
    const DeviceArray<Key> output(wanted.size(), misalign);
    launch_unpack_blocks(input.get(), table.get(), pieces.size(), output.get(),
                         current_architecture(), nullptr);
    ASSERT_EQ(output.values(), wanted);
    EXPECT_TRUE(output.guards_hold());
  }
}

TYPED_TEST(PackedBlocksOf, AreUnpackedInEveryWidth) {
  for (unsigned bits = 0; bits <= kBits<TypeParam>; ++bits) {
    const auto keys = keys_with_steps<TypeParam>(3'500, bits, bits);
    expect_unpacks(keys, 1'008, Packing::kOn, 333);
  }
}

TYPED_TEST(PackedBlocksOf, AreUnpackedFromAnyKeyToAnyOther) {
  for (const std::uint64_t block : {1U, 255U, 256U, 257U, 2'049U, 5'000U}) {
    expect_unpacks(keys_with_steps<TypeParam>(6'001, 11, block), block, Packing::kOn, 101);
  }
  expect_unpacks(keys_with_steps<TypeParam>(6'001, 11, 1), 1'000, Packing::kOff, 101);
}

TYPED_TEST(PackedBlocksOf, ComeBackAsTheyWereFromLargeBlocks) {
  using Key = TypeParam;
  constexpr std::size_t kCount = 3'000'001;
  if (are_too_many(kCount)) GTEST_SKIP() << "SKIPPED: too many keys for this tool";
  const auto keys = keys_with_steps<Key>(kCount, 6, 1);
  for (const std::uint64_t block : {16'368U, 1'000'000U}) {
    expect_packs(keys, shape_of(block, 128));
    expect_unpacks(keys, block, Packing::kAuto, block / 2);
  }
}

TEST(PackedElements, AreRefusedWithSizesThatCannotBe) {
  PackedElements packed;
  packed.shape = shape_of(1'000, 4);
  packed.shape.count = 2'500;
  packed.shape.key_bytes = 4;
  packed.block_bytes = {4'000, 1, 2'000};
  EXPECT_NO_THROW(require_possible_sizes(packed));
  for (const std::vector<std::uint32_t>& sizes : {std::vector<std::uint32_t>{4'001, 1, 2'000},
                                                  {4'000, 0, 2'000},
                                                  {4'000, 1, 2'001},
                                                  {4'000, 1, 0x80000000U}}) {
    packed.block_bytes = sizes;
    EXPECT_THROW(require_possible_sizes(packed), Error);
  }
}

}  // namespace
}  // namespace gsort::gpu
