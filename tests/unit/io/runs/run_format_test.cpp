#include "io/runs/run_format.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include <xxhash.h>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

struct Block {
  BlockIdentity identity;
  Bytes stored;
};

Block example() {
  const std::array<std::uint32_t, 3> keys = {3, 5, 5};
  Block block;
  block.identity = {0x1122334455667788ULL, 7, 1000, 3, 3, 4};
  block.stored.resize(most_block_bytes(3, 4));
  EXPECT_EQ(
      encode_block(block.identity, std::as_bytes(std::span(keys)), Packing::kAuto, block.stored),
      128U);
  return block;
}

TEST(RunFormat, IsTheOneOfTheExample) {
  const Block block = example();
  constexpr std::array<unsigned, 56> kHeader = {
      0x47, 0x53, 0x52, 0x42, 2, 0, 0, 4, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33,
      0x22, 0x11, 7,    0,    0, 0, 0, 0, 0,    0,    0xe8, 3,    0,    0,
      0,    0,    0,    0,    3, 0, 0, 0, 0,    0,    0,    0,    3,    0,
      0,    0,    12,   0,    0, 0, 0, 0, 0,    0,    0,    0,    0,    0};
  for (std::size_t i = 0; i < kHeader.size(); ++i) {
    EXPECT_EQ(std::to_integer<unsigned>(block.stored[i]), kHeader[i]) << "byte " << i;
  }
  constexpr std::array<unsigned, 12> kPayload = {3, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0};
  for (std::size_t i = 0; i < kPayload.size(); ++i) {
    EXPECT_EQ(std::to_integer<unsigned>(block.stored[kBlockHeaderBytes + i]), kPayload[i]);
  }
  EXPECT_TRUE(std::all_of(block.stored.begin() + kBlockHeaderBytes + 12, block.stored.end(),
                          [](std::byte b) { return b == std::byte{}; }));
}

TEST(RunFormat, GivesBackThePayload) {
  const Block block = example();
  const BlockCheck check = check_block(block.identity, block.stored);
  EXPECT_EQ(check.problem, "");
  ASSERT_EQ(check.payload.size(), 12U);
  EXPECT_EQ(check.payload[4], std::byte{5});
}

TEST(RunFormat, NoticesEveryFlippedBitOfHeaderAndPayload) {
  const Block block = example();
  for (std::size_t at = 0; at < kBlockHeaderBytes + 12; ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      Bytes damaged = block.stored;
      damaged[at] ^= static_cast<std::byte>(1U << bit);
      const BlockCheck check = check_block(block.identity, damaged);
      EXPECT_NE(check.problem, "") << "byte " << at << " bit " << bit;
      EXPECT_TRUE(check.payload.empty());
    }
  }
}

TEST(RunFormat, RefusesEveryOtherIdentity) {
  const Block block = example();
  const auto expect_refused = [&](const auto& change) {
    BlockIdentity other = block.identity;
    change(other);
    EXPECT_NE(check_block(other, block.stored).problem, "");
  };
  expect_refused([](BlockIdentity& other) { other.store ^= 1; });
  expect_refused([](BlockIdentity& other) { other.run = 8; });
  expect_refused([](BlockIdentity& other) { other.position = 999; });
  expect_refused([](BlockIdentity& other) { other.first_key = 4; });
  for (const std::uint32_t count : {0U, 2U, 4U, 1000U, 2000U, 0xffffffffU}) {
    expect_refused([&](BlockIdentity& other) { other.count = count; });
  }
  expect_refused([](BlockIdentity& other) { other.element_bytes = 8; });
}

TEST(RunFormat, RefusesUnknownVersionsAndEncodingsByName) {
  const Block block = example();
  Bytes later = block.stored;
  later[4] = std::byte{3};
  EXPECT_EQ(check_block(block.identity, later).problem, "the block has an unknown version");
  Bytes other = block.stored;
  other[6] = std::byte{2};
  EXPECT_EQ(check_block(block.identity, other).problem, "the block has an unknown encoding");
}

// Gives a block the checksum of what it holds, whoever changed it.
void reseal(Bytes& stored, std::size_t payload_bytes) {
  constexpr std::size_t kChecksumAt = 56;
  const std::uint64_t seed = XXH3_64bits(stored.data(), kChecksumAt);
  const std::uint64_t checksum =
      XXH3_64bits_withSeed(stored.data() + kBlockHeaderBytes, payload_bytes, seed);
  std::memcpy(&stored[kChecksumAt], &checksum, sizeof(checksum));
}

