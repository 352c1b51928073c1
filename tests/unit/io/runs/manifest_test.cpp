#include "io/runs/manifest.hpp"

#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <utility>

#include <xxhash.h>

#include "element/record_format.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

// The one of the header's comment.
Manifest example() {
  Manifest manifest;
  manifest.folder_is_made = true;
  manifest.store = 0x1122334455667788;
  manifest.next_run = 2;
  manifest.block_elements = 2044;
  manifest.element_bytes = 4;
  manifest.job = "u32";
  manifest.sample = 8;
  manifest.inputs = {{"in", 16352, 1'000'000'000}};
  manifest.runs = {{1, {4088, 5, 6}, {20480, 2, 7}}};
  return manifest;
}

Bytes encoded(const Manifest& manifest) {
  return encode_manifest(manifest);
}

std::string problem_of(ConstByteSpan bytes) {
  Manifest manifest;
  return std::string(parse_manifest(bytes, manifest));
}

// The checksum at the end made right again.
Bytes repaired(Bytes bytes) {
  const std::uint64_t checksum = XXH3_64bits(bytes.data(), bytes.size() - sizeof(checksum));
  std::memcpy(bytes.data() + bytes.size() - sizeof(checksum), &checksum, sizeof(checksum));
  return bytes;
}

template <class Number>
Bytes with(Bytes bytes, std::size_t at, Number number) {
  std::memcpy(bytes.data() + at, &number, sizeof(number));
  return repaired(std::move(bytes));
}

TEST(ManifestFormat, IsTheOneOfTheExample) {
  constexpr unsigned kExample[] = {
      0x47, 0x53, 0x52, 0x4d, 0x02, 0x00, 0x01, 0x00, 0x99, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x02, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0xfc, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00,
      0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
      0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x75, 0x33, 0x32, 0xe0, 0x3f, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xca, 0x9a, 0x3b, 0x00, 0x00, 0x00, 0x00, 0x02,
      0x00, 0x00, 0x00, 0x69, 0x6e, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf8,
      0x0f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x06, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x33, 0x79, 0xfd, 0xd7, 0xf6, 0x17, 0x98, 0x92};
  const Bytes bytes = encoded(example());
  ASSERT_EQ(bytes.size(), std::size(kExample));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(std::to_integer<unsigned>(bytes[i]), kExample[i]) << "byte " << i;
  }
}

// A manifest that a sort may write: any job and paths, runs of any sizes that a file can hold.
Manifest any_manifest(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t end) { return random() % end; };
  const auto text = [&](std::size_t most) {
    std::string letters(below(most + 1), ' ');
    for (char& letter : letters) letter = static_cast<char>(random());
    return letters;
  };
  Manifest manifest;
  manifest.folder_is_made = below(2) == 0;
  manifest.is_committing = below(2) == 0;
  manifest.store = random();
  manifest.element_bytes = static_cast<std::uint32_t>(1 + below(1000));
  manifest.block_elements = 1 + below(4'000'000);
  manifest.job = text(100);
  manifest.sample = random();
  for (std::uint64_t i = below(5); i > 0; --i) {
    manifest.inputs.push_back({text(300), random(), static_cast<std::int64_t>(random())});
  }
  for (std::uint64_t i = below(40); i > 0; --i) {
    manifest.next_run += 1 + below(3);
    const std::uint64_t blocks = 1 + below(1'000'000);
    const std::uint64_t elements = blocks + below(blocks * (manifest.block_elements - 1) + 1);
    manifest.runs.push_back(
        {manifest.next_run - 1,
         {elements, random(), random()},
         {(blocks / 64 + 1 + below(std::uint64_t{1} << 40)) * 4096, blocks, random()}});
  }
  if (below(3) == 0) {
    manifest.has_places = true;
    std::uint64_t end = 0;
    for (ManifestRun& run : manifest.runs) {
      run.first_element = end + below(1000);
      end = run.first_element + run.input.count;
    }
  } else if (below(2) == 0) {
    const auto shares = static_cast<std::uint32_t>(1 + below(UINT32_MAX));
    ManifestShare share{
        static_cast<std::uint32_t>(below(shares)), shares, below(2) == 0, random() >> 1U, 0, {}};
    if (below(2) == 0) share.dtype_version = static_cast<std::uint32_t>(1 + below(3));
    if (share.dtype_version > 0) share.dtype = "x" + text(50);
    manifest.share = share;
  }
  return manifest;
}

