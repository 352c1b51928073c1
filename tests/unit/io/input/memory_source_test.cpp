#include "io/input/memory_source.hpp"

#include <algorithm>
#include <optional>

#include "io/input/reader.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

MemoryInput array_of(const std::string& name, const Bytes& bytes, KeyType type = KeyType::kU32) {
  StoredArray array;
  array.key = KeyFormat{type};
  return {name, array, bytes.size(), [&bytes](ByteSpan to, std::uint64_t at) {
            std::copy_n(bytes.begin() + static_cast<long>(at), to.size(), to.begin());
          }};
}

Bytes read_all(Reader& reader, std::uint64_t begin = 0) {
  Bytes all;
  Bytes room(4096);
  while (const auto block = reader.next(room)) {
    EXPECT_EQ(block->position_bytes, begin + all.size());
    all.insert(all.end(), room.begin(), room.begin() + static_cast<long>(block->bytes));
  }
  return all;
}

TEST(MemorySource, GivesItsBytesBetweenThoseOfFiles) {
  const TempFolder folder;
  const Bytes file = random_bytes(10'000);
  const Bytes array = random_bytes(20'000);
  write_file(folder / "in.u32", file);
  Reader reader(
      {folder / "in.u32", "<array>", folder / "in.u32"},
      {.element_bytes = 4, .key = {KeyType::kU32}, .memory = {array_of("<array>", array)}});
  EXPECT_EQ(reader.known_size(), 40'000U);
  Bytes expected = file;
  expected.insert(expected.end(), array.begin(), array.end());
  expected.insert(expected.end(), file.begin(), file.end());
  EXPECT_EQ(read_all(reader), expected);
  EXPECT_TRUE(reader.at_end());
  EXPECT_NO_THROW(reader.check_unchanged());
}

TEST(MemorySource, SkipsNoFurtherThanItsEnd) {
  const Bytes array = random_bytes(800);
  MemorySource source(array_of("a", array));
  source.skip(300);
  source.skip(UINT64_MAX);
  EXPECT_TRUE(source.at_end());
}

TEST(MemorySource, SaysWhatItsKeysAre) {
  const Bytes array = random_bytes(800);
  Reader reader({"a"}, {.memory = {array_of("a", array, KeyType::kF64)}});
  EXPECT_TRUE(reader.key_is_stored());
  EXPECT_EQ(reader.key().type, KeyType::kF64);
  EXPECT_EQ(reader.path_of(0), "a");
  EXPECT_EQ(reader.state_of(0), std::nullopt);
}

TEST(MemorySource, MayBeSampledAndBegunLater) {
  const Bytes array = random_bytes(80'000);
  Reader reader({"a"}, {.memory = {array_of("a", array)}});
  Bytes sample(8'192);
  EXPECT_EQ(reader.sample(sample, 0, 80'000), 8'192U);
  EXPECT_TRUE(std::equal(sample.begin(), sample.begin() + 4, array.begin()));
  EXPECT_TRUE(std::equal(sample.end() - 4, sample.end(), array.end() - 4));
  reader.begin_at(4'000);
  EXPECT_EQ(read_all(reader, 4'000), Bytes(array.begin() + 4'000, array.end()));
  ASSERT_TRUE(reader.rewind());
  EXPECT_EQ(read_all(reader), array);
}

TEST(MemorySource, DisagreesWithAnotherType) {
  const Bytes array = random_bytes(800);
  const Error error = error_of([&] {
    const Reader reader({"a", "b"},
                        {.memory = {array_of("a", array), array_of("b", array, KeyType::kF32)}});
  });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_EQ(error.path(), "b");
}

}  // namespace
}  // namespace gsort::io