// The checksum alone would let them pass.
TEST(RunFormat, RefusesEveryOtherHeaderThoughItsChecksumMatches) {
  const Block block = example();
  for (std::size_t at = 0; at < 56; ++at) {
    Bytes forged = block.stored;
    forged[at] ^= std::byte{4};
    reseal(forged, at == 44 ? 8 : 12);
    const bool cut = at > 44 && at < 48;  // payload bytes
    const bool other_size = at == 44;
    const std::string_view wanted = at < 4       ? "there is no block"
                                    : at < 6     ? "the block has an unknown version"
                                    : at == 6    ? "the block has an unknown encoding"
                                    : cut        ? "the block is truncated"
                                    : other_size ? "the payload is malformed"
                                                 : "this is another block";
    EXPECT_EQ(check_block(block.identity, forged).problem, wanted) << "byte " << at;
  }
  Bytes packed = block.stored;
  packed[6] = std::byte{1};
  reseal(packed, 12);
  EXPECT_EQ(check_block(block.identity, packed).problem, "the payload is malformed");
  Bytes whole = block.stored;
  reseal(whole, 12);
  EXPECT_EQ(whole, block.stored);
}

TEST(RunFormat, KeepsRecordsPlainAndTellsThemFromKeys) {
  const Bytes records = test::random_bytes(36);
  const BlockIdentity identity{1, 2, 3, 4, 3, 12, true};
  EXPECT_FALSE(is_packable(identity));
  EXPECT_FALSE(is_packable({.element_bytes = 2}));
  EXPECT_TRUE(is_packable({.element_bytes = 4}));
  Bytes stored(most_block_bytes(3, 12));
  encode_block(identity, records, Packing::kOn, stored);
  const BlockCheck check = check_block(identity, stored);
  EXPECT_EQ(check.problem, "");
  EXPECT_EQ(check.encoding, Encoding::kPlain);
  EXPECT_TRUE(std::ranges::equal(check.payload, records));
  Bytes out(12);
  decode_keys(identity, check, 1, 2, out.data());
  EXPECT_TRUE(std::ranges::equal(out, ConstByteSpan(records).subspan(12, 12)));
  BlockIdentity keys = identity;
  keys.records = false;
  EXPECT_EQ(check_block(keys, stored).problem, "this is another block");
  BlockIdentity longer = identity;
  longer.element_bytes = 18;
  longer.count = 2;
  EXPECT_EQ(check_block(longer, stored).problem, "this is another block");
}

TEST(RunFormat, PacksNothingButKeysOfFourAndEightBytes) {
  const Bytes elements(4096);  // alike: as keys of eight bytes they would become a few bytes
  for (const BlockIdentity& identity :
       {BlockIdentity{1, 2, 3, 0, 4096, 1, false}, BlockIdentity{1, 2, 3, 0, 2048, 2, false},
        BlockIdentity{1, 2, 3, 0, 512, 8, true}}) {
    Bytes stored(most_block_bytes(identity.count, identity.element_bytes));
    encode_block(identity, elements, Packing::kOn, stored);
    const BlockCheck check = check_block(identity, stored);
    EXPECT_EQ(check.problem, "");
    EXPECT_EQ(check.encoding, Encoding::kPlain);
  }
}

TEST(RunFormat, NeedsNothingBehindThePayload) {
  const Block block = example();
  const ConstByteSpan shortest = ConstByteSpan(block.stored).first(kBlockHeaderBytes + 12);
  EXPECT_EQ(check_block(block.identity, shortest).problem, "");
}

TEST(RunFormat, RefusesBlocksCutShortAndZeros) {
  const Block block = example();
  for (const std::size_t size : {0U, 1U, 63U, 64U, 75U}) {
    const ConstByteSpan cut = ConstByteSpan(block.stored).first(size);
    EXPECT_EQ(check_block(block.identity, cut).problem, "the block is truncated");
  }
  const Bytes zeros(4096);
  EXPECT_EQ(check_block(block.identity, zeros).problem, "there is no block");
}

