// Inputs that are refused without a given type, and, just as important, inputs that are not.
#include "io/input/foreign_form.hpp"

#include <array>
#include <string_view>

#include "io/input/reader.hpp"
#include "unit/io/codec_samples.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

using namespace std::string_view_literals;

constexpr ReaderOptions kAssumed = {
    .element_bytes = 4, .key = {KeyType::kI32}, .type_is_assumed = true};

std::string name_of_bytes(std::string_view begin) {
  const Bytes bytes = bytes_of(begin);
  const auto form = foreign_form_of_bytes(bytes);
  return form ? std::string(form->name) : "";
}

std::string name_of_path(std::string_view path, bool is_plain = true) {
  const auto form = foreign_form_of_path(path, is_plain);
  return form ? std::string(form->name) : "";
}

// Magic numbers, with as much behind them as is looked at.
constexpr std::string_view kLz4Frame = "\x04\x22\x4d\x18\x64\x40\xa7"sv;
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kBeginnings = {{
    {"\x93NUMPY\x01\0v\0{'descr'"sv, "a NumPy array"},
    {"PAR1\x15\x04\x15\x80"sv, "a Parquet file"},
    {"ARROW1\0\0\xff\xff\xff\xff"sv, "an Arrow file"},
    {"\x89HDF\r\n\x1a\n\0"sv, "an HDF5 file"},
    {"PK\x03\x04\x14\0\0\0\x08\0\x21"sv, "a zip archive"},
    {"7z\xbc\xaf\x27\x1c\0\x04"sv, "a 7z archive"},
    {kLz4Frame, "lz4 data"},
    {"BZh91AY&SY\x9c"sv, "bzip2 data"},
    {"\xfd\x37zXZ\0\0\x04"sv, "xz data"},
}};

TEST(ForeignForm, IsSeenByTheFirstBytes) {
  for (const auto& [begin, name] : kBeginnings) EXPECT_EQ(name_of_bytes(begin), name);
  std::string tar(512, '\0');
  tar.replace(257, 8, "ustar\00000"sv);
  EXPECT_EQ(name_of_bytes(tar), "a tar archive");
  tar.replace(257, 8, "ustar  \0"sv);
  EXPECT_EQ(name_of_bytes(tar), "a tar archive");
}

TEST(ForeignForm, IsNotSeenInPartOfAMagicNumber) {
  for (const auto& [begin, name] : kBeginnings) {
    for (const std::size_t bytes : {0U, 1U, 4U, 5U}) {
      EXPECT_EQ(name_of_bytes(begin.substr(0, bytes)), "") << name << " " << bytes;
    }
    std::string moved(begin);
    moved.insert(moved.begin(), '\0');
    EXPECT_EQ(name_of_bytes(moved), "") << name;
  }
}

// The checksum of an lz4 frame's head, and the fields behind zip's magic number, have to fit.
TEST(ForeignForm, AsksForMoreThanAShortMagicNumber) {
  EXPECT_EQ(name_of_bytes("\x04\x22\x4d\x18\x64\x40\xa8"sv), "");
  EXPECT_EQ(name_of_bytes("\x04\x22\x4d\x18\x24\x40\xa7"sv), "");
  EXPECT_EQ(name_of_bytes("PK\x03\x04\x14\0\0\0\x07\0\x21"sv), "");
  EXPECT_EQ(name_of_bytes("PK\x03\x04\x14\x01\0\0\x08\0\x21"sv), "");
  EXPECT_EQ(name_of_bytes("PAR1\x15\x01\x15\x80"sv), "");
  EXPECT_EQ(name_of_bytes("\x1f\x8b\x08\x08 gzip's number alone is too short"sv), "");
}

TEST(ForeignForm, OfRandomKeysIsNoneEvenBehindAMagicNumber) {
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    Bytes keys = random_bytes(kForeignFormBytes, seed);
    EXPECT_FALSE(foreign_form_of_bytes(keys)) << seed;
    for (const std::string_view magic : {"PAR1"sv, "PK\x03\x04"sv, "\x04\x22\x4d\x18"sv,
                                         "\x1f\x8b\x08"sv, "\x28\xb5\x2f\xfd"sv, "BZh9"sv}) {
      std::memcpy(keys.data(), magic.data(), magic.size());
      EXPECT_FALSE(foreign_form_of_bytes(keys)) << seed << " " << magic;
    }
  }
}

