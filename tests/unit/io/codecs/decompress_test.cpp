#include "io/codecs/decompress.hpp"

#include <string_view>

#include "base/units.hpp"
#include "io/codecs/compress.hpp"
#include "io/codecs/decoder_memory.hpp"
#include "unit/io/codec_samples.hpp"
#include "unit/io/memory_stream.hpp"

namespace gsort::io {
namespace {

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
  for (std::size_t size = 1; size < member.size(); ++size) {
    Bytes two = member;
    two.insert(two.end(), member.begin(), member.begin() + static_cast<std::ptrdiff_t>(size));
    expect_refused(two, "cut to " + std::to_string(size));
  }
}

TEST_P(DecoderOf, RefusesAByteThatIsChangedOrGivesTheSame) {
  const Bytes bytes = sample_of(500);
  const Bytes whole = packed(bytes);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes damaged = whole;
    damaged[at] ^= std::byte{0x10};
    MemoryStream stream(damaged);
    try {
      // zstd's frames have no checksum unless it is asked for.
      EXPECT_TRUE(GetParam() == Codec::kZstd ||
                  drain(*make_decoder(GetParam(), stream, "in")) == bytes)
          << at;
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::kInput || error.kind() == ErrorKind::kResource) << at;
    }
  }
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

Bytes unpacked_by(Codec codec, const Bytes& from, const DecoderBudget& budget = kAnyMemory) {
  MemoryStream stream(from);
  return drain(*make_decoder(codec, stream, "in", budget));
}

ErrorKind refused(Codec codec, const Bytes& from, const DecoderBudget& budget = kAnyMemory) {
  return test::error_of([&] { (void)unpacked_by(codec, from, budget); }).kind();
}

TEST(GzipDecoder, ChecksSumAndLengthOfEveryMember) {
  const Bytes bytes = sample_of(500);
  const Bytes good = packed(Codec::kGzip, bytes);
  for (std::size_t from_end = 1; from_end <= 8; ++from_end) {
    Bytes bad = good;
    bad[bad.size() - from_end] ^= std::byte{1};
    EXPECT_EQ(refused(Codec::kGzip, bad), ErrorKind::kInput) << from_end;
    EXPECT_EQ(refused(Codec::kGzip, joined({bad, good})), ErrorKind::kInput) << from_end;
    EXPECT_EQ(refused(Codec::kGzip, joined({good, bad})), ErrorKind::kInput) << from_end;
  }
}