TEST(RunFormat, FillsWholePages) {
  for (const std::size_t key_bytes : {1U, 2U, 4U, 8U}) {
    for (const std::uint64_t stored : {4096U, 8192U, 65536U}) {
      const std::uint64_t count = (stored - kBlockHeaderBytes) / key_bytes;
      EXPECT_EQ(most_block_bytes(count, key_bytes), stored);
      EXPECT_GT(most_block_bytes(count + 1, key_bytes), stored);
    }
  }
}

template <class Key>
class RunFormatOf : public testing::Test {
 protected:
  // A block of `count` keys whose differences are below `step`.
  static Block block_of(std::size_t count, Key step, Packing packing) {
    std::vector<Key>& keys = made;
    keys.assign(count, 0);
    for (std::size_t i = 1; i < count; ++i) {
      keys[i] = static_cast<Key>(keys[i - 1] + (i * i * 2654435761U) % step);
    }
    Block block;
    block.identity = {5, 6, 7, 0, static_cast<std::uint32_t>(count), sizeof(Key)};
    block.stored.resize(most_block_bytes(count, sizeof(Key)));
    block.stored.resize(
        encode_block(block.identity, std::as_bytes(std::span(keys)), packing, block.stored));
    return block;
  }
  static inline std::vector<Key> made;
};

using PackableTypes = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(RunFormatOf, PackableTypes);

TYPED_TEST(RunFormatOf, PacksAndGivesBackEveryRange) {
  const Block block = this->block_of(1000, 50, Packing::kAuto);
  EXPECT_LT(block.stored.size(), most_block_bytes(1000, sizeof(TypeParam)) / 2);
  const BlockCheck check = check_block(block.identity, block.stored);
  ASSERT_EQ(check.problem, "");
  EXPECT_EQ(check.encoding, Encoding::kPacked);
  for (const std::size_t begin : {0U, 1U, 300U, 999U, 1000U}) {
    for (const std::size_t end : {300U, 512U, 1000U}) {
      if (end < begin) continue;
      std::vector<TypeParam> keys(end - begin);
      decode_keys(block.identity, check, begin, end, reinterpret_cast<std::byte*>(keys.data()));
      EXPECT_TRUE(std::equal(keys.begin(), keys.end(),
                             this->made.begin() + static_cast<std::ptrdiff_t>(begin)));
    }
  }
}

TYPED_TEST(RunFormatOf, StaysPlainWherePackingDoesNotPay) {
  // Differences of all bits but one: packing saves less than a tenth.
  const auto step = static_cast<TypeParam>(~TypeParam{0} / 5);
  const Block block = this->block_of(5, step, Packing::kAuto);
  EXPECT_EQ(check_block(block.identity, block.stored).encoding, Encoding::kPlain);
  EXPECT_EQ(block.stored.size(), most_block_bytes(5, sizeof(TypeParam)));
}

TYPED_TEST(RunFormatOf, StaysPlainWhenTold) {
  const Block block = this->block_of(1000, 50, Packing::kOff);
  EXPECT_EQ(check_block(block.identity, block.stored).encoding, Encoding::kPlain);
}

TYPED_TEST(RunFormatOf, NoticesEveryDamagedByteOfAPackedBlock) {
  const Block block = this->block_of(600, 50, Packing::kAuto);
  std::uint32_t payload_bytes = 0;
  std::memcpy(&payload_bytes, &block.stored[44], sizeof(payload_bytes));
  for (std::size_t at = 0; at < kBlockHeaderBytes + payload_bytes; ++at) {
    Bytes damaged = block.stored;
    damaged[at] ^= std::byte{0x10};
    EXPECT_NE(check_block(block.identity, damaged).problem, "") << "byte " << at;
  }
  Bytes cut = block.stored;
  cut.resize(kBlockHeaderBytes + payload_bytes - 1);
  EXPECT_EQ(check_block(block.identity, cut).problem, "the block is truncated");
}

TEST(RunFormat, ReadsFirstKeysOfAllWidths) {
  const Bytes keys = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                      std::byte{5}, std::byte{6}, std::byte{7}, std::byte{0xf8}};
  EXPECT_EQ(first_key_of(keys, 1), 0x01U);
  EXPECT_EQ(first_key_of(keys, 2), 0x0201U);
  EXPECT_EQ(first_key_of(keys, 4), 0x04030201U);
  EXPECT_EQ(first_key_of(keys, 8), 0xf807060504030201U);
}

}  // namespace
}  // namespace gsort::io
