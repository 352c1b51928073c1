#include "io/decompress.hpp"

#include <array>
#include <string_view>

#include "io/compress.hpp"
#include "unit/io/memory_stream.hpp"

namespace gsort::io {
namespace {

using test::Bytes;
using test::drain;
using test::MemoryStream;
using test::random_bytes;

class DecoderOf : public testing::TestWithParam<Codec> {
 protected:
  static Bytes packed(ConstByteSpan bytes) {
    Bytes to;
    compress(GetParam(), levels_of(GetParam()).usual, bytes, to);
    return to;
  }
  static Bytes unpacked(const Bytes& from, std::size_t step = 1000) {
    MemoryStream stream(from);
    return drain(*make_decoder(GetParam(), stream, "in"), step);
  }
  static void expect_refused(const Bytes& from, const std::string& what) {
    const Error error = test::error_of([&] { (void)unpacked(from); });
    EXPECT_EQ(error.kind(), ErrorKind::kInput) << what;
    EXPECT_EQ(error.path(), "in");
    EXPECT_TRUE(test::contains(error.what(), name_of(GetParam()))) << error.what();
  }
};

std::string name_of_codec(const testing::TestParamInfo<Codec>& codec) {
  return std::string(name_of(codec.param));
}
INSTANTIATE_TEST_SUITE_P(Codecs, DecoderOf, testing::ValuesIn(kAllCodecs), name_of_codec);

// Half random, half zeros: compressible, in more than one block of any codec.
Bytes sample_of(std::size_t bytes) {
  Bytes sample = random_bytes(bytes);
  for (std::size_t i = 0; i < bytes; i += 2) sample[i] = std::byte{0};
  return sample;
}

TEST_P(DecoderOf, GivesBackWhatWasCompressed) {
  for (const std::size_t size : {0U, 1U, 1000U, 65536U, 3'000'000U}) {
    const Bytes bytes = sample_of(size);
    for (const std::size_t step : {999U, 1U << 20}) {
      EXPECT_TRUE(unpacked(packed(bytes), step) == bytes) << size;
    }
  }
}

TEST_P(DecoderOf, JoinsMembers) {
  Bytes all;
  Bytes members;
  for (const std::size_t size : {5U, 0U, 70'000U, 1U, 4096U}) {
    const Bytes bytes = sample_of(size);
    const Bytes member = packed(bytes);
    all.insert(all.end(), bytes.begin(), bytes.end());
    members.insert(members.end(), member.begin(), member.end());
  }
  EXPECT_TRUE(unpacked(members) == all);
}

TEST_P(DecoderOf, RefusesAStreamThatEndsAnywhereBeforeItsEnd) {
  const Bytes whole = packed(sample_of(500));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect_refused({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)},
                   "cut to " + std::to_string(size));
  }
}

TEST_P(DecoderOf, RefusesASecondMemberThatEndsEarly) {
  const Bytes member = packed(sample_of(500));
  Bytes two = member;
  two.insert(two.end(), member.begin(), member.end() - 1);
  expect_refused(two, "second member");
}

TEST_P(DecoderOf, RefusesWhatFollowsTheStream) {
  for (const std::size_t tail : {1U, 3U, 4U, 100U, 100'000U}) {
    Bytes bytes = packed(sample_of(500));
    bytes.insert(bytes.end(), tail, std::byte{'x'});
    expect_refused(bytes, std::to_string(tail) + " bytes behind");
  }
}

TEST_P(DecoderOf, PassesErrorsOfItsInputOn) {
  class Failing final : public ByteStream {
    std::size_t read(ByteSpan) override {
      throw Error(ErrorKind::kInput, "reading", "no more").path("disk");
    }
  } failing;
  const auto decoder = make_decoder(GetParam(), failing, "in");
  Bytes to(10);
  EXPECT_EQ(test::error_of([&] { (void)decoder->read(to); }).path(), "disk");
}

TEST_P(DecoderOf, IsKnownByItsFirstBytes) {
  for (const std::size_t size : {0U, 500U}) {
    const Bytes whole = packed(sample_of(size));
    EXPECT_EQ(codec_of_bytes(whole), GetParam());
    EXPECT_EQ(codec_of_bytes(ConstByteSpan(whole).first(3)), Codec::kNone);
  }
}

TEST(CodecOfBytes, TakesOthersForRawKeys) {
  using namespace std::string_view_literals;
  for (const std::string_view bytes :
       {""sv, "\x1f"sv, "\x1f\x8b\x08\xff"sv, "BZh9 and text"sv, "BZh01AY&SY"sv,
        "\xfd\x37\x7a\x58\x5a\x01"sv, "\x28\xb5\x2f\xfc"sv, "\0\0\0\0\0\0\0\0"sv}) {
    EXPECT_EQ(codec_of_bytes(test::bytes_of(bytes)), Codec::kNone) << bytes;
  }
}

}  // namespace
}  // namespace gsort::io
