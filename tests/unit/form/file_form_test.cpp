#include "form/file_form.hpp"

#include <gtest/gtest.h>

namespace gsort {
namespace {

TEST(FileForm, ReadsTheCodecFromTheLastSuffix) {
  EXPECT_EQ(codec_of_path("a.gz"), Codec::kGzip);
  EXPECT_EQ(codec_of_path("a.u64.bz2"), Codec::kBzip2);
  EXPECT_EQ(codec_of_path("folder.gz/a.xz"), Codec::kXz);
  EXPECT_EQ(codec_of_path(".zst"), Codec::kZstd);
  EXPECT_EQ(codec_of_path("A.GZ"), Codec::kGzip);
  for (const char* const none : {"", "gz", "a.gz/b", "a.gz.u64", "a."}) {
    EXPECT_EQ(codec_of_path(none), std::nullopt) << none;
  }
}

TEST(FileForm, ReadsTheFormatBelowTheCodec) {
  EXPECT_EQ(format_of_path("a.txt"), FileFormat::kText);
  EXPECT_EQ(format_of_path("a.npy.zst"), FileFormat::kNpy);
  for (const char* const binary : {"a.u64", "a.bin", "a.raw", "a.f32.gz"}) {
    EXPECT_EQ(format_of_path(binary), FileFormat::kBinary) << binary;
  }
  for (const char* const none : {"", "a", "a.gz", "a.csv", "a.txt/b"}) {
    EXPECT_EQ(format_of_path(none), std::nullopt) << none;
  }
}

TEST(FileForm, FindsTheNameUnderItsSuffixes) {
  EXPECT_EQ(without_form_suffixes("x.u64.txt.gz"), "x.u64");
  EXPECT_EQ(without_form_suffixes("x.u64.gz"), "x.u64");
  EXPECT_EQ(without_form_suffixes("x.npy"), "x");
  EXPECT_EQ(without_form_suffixes("x.u64"), "x.u64");
  EXPECT_EQ(without_form_suffixes("x"), "x");
}

TEST(FileForm, FindsTheTypeInTheLastSuffixOfAName) {
  EXPECT_EQ(key_type_of_path("dump.f32"), KeyType::kF32);
  EXPECT_EQ(key_type_of_path("/a.b/c.u16.i64"), KeyType::kI64);
  EXPECT_EQ(key_type_of_path("dump.u32.gz"), KeyType::kU32);
  EXPECT_EQ(key_type_of_path("dump.i8.txt.zst"), KeyType::kI8);
  EXPECT_EQ(key_type_of_path("DUMP.F64.TXT.Zst"), KeyType::kF64);
  EXPECT_EQ(key_type_of_path("dump.uint16"), KeyType::kU16);
  for (const char* const none :
       {"", "u32", "dump.bin", "dump.u32/data", "dump.u32.old", "dump.", "dump.<u4", "dump.f8"}) {
    EXPECT_EQ(key_type_of_path(none), std::nullopt) << none;
  }
}

TEST(FileForm, OfAnotherCodecThatIsNotDecodedIsBinary) {
  const InputForm as_it_is{std::nullopt, Codec::kNone};
  EXPECT_TRUE(is_read_compressed(as_it_is, "a.txt.lz4"));
  EXPECT_FALSE(is_read_compressed({}, "a.txt.lz4"));
  EXPECT_FALSE(is_read_compressed(as_it_is, "a.txt"));
  EXPECT_EQ(format_of_input(as_it_is, "a.txt.lz4"), FileFormat::kBinary);
  EXPECT_EQ(format_of_input({FileFormat::kText, Codec::kNone}, "a.txt.lz4"), FileFormat::kText);
}

TEST(FileForm, KnowsWhichOutputsHaveAPlaceForEachElement) {
  EXPECT_TRUE((OutputForm{FileFormat::kNpy}).is_plain());
  EXPECT_FALSE((OutputForm{FileFormat::kText}).is_plain());
  EXPECT_FALSE((OutputForm{FileFormat::kBinary, Codec::kXz, 1}).is_plain());
}

TEST(FileForm, HasALevelForEveryCodec) {
  for (const Codec codec : kAllCodecs) {
    const CodecLevels levels = levels_of(codec);
    EXPECT_LE(levels.least, levels.usual) << name_of(codec);
    EXPECT_LE(levels.usual, levels.most) << name_of(codec);
  }
}

}  // namespace
}  // namespace gsort