TEST(GzipDecoder, TakesZerosBehindTheLastMemberForPadding) {
  const Bytes bytes = sample_of(500);
  const Bytes member = packed(Codec::kGzip, bytes);
  for (const std::size_t zeros : {1U, 7U, 512U, 200'000U}) {
    EXPECT_TRUE(unpacked_by(Codec::kGzip, joined({member, Bytes(zeros)})) == bytes) << zeros;
    EXPECT_EQ(refused(Codec::kGzip, joined({member, Bytes(zeros), {std::byte{1}}})),
              ErrorKind::kInput);
    EXPECT_EQ(refused(Codec::kGzip, joined({member, Bytes(zeros), member})), ErrorKind::kInput);
    EXPECT_EQ(refused(Codec::kGzip, Bytes(zeros)), ErrorKind::kInput);
  }
}

TEST(XzDecoder, TakesThePaddingOfItsFormat) {
  const Bytes bytes = sample_of(500);
  const Bytes stream = packed(Codec::kXz, bytes);
  EXPECT_TRUE(unpacked_by(Codec::kXz, joined({stream, Bytes(8)})) == bytes);
  EXPECT_TRUE(unpacked_by(Codec::kXz, joined({stream, Bytes(4), stream})) ==
              joined({bytes, bytes}));
  EXPECT_EQ(refused(Codec::kXz, joined({stream, Bytes(3)})), ErrorKind::kInput);
}

TEST(XzDecoder, TakesWhatTheHeadersOfTheStreamsAskFor) {
  const Bytes bytes = sample_of(500);
  for (const auto& [code, dictionary] :
       {std::pair{28, 64 * kMiB}, {30, 128 * kMiB}, {37, 1536 * kMiB}}) {
    const Bytes stream = test::with_dictionary(packed(Codec::kXz, bytes), code);
    const std::uint64_t needed = decoder_bytes(Codec::kXz, stream);
    EXPECT_GE(needed, dictionary);
    EXPECT_LE(needed, dictionary + kMiB);
    EXPECT_TRUE(unpacked_by(Codec::kXz, stream, {needed, {}}) == bytes);
    EXPECT_EQ(refused(Codec::kXz, stream, {needed - 1, {}}), ErrorKind::kResource);
  }
}

TEST(XzDecoder, RefusesALaterStreamThatAsksForMore) {
  const Bytes bytes = sample_of(500);
  const Bytes small = packed(Codec::kXz, bytes);
  const Bytes large = test::with_dictionary(small, 28);
  const std::uint64_t least = decoder_bytes(Codec::kXz, small);
  EXPECT_EQ(refused(Codec::kXz, joined({small, large}), {least, {}}), ErrorKind::kResource);
  EXPECT_TRUE(unpacked_by(Codec::kXz, joined({small, large, small}),
                          {decoder_bytes(Codec::kXz, large), {}}) == joined({bytes, bytes, bytes}));
}

TEST(XzDecoder, NamesTheFigureAndTheWaysOut) {
  const Bytes large = test::with_dictionary(packed(Codec::kXz, sample_of(500)), 28);
  const auto refusal = [&](const DecoderLimit& limit) {
    return test::error_of([&] { (void)unpacked_by(Codec::kXz, large, {kMiB, limit}); });
  };
  const Error error = refusal({kMiB, 8, kTiB});
  EXPECT_TRUE(test::contains(error.reason(), "its dictionary needs 64.3 MiB")) << error.what();
  EXPECT_TRUE(test::contains(error.hint(), "give -S 515M or more")) << error.what();
  EXPECT_TRUE(test::contains(error.hint(), "xz -dc in | gsort")) << error.what();
  EXPECT_FALSE(test::contains(refusal({kMiB, 8, 256 * kMiB}).hint(), "-S"));  // not so much memory
  EXPECT_FALSE(test::contains(refusal({kMiB, 0, kTiB}).hint(), "-S"));
}

TEST(ZstdDecoder, ReadsWindowsAsLargeAsTheCommandDoes) {
  const Bytes bytes = sample_of(500);
  for (const unsigned log : {10U, 23U, 27U}) {
    const Bytes frame = test::zstd_frame(log, bytes);
    const std::uint64_t needed = decoder_bytes(Codec::kZstd, frame);
    EXPECT_GE(needed, std::uint64_t{1} << log);
    EXPECT_LE(needed, (std::uint64_t{1} << log) + kMiB);
    EXPECT_TRUE(unpacked_by(Codec::kZstd, frame, {needed, {}}) == bytes);
    EXPECT_EQ(refused(Codec::kZstd, frame, {needed - 1, {}}), ErrorKind::kResource);
    if (log == 10) continue;
    const Bytes two = joined({test::zstd_frame(10, bytes), frame});
    EXPECT_EQ(refused(Codec::kZstd, two, {kMiB, {}}), ErrorKind::kResource);
  }
  EXPECT_EQ(refused(Codec::kZstd, test::zstd_frame(28, bytes)), ErrorKind::kResource);
  EXPECT_EQ(refused(Codec::kZstd, test::zstd_frame(41, bytes)), ErrorKind::kInput);  // by no zstd
}

// A frame of a single segment has a window of its size.
TEST(ZstdDecoder, RefusesASegmentJustAboveTheLargestWindow) {
  Bytes frame = test::zstd_frame(10, sample_of(500));
  const std::uint32_t content_bytes = 130U << 20U;
  constexpr std::size_t kMagicBytes = 4;
  frame.resize(kMagicBytes);
  frame.push_back(std::byte{0xa0});  // a single segment, and four bytes of its size
  for (unsigned i = 0; i < 4; ++i) frame.push_back(std::byte(content_bytes >> (8 * i) & 0xffU));
  frame.resize(64);
  EXPECT_GT(decoder_bytes(Codec::kZstd, frame), kMostDecoderShare);
  EXPECT_EQ(refused(Codec::kZstd, frame), ErrorKind::kResource);
}

TEST(ZstdDecoder, SkipsFramesWithoutContent) {
  const Bytes bytes = sample_of(70'000);
  const Bytes frame = packed(Codec::kZstd, bytes);
  for (const std::size_t size : {0U, 4U, 17U, 200'000U}) {
    const Bytes skipped = test::skippable_frame(size);
    EXPECT_EQ(skippable_frame_bytes(skipped), skipped.size());
    const Bytes all = joined({skipped, skipped, frame, skipped, frame, skipped});
    EXPECT_TRUE(unpacked_by(Codec::kZstd, all) == joined({bytes, bytes}));
    Bytes cut = all;
    cut.pop_back();
    EXPECT_EQ(refused(Codec::kZstd, cut), ErrorKind::kInput);
  }
  EXPECT_EQ(skippable_frame_bytes(frame), 0U);
  EXPECT_EQ(skippable_frame_bytes({}), 0U);
}

TEST(DecoderBytes, KnowsTheBlocksOfBzip2) {
  EXPECT_LT(decoder_bytes(Codec::kBzip2, test::bytes_of("BZh1")), kMiB);
  EXPECT_GT(decoder_bytes(Codec::kBzip2, test::bytes_of("BZh9")), 3 * kMiB);
  EXPECT_EQ(decoder_bytes(Codec::kBzip2, {}), decoder_bytes(Codec::kBzip2, test::bytes_of("BZh9")));
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
