#include "io/output/encoding_proof.hpp"

#include <bit>
#include <string>
#include <vector>

#include "form/decimal.hpp"
#include "unit/io/codec_samples.hpp"
#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

constexpr KeyType kAllTypes[] = {KeyType::kU8,  KeyType::kI8,  KeyType::kU16,   KeyType::kI16,
                                 KeyType::kU32, KeyType::kI32, KeyType::kU64,   KeyType::kI64,
                                 KeyType::kF32, KeyType::kF64, KeyType::kTime64};

// Random bits are NaNs of every payload and sign, too.
TEST(EncodingProof, TakesTheTextOfEveryType) {
  for (const KeyType type : kAllTypes) {
    for (const bool big_endian : {false, true}) {
      const KeyFormat format{type, big_endian, false};
      const Bytes keys = random_bytes(80'000, static_cast<std::uint64_t>(type));
      std::string plain(keys.size() * most_line_bytes(type) + kTextSlack, '\0');
      std::string proven = plain;
      plain.resize(format_lines(keys, format, plain.data()));
      proven.resize(format_proven(format_lines, keys, format, proven.data()));
      EXPECT_EQ(proven, plain);
    }
  }
}

template <class Value>
bool read_back(std::string text, const std::vector<Value>& values, KeyType type) {
  const std::size_t bytes = text.size();
  text.append(kTextSlack, '7');
  return reads_back(std::string_view(text).substr(0, bytes), std::as_bytes(std::span(values)),
                    {type, false, false});
}

TEST(EncodingProof, FindsEveryOtherText) {
  const std::vector<std::uint32_t> keys = {7, 12, 4'294'967'295};
  EXPECT_TRUE(read_back("7\n12\n4294967295\n", keys, KeyType::kU32));
  for (const char* const wrong :
       {"", "\n", "7\n12\n", "7\n12\n4294967295", "7\n12\n4294967295\n\n", "7\n12\n4294967294\n",
        "12\n7\n4294967295\n", "7\n7\n4294967295\n", "7\n12\n4294967295\n4294967295\n",
        "7\n12\n4294967296\n", "7 \n12\n4294967295\n", "712\n\n4294967295\n",
        "-7\n12\n4294967295\n", "7\n12\n4294967295\n1"}) {
    EXPECT_FALSE(read_back(wrong, keys, KeyType::kU32)) << wrong;
  }
}

TEST(EncodingProof, LetsNothingBeLostOfAFloatButANaNsPayload) {
  const auto quiet = std::bit_cast<float>(0x7fc00001U);
  const auto negative = std::bit_cast<float>(0xffc00001U);
  const std::vector<float> keys = {0.1F, -0.0F, quiet, negative};
  EXPECT_TRUE(read_back("0.1\n-0\nnan\n-nan\n", keys, KeyType::kF32));
  for (const char* const wrong :
       {"0.1\n0\nnan\n-nan\n", "0.1\n-0\n-nan\n-nan\n", "0.1\n-0\nnan\nnan\n",
        "0.1\n-0\ninf\n-nan\n", "0.10000001\n-0\nnan\n-nan\n", "nan\n-0\nnan\n-nan\n"}) {
    EXPECT_FALSE(read_back(wrong, keys, KeyType::kF32)) << wrong;
  }
}

// Whether a member is taken for what holds `content`.
bool holds(Codec codec, ConstByteSpan member, ConstByteSpan content) {
  Bytes scratch(5000);
  try {
    require_decompresses(codec, member, content, scratch);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
    return false;
  }
  return true;
}

TEST(EncodingProof, FindsEveryOtherMember) {
  Bytes content = random_bytes(30'000);
  std::fill_n(content.begin(), 20'000, std::byte{7});
  for (const Codec codec : kAllCodecs) {
    SCOPED_TRACE(std::string(name_of(codec)));
    const auto compressed = [&](ConstByteSpan from) { return packed(codec, from); };
    const Bytes member = compressed(content);
    EXPECT_TRUE(holds(codec, member, content));
    EXPECT_TRUE(holds(codec, compressed({}), {}));
    EXPECT_FALSE(holds(codec, {}, content));
    EXPECT_FALSE(holds(codec, compressed({}), content));
    EXPECT_FALSE(holds(codec, member, {}));
    EXPECT_FALSE(holds(codec, ConstByteSpan(member).first(member.size() / 2), content));
    EXPECT_FALSE(holds(codec, ConstByteSpan(member).first(member.size() - 1), content));
    EXPECT_FALSE(holds(codec, compressed(ConstByteSpan(content).first(29'999)), content));
    EXPECT_FALSE(holds(codec, member, ConstByteSpan(content).first(29'999)));
    Bytes twice = member;
    twice.insert(twice.end(), member.begin(), member.end());
    EXPECT_FALSE(holds(codec, twice, content));
    Bytes other = content;
    other[25'000] ^= std::byte{1};
    EXPECT_FALSE(holds(codec, compressed(other), content));
    Bytes damaged = member;
    damaged[member.size() / 2] ^= std::byte{16};
    EXPECT_FALSE(holds(codec, damaged, content));
  }
  EXPECT_FALSE(holds(Codec::kZstd, test::zstd_frame(28, content), content));  // not read
}

}  // namespace
}  // namespace gsort::io