// The one of the header's comment as the second of three shares.
Manifest example_of_share() {
  Manifest manifest = example();
  manifest.share = {1, 3, true, 0, 1, "'<u4'"};
  return manifest;
}

TEST(ManifestFormat, HasAShareBehindTheRuns) {
  constexpr unsigned kShare[] = {1, 0, 0, 0, 3, 0, 0, 0, 0, 0,    0,    0,    0,    0,   0,
                                 0, 1, 0, 0, 0, 5, 0, 0, 0, 0x27, 0x3c, 0x75, 0x34, 0x27};
  const Bytes bytes = encoded(example_of_share());
  const std::size_t begin = encoded(example()).size() - 8;
  ASSERT_EQ(bytes.size(), begin + std::size(kShare) + 8);
  EXPECT_EQ(std::to_integer<unsigned>(bytes[4]), 5U);
  EXPECT_EQ(std::to_integer<unsigned>(bytes[6]), 1U | 4U);
  for (std::size_t i = 0; i < std::size(kShare); ++i) {
    EXPECT_EQ(std::to_integer<unsigned>(bytes[begin + i]), kShare[i]) << "byte " << i;
  }
}

TEST(ManifestFormat, RefusesSharesThatCannotBe) {
  const auto refused = [](const std::function<void(ManifestShare&)>& change) {
    Manifest manifest = example_of_share();
    change(*manifest.share);
    return problem_of(encoded(manifest)) == "its contents are inconsistent";
  };
  EXPECT_FALSE(refused([](ManifestShare&) {}));
  EXPECT_TRUE(refused([](ManifestShare& share) { share.number = 3; }));
  EXPECT_TRUE(refused([](ManifestShare& share) { share.number = share.shares = 0; }));
  EXPECT_TRUE(refused([](ManifestShare& share) { share.first_element = UINT64_MAX; }));
  EXPECT_TRUE(refused([](ManifestShare& share) { share.dtype_version = 0; }));
  EXPECT_TRUE(refused([](ManifestShare& share) { share.dtype_version = 4; }));
  EXPECT_TRUE(refused([](ManifestShare& share) { share.dtype.clear(); }));
}

TEST(ManifestFormat, RefusesElementsThatCannotBe) {
  for (const std::uint32_t bytes : {0U, RecordFormat::kMostBytes + 1, UINT32_MAX}) {
    Manifest manifest = example();
    manifest.element_bytes = bytes;
    manifest.block_elements = manifest.runs[0].index.blocks = manifest.runs[0].input.count = 1;
    EXPECT_EQ(problem_of(encoded(manifest)), "its contents are inconsistent") << bytes;
  }
}