TEST(ForeignForm, OfTextIsSeenByEveryByteOfTheFirstBlock) {
  const std::string line = "2026-11-24\tvaleur: 3,5 \xe2\x82\xac \xc3\xa9t\xc3\xa9\r\n";
  std::string text;
  while (text.size() < kForeignFormBytes) text += line;
  for (std::size_t cut = 0; cut < line.size(); ++cut) {  // also within a character
    EXPECT_EQ(name_of_bytes(std::string_view(text).substr(0, kForeignFormBytes - cut)), "text")
        << cut;
  }
  for (const char odd : {'\0', '\x1b', '\x7f', '\xff', '\xc0'}) {
    std::string binary = text.substr(0, kForeignFormBytes);
    binary[2'000] = odd;
    EXPECT_EQ(name_of_bytes(binary), "") << static_cast<int>(odd);
  }
}

TEST(ForeignForm, OfTextTakesSomeLengthAndAnEndOfLine) {
  const std::string name = "id,name\n1,a\n2,b\n3,c\n4,d\n5,e\n6,f\n7,g\n8,h\n9,i\n10,j\n";
  ASSERT_GE(name.size(), 48U);
  EXPECT_EQ(name_of_bytes(name), "text");
  EXPECT_EQ(name_of_bytes(name.substr(0, 47)), "");
  EXPECT_EQ(name_of_bytes(std::string(4'096, 'A')), "");  // keys of four times the same byte
  EXPECT_EQ(name_of_bytes("3\n1\n2\n-5\n400\n"), "text");
  EXPECT_EQ(name_of_bytes("3\n1\n2\n-5\n40\n"), "");
  EXPECT_EQ(name_of_bytes("a\nb\nc\nd\ne\nf\ng\n"), "");
}

TEST(ForeignForm, OfIntegersIsNoText) {
  for (const std::uint32_t first : {0x20202020U, 0x41414141U, 0x0a0a0a0aU - 500, 0U, 0xffffff00U}) {
    std::array<std::uint32_t, 1024> keys{};
    for (std::uint32_t i = 0; i < keys.size(); ++i) keys.at(i) = first + i;
    EXPECT_FALSE(foreign_form_of_bytes(std::as_bytes(std::span(keys)))) << first;
  }
}

// Half of each magic number, and what stands behind it, are random.
TEST(ForeignForm, AsksForBothPartsOfAMagicNumber) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Bytes keys = random_bytes(kForeignFormBytes, seed);
    for (const std::string_view magic :
         {"Obj\x01"sv, "\x0e\x03\x13\x01"sv, "MATLAB "sv, "CDF\x01"sv, "RIFF"sv, "root\0"sv,
          "\n\r\r\n"sv, "\x80\x04\x95"sv, "\x5d\0\0\x80\0"sv, "\x7f\x45LF"sv, "BAM\x01"sv,
          "\x18\0\0\0\0\0\0\0"sv, "\x40\0\0\0\0\0\0\0{\""sv}) {
      std::memcpy(keys.data(), magic.data(), magic.size());
      EXPECT_FALSE(foreign_form_of_bytes(keys)) << seed << " " << magic;
    }
  }
}

TEST(ForeignForm, IsSeenByTheSuffix) {
  EXPECT_EQ(name_of_path("a/t.csv"), "a CSV table");
  EXPECT_EQ(name_of_path("T.CSV"), "a CSV table");
  EXPECT_EQ(name_of_path("t.csv.gz"), "a CSV table");
  EXPECT_EQ(name_of_path("t.tsv"), "a TSV table");
  EXPECT_EQ(name_of_path("t.jsonl"), "JSON");
  EXPECT_EQ(name_of_path("t.parquet"), "a Parquet file");
  EXPECT_EQ(name_of_path("t.feather"), "an Arrow file");
  EXPECT_EQ(name_of_path("t.h5"), "an HDF5 file");
  EXPECT_EQ(name_of_path("t.npz"), "an archive of NumPy arrays");
  EXPECT_EQ(name_of_path("t.u64.br"), "Brotli data");
  EXPECT_EQ(name_of_path("t.tgz"), "a tar archive");
  for (const char* const keys :
       {"t", "t.bin", "t.dat", "csv", "t.csv.bin", "t.csv/keys", "t.txt"}) {
    EXPECT_EQ(name_of_path(keys), "") << keys;
  }
}

// Where the bytes are those of a codec, they are decompressed under any name.
TEST(ForeignForm, OfACodecGsortReadsIsSeenByTheSuffixOnlyInPlainBytes) {
  EXPECT_EQ(name_of_path("t.gzip"), "gzip data");
  EXPECT_EQ(name_of_path("t.gzip", false), "");
  EXPECT_EQ(name_of_path("t.gz", false), "");
  EXPECT_EQ(name_of_path("t.zst.gz", false), "zstd data");
}

TEST(ForeignFormOfInputs, IsRefusedWhereNobodyGaveTheType) {
  const TempFolder folder;
  const std::string text = "3\n1\n2\n400\n5000\n60000\n";
  write_file(folder / "t", bytes_of(text));
  const Error error = error_of([&] { const Reader reader({folder / "t"}, kAssumed); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_EQ(error.what(), "reading " + (folder / "t") +
                              ": it looks like text, and no type was given\n"
                              "  --format=text reads one number a line; -t i32 sorts its bytes as "
                              "they are");
  ReaderOptions given = kAssumed;
  given.type_is_assumed = false;
  given.element_bytes = 1;
  EXPECT_EQ(Reader({folder / "t"}, given).known_size(), text.size());
}

TEST(ForeignFormOfInputs, IsSeenBeforeTheSizeIsFoundOdd) {
  const TempFolder folder;
  write_file(folder / "t.csv", bytes_of("1\n"));
  const Error error = error_of([&] { const Reader reader({folder / "t.csv"}, kAssumed); });
  EXPECT_TRUE(contains(error.what(), "its name is that of a CSV table")) << error.what();
}

TEST(ForeignFormOfInputs, IsThatBehindTheHeaderThatIsSkipped) {
  const TempFolder folder;
  const Bytes keys = random_bytes(64);
  Bytes bytes = bytes_of("PK\x03\x04\x14\0\0\0\x08\0\x21\0"sv);
  bytes.insert(bytes.end(), keys.begin(), keys.end());
  write_file(folder / "t", bytes);
  EXPECT_THROW(Reader({folder / "t"}, kAssumed), Error);
  ReaderOptions skips = kAssumed;
  skips.form.skip_bytes = 12;
  EXPECT_EQ(Reader({folder / "t"}, skips).known_size(), 64U);
}

TEST(ForeignFormOfInputs, IsSeenInWhatIsCompressedWhenItIsRead) {
  const TempFolder folder;
  const std::string text(500, '7');
  write_file(folder / "t", packed(Codec::kGzip, bytes_of(text + "\n" + text)));
  Reader reader({folder / "t"}, kAssumed);
  Arena buffer(4096, "tests");
  const Error error = error_of([&] { static_cast<void>(reader.next(buffer.bytes(), 4)); });
  EXPECT_TRUE(contains(error.what(), "it looks like text")) << error.what();
}

TEST(ForeignFormOfInputs, LosesNothingOfWhatItLooksAt) {
  const TempFolder folder;
  for (const std::size_t size : {0U, 4U, 4'092U, 4'096U, 4'100U, 100'000U}) {
    const Bytes keys = random_bytes(size, size + 1);
    write_file(folder / "t", packed(Codec::kZstd, keys));
    for (const std::size_t step : {4U, 1'000U, 4'096U, 65'536U}) {
      Reader reader({folder / "t"}, kAssumed);
      Arena buffer(step, "tests");
      Bytes all;
      while (const auto block = reader.next(buffer.bytes())) {
        all.insert(all.end(), buffer.data(), buffer.data() + block->bytes);
      }
      EXPECT_EQ(all, keys) << size << " in steps of " << step;
      EXPECT_TRUE(reader.at_end());
    }
  }
}

TEST(ForeignFormOfInputs, MayBeACodecsWhereThatIsAskedFor) {
  const TempFolder folder;
  Bytes bytes = bytes_of(kLz4Frame);
  bytes.resize(64);
  write_file(folder / "t", bytes);
  EXPECT_THROW(Reader({folder / "t"}, kAssumed), Error);
  ReaderOptions as_it_is = kAssumed;
  as_it_is.form.codec = Codec::kNone;
  EXPECT_EQ(Reader({folder / "t"}, as_it_is).known_size(), 64U);
}

}  // namespace
}  // namespace gsort::io
