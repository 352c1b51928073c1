#include "io/codecs/compress.hpp"

#include <vector>

#include "base/parallel.hpp"
#include "io/codecs/decompress.hpp"
#include "unit/io/memory_stream.hpp"

namespace gsort::io {
namespace {

TEST(Compress, WorksAtEveryLevel) {
  const Bytes bytes = test::random_bytes(1000);
  for (const Codec codec : kAllCodecs) {
    const CodecLevels levels = levels_of(codec);
    for (const int level : {levels.least, levels.most}) {
      Bytes to;
      compress(codec, level, bytes, to);
      test::MemoryStream stream(to);
      EXPECT_EQ(test::drain(*make_decoder(codec, stream, "in")), bytes) << name_of(codec) << level;
    }
  }
}

TEST(Compress, AppendsToWhatIsThere) {
  Bytes to = test::bytes_of("before");
  compress(Codec::kGzip, 6, test::bytes_of("more"), to);
  ASSERT_GT(to.size(), 6U);
  EXPECT_EQ(Bytes(to.begin(), to.begin() + 6), test::bytes_of("before"));
  test::MemoryStream stream({to.begin() + 6, to.end()});
  EXPECT_EQ(test::drain(*make_decoder(Codec::kGzip, stream, "in")), test::bytes_of("more"));
}

TEST(Compress, MakesTheSameBytesOnAnyThread) {
  const Bytes bytes = test::random_bytes(100'000);
  for (const Codec codec : kAllCodecs) {
    std::vector<Bytes> results(4);
    run_workers(4, [&](unsigned thread) {
      compress(codec, levels_of(codec).usual, bytes, results[thread]);
    });
    for (const Bytes& result : results) EXPECT_EQ(result, results.front()) << name_of(codec);
  }
}

}  // namespace
}  // namespace gsort::io