// A file of holes may be of any size.
TEST(ManifestFormat, HasAHeaderThatExplainsItsSize) {
  const Bytes bytes = encoded(example_of_share());
  const auto header = [&](std::size_t at, auto number) {
    Bytes changed(bytes.begin(), bytes.begin() + kManifestHeaderBytes);
    std::memcpy(changed.data() + at, &number, sizeof(number));
    return changed;
  };
  const std::uint64_t size = bytes.size();
  EXPECT_EQ(problem_of_header(header(8, size), size), "");
  EXPECT_EQ(problem_of_header(header(8, size), size + 1), "it is truncated or too long");
  constexpr std::uint64_t kLarge = 900'000'000;
  EXPECT_EQ(problem_of_header(header(8, kLarge), kLarge), "it is too long for a manifest");
  constexpr std::uint64_t kLess = 200'000'000;
  constexpr std::string_view kUnlike = "its size does not match its contents";
  EXPECT_EQ(problem_of_header(header(8, kLess), kLess), kUnlike);
  for (const std::size_t field : {44U, 48U, 52U}) {  // the bytes of the text, inputs, runs
    EXPECT_EQ(problem_of_header(header(field, std::uint32_t{100'000}), size), kUnlike) << field;
  }
}

// The run of the header's comment, behind ten other elements.
Manifest example_with_places() {
  Manifest manifest = example();
  manifest.has_places = true;
  manifest.runs[0].first_element = 10;
  return manifest;
}

TEST(ManifestFormat, HasThePlaceOfEachRunBehindIt) {
  const Bytes bytes = encoded(example_with_places());
  ASSERT_EQ(bytes.size(), encoded(example()).size() + 8);
  EXPECT_EQ(std::to_integer<unsigned>(bytes[4]), 4U);
  EXPECT_EQ(std::to_integer<unsigned>(bytes[6]), 1U);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(std::to_integer<unsigned>(bytes[bytes.size() - 16 + i]), i == 0 ? 10U : 0U);
  }
  EXPECT_EQ(problem_of(with(bytes, 6, std::uint16_t{1 | 4})), "it has unknown flags");
}

TEST(ManifestFormat, RefusesPlacesThatCannotBe) {
  const auto refused = [](std::uint64_t first, std::uint64_t second) {
    Manifest manifest = example_with_places();
    manifest.next_run = 3;
    manifest.runs.push_back(manifest.runs[0]);
    manifest.runs[1].number = 2;
    manifest.runs[0].first_element = first;
    manifest.runs[1].first_element = second;
    return problem_of(encoded(manifest)) == "its contents are inconsistent";
  };
  constexpr std::uint64_t kMostElements = std::numeric_limits<std::int64_t>::max() / 4;
  EXPECT_FALSE(refused(0, 4088));
  EXPECT_FALSE(refused(7, kMostElements - 4088));
  EXPECT_TRUE(refused(0, 4087)) << "the same element twice";
  EXPECT_TRUE(refused(5000, 0)) << "not in the order of the input";
  EXPECT_TRUE(refused(7, kMostElements - 4087)) << "behind the end of every file";
  EXPECT_TRUE(refused(7, UINT64_MAX - 100)) << "an end that wraps";
}

TEST(ManifestFormat, GivesBackWhatWasWritten) {
  std::mt19937_64 random(1);
  for (int turn = 0; turn < 500; ++turn) {
    const Manifest manifest = any_manifest(random);
    Manifest back = example();  // of which nothing may be left
    ASSERT_EQ(parse_manifest(encoded(manifest), back), "") << turn;
    ASSERT_TRUE(back == manifest) << turn;
  }
}

TEST(ManifestFormat, IsRefusedWhenCutShortAnywhere) {
  const Bytes bytes = encoded(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_TRUE(problem_of(cut).starts_with("it is truncated")) << size << problem_of(cut);
    // The cut one may say so itself.
    if (size < 72) continue;
    EXPECT_EQ(problem_of(with(cut, 8, std::uint64_t{size})), "its size does not match its contents")
        << size;
  }
}

TEST(ManifestFormat, IsRefusedWhenSomethingFollows) {
  Bytes bytes = encoded(example());
  bytes.resize(bytes.size() + 8);
  EXPECT_EQ(problem_of(bytes), "it is truncated or too long");
  EXPECT_EQ(problem_of(with(bytes, 8, std::uint64_t{bytes.size()})),
            "its size does not match its contents");
}

TEST(ManifestFormat, IsRefusedWithAnyBitFlipped) {
  const Bytes bytes = encoded(example());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      Bytes damaged = bytes;
      damaged[at] ^= static_cast<std::byte>(1U << bit);
      EXPECT_NE(problem_of(damaged), "") << "byte " << at << " bit " << bit;
    }
  }
}

TEST(ManifestFormat, TellsWhatIsNoneAndWhatIsOfAnotherVersion) {
  const Bytes bytes = encoded(example());
  EXPECT_EQ(problem_of(Bytes(1000)), "it is not a manifest");
  EXPECT_EQ(problem_of(with(bytes, 0, std::uint32_t{0x42525347})), "it is not a manifest");
  for (const unsigned version : {0U, 1U, 6U, 0x100U, 0xffffU}) {
    EXPECT_EQ(problem_of(with(bytes, 4, static_cast<std::uint16_t>(version))),
              "it has an unknown version")
        << version;
  }
  EXPECT_EQ(problem_of(with(encoded(example_of_share()), 4, std::uint16_t{3})),
            "an older version of gsort made it");
  Bytes damaged = bytes;
  damaged[64] ^= std::byte{1};
  EXPECT_EQ(problem_of(damaged), "its checksum does not match");
}

TEST(ManifestFormat, RefusesUnknownFlags) {
  const Bytes bytes = encoded(example());
  EXPECT_EQ(problem_of(with(bytes, 6, std::uint16_t{0})), "");
  for (unsigned bit = 2; bit < 16; ++bit) {
    const auto flags = static_cast<std::uint16_t>(1 | 1U << bit);
    EXPECT_EQ(problem_of(with(bytes, 6, flags)), "it has unknown flags") << bit;
  }
}

TEST(ManifestFormat, RefusesCountsThatDoNotFillIt) {
  const Bytes bytes = encoded(example());
  for (const std::size_t at : {44U, 48U, 52U, 83U}) {  // job, inputs, runs, path
    std::uint32_t there = 0;
    std::memcpy(&there, bytes.data() + at, sizeof(there));
    for (const std::uint32_t count : {0U, there - 1, there + 1, 0x7fffffffU, 0xffffffffU}) {
      if (count == there) continue;
      EXPECT_EQ(problem_of(with(bytes, at, count)), "its size does not match its contents")
          << at << ' ' << count;
    }
  }
}

struct Impossible {
  const char* name;
  std::function<void(Manifest&)> make;
};

constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int64_t>::max();

const Impossible kImpossible[] = {
    {"blocks of nothing", [](Manifest& m) { m.block_elements = 0; }},
    {"blocks too large", [](Manifest& m) { m.block_elements = (std::uint64_t{1} << 30) + 1; }},
    {"blocks that wrap", [](Manifest& m) { m.block_elements = std::uint64_t{1} << 62; }},
    {"elements of nothing", [](Manifest& m) { m.element_bytes = 0; }},
    {"a run from the future", [](Manifest& m) { m.runs[0].number = m.next_run; }},
    {"no number left", [](Manifest& m) { m.next_run = UINT64_MAX; }},
    {"an empty run", [](Manifest& m) { m.runs[0].input.count = 0; }},
    {"a run larger than files", [](Manifest& m) { m.runs[0].input.count = kMostBytes / 4 + 1; }},
    {"an index out of step", [](Manifest& m) { m.runs[0].index.offset += 512; }},
    {"an index behind all files",
     [](Manifest& m) { m.runs[0].index.offset = std::uint64_t{1} << 63; }},
    {"an index that ends behind them",
     [](Manifest& m) { m.runs[0].index.offset = kMostBytes / 4096 * 4096; }},
    {"no blocks", [](Manifest& m) { m.runs[0].index.blocks = 0; }},
    {"fewer blocks than hold them", [](Manifest& m) { m.runs[0].index.blocks = 1; }},
    {"more blocks than elements", [](Manifest& m) { m.runs[0].index.blocks = 4089; }},
    {"more blocks than there is room for in front of the index",
     [](Manifest& m) { m.runs[0].index.blocks = m.runs[0].index.offset / 64 + 1; }},
    {"blocks whose index wraps",
     [](Manifest& m) { m.runs[0].input.count = m.runs[0].index.blocks = std::uint64_t{1} << 59; }},
    {"the same run twice", [](Manifest& m) { m.runs.push_back(m.runs[0]); }},
    {"runs larger than files together",
     [](Manifest& m) {
       m.block_elements = 1 << 29;
       m.runs[0].input.count = kMostBytes / 8;
       m.runs[0].index.blocks = std::uint64_t{1} << 40;
       m.runs.push_back(m.runs[0]);
       m.runs.back().number = 0;
       m.runs.back().input.count += 2;
     }},
};

TEST(ManifestFormat, RefusesWhatCannotBe) {
  for (const Impossible& impossible : kImpossible) {
    Manifest manifest = example();
    impossible.make(manifest);
    EXPECT_EQ(problem_of(encoded(manifest)), "its contents are inconsistent") << impossible.name;
  }
}

std::vector<BlockEntry> example_blocks() {
  return {{7, 0, 4096, 128, 0}, {9, 3, 0, 4096, 0}, {9, 1000, 4224, 192, 0}};
}

constexpr IndexBounds kBounds = {8192, 4096};

std::string index_problem(const std::vector<BlockEntry>& blocks) {
  std::vector<BlockEntry> parsed;
  return std::string(parse_index(encode_index(blocks), kBounds, parsed));
}

bool are_equal(const std::vector<BlockEntry>& a, const std::vector<BlockEntry>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
}

TEST(IndexFormat, IsTheOneOfTheSpecification) {
  const Bytes index = encode_index(std::vector<BlockEntry>{{0x0102030405060708, 3, 4096, 128, 0}});
  constexpr unsigned kExpected[] = {8, 7,    6, 5, 4, 3, 2, 1, 3,   0, 0, 0, 0, 0, 0, 0,
                                    0, 0x10, 0, 0, 0, 0, 0, 0, 128, 0, 0, 0, 0, 0, 0, 0};
  ASSERT_EQ(index.size(), std::size(kExpected));
  for (std::size_t i = 0; i < index.size(); ++i) {
    EXPECT_EQ(std::to_integer<unsigned>(index[i]), kExpected[i]) << "byte " << i;
  }
}

TEST(IndexFormat, GivesBackWhatWasWritten) {
  const Bytes index = encode_index(example_blocks());
  std::vector<BlockEntry> parsed;
  const ConstByteSpan all = index;
  EXPECT_EQ(parse_index(all.first(kIndexEntryBytes), kBounds, parsed), "");
  EXPECT_EQ(parse_index(all.subspan(kIndexEntryBytes), kBounds, parsed), "");
  EXPECT_TRUE(are_equal(parsed, example_blocks()));
}

TEST(IndexFormat, HasAChecksumThatSeesEveryBit) {
  const Bytes index = encode_index(example_blocks());
  const std::uint64_t checksum = checksum_of_index(index);
  for (std::size_t bit = 0; bit < index.size() * 8; ++bit) {
    Bytes damaged = index;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_NE(checksum_of_index(damaged), checksum) << bit;
  }
}

TEST(IndexFormat, IsRefusedWhenCutShort) {
  const Bytes index = encode_index(example_blocks());
  for (std::size_t size = 0; size < index.size(); ++size) {
    if (size % kIndexEntryBytes == 0) continue;  // an index of fewer blocks
    std::vector<BlockEntry> blocks;
    EXPECT_EQ(parse_index(ConstByteSpan(index).first(size), kBounds, blocks),
              "its index is truncated")
        << size;
  }
}

TEST(IndexFormat, RefusesBlocksThatCannotBe) {
  const auto refused_with = [](std::size_t block, auto BlockEntry::*field, auto value) {
    std::vector<BlockEntry> blocks = example_blocks();
    blocks[block].*field = value;
    return index_problem(blocks) == "its index is inconsistent";
  };
  EXPECT_TRUE(refused_with(0, &BlockEntry::position, 1U)) << "a run that begins with a gap";
  EXPECT_TRUE(refused_with(1, &BlockEntry::position, 0U)) << "a block without elements";
  EXPECT_TRUE(refused_with(2, &BlockEntry::position, 2U)) << "a block before its neighbour";
  EXPECT_TRUE(refused_with(1, &BlockEntry::offset, 32U)) << "an offset out of step";
  EXPECT_TRUE(refused_with(2, &BlockEntry::offset, 8064U)) << "an end behind the file's";
  EXPECT_FALSE(refused_with(2, &BlockEntry::offset, 8000U)) << "an end at the file's";
  EXPECT_TRUE(refused_with(2, &BlockEntry::offset, 8192U)) << "an offset at the file's end";
  EXPECT_TRUE(refused_with(2, &BlockEntry::offset, UINT64_MAX - 63)) << "an end that wraps";
  EXPECT_TRUE(refused_with(0, &BlockEntry::stored_bytes, 0U)) << "nothing";
  EXPECT_TRUE(refused_with(0, &BlockEntry::stored_bytes, 64U)) << "a header alone";
  EXPECT_TRUE(refused_with(0, &BlockEntry::stored_bytes, 130U)) << "a size out of step";
  EXPECT_TRUE(refused_with(1, &BlockEntry::stored_bytes, 4160U)) << "a block longer than any";
}

TEST(IndexFormat, RefusesNumbersWhereThereMustBeNone) {
  Bytes index = encode_index(example_blocks());
  index[kIndexEntryBytes - 1] = std::byte{1};
  std::vector<BlockEntry> blocks;
  EXPECT_EQ(parse_index(index, kBounds, blocks), "its index is inconsistent");
}

}  // namespace
}  // namespace gsort::io
