#include "io/input/content_stream.hpp"

#include <array>

#include <unistd.h>

#include "base/units.hpp"
#include "io/codecs/decoder_memory.hpp"
#include "unit/io/codec_samples.hpp"
#include "unit/io/memory_stream.hpp"

namespace gsort::io {
namespace {

// A pipe that holds `bytes` and has ended.
class EndedPipe {
 public:
  explicit EndedPipe(const Bytes& bytes) {
    if (::pipe(ends_.data()) != 0) throw std::runtime_error("no pipe");
    if (::write(ends_[1], bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("the pipe is too small");
    }
    ::close(ends_[1]);
  }
  ~EndedPipe() { ::close(ends_[0]); }
  EndedPipe(const EndedPipe&) = delete;
  EndedPipe& operator=(const EndedPipe&) = delete;
  [[nodiscard]] std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }

 private:
  std::array<int, 2> ends_{};
};

// The content of a file, and of a pipe, that holds some bytes.
class Content {
 public:
  explicit Content(const Bytes& bytes, bool is_pipe, std::optional<Codec> codec = {},
                   const std::string& name = "in")
      : pipe_(is_pipe ? bytes : Bytes()) {
    test::write_file(folder_ / name, bytes);
    input_ = std::make_unique<Input>(is_pipe ? pipe_.path() : folder_ / name);
    stream_ = std::make_unique<ContentStream>(*input_, InputForm{.codec = codec});
  }
  ContentStream* operator->() { return stream_.get(); }
  [[nodiscard]] Bytes all() { return drain(*stream_); }

 private:
  test::TempFolder folder_;
  EndedPipe pipe_;
  std::unique_ptr<Input> input_;
  std::unique_ptr<ContentStream> stream_;
};

TEST(ContentStream, FindsTheFrameBehindThoseWithoutContent) {
  const Bytes bytes = random_bytes(4000);
  const Bytes frame = packed(Codec::kZstd, bytes);
  for (const bool is_pipe : {false, true}) {
    for (const std::size_t size : {0U, 4U, 1000U}) {
      const Bytes skipped = skippable_frame(size);
      Content content(joined({skipped, skipped, frame, skipped, frame}), is_pipe);
      EXPECT_EQ(content->codec(), Codec::kZstd) << size;
      EXPECT_TRUE(content.all() == joined({bytes, bytes})) << size;
    }
  }
}

TEST(ContentStream, SeesFarInAFileAndAsksAboutAPipe) {
  const Bytes bytes = random_bytes(4000);
  const Bytes all = joined({skippable_frame(20'000), packed(Codec::kZstd, bytes)});
  EXPECT_TRUE(Content(all, false).all() == bytes);
  EXPECT_TRUE(Content(all, true, Codec::kZstd).all() == bytes);
  EXPECT_TRUE(Content(all, true, Codec::kNone).all() == all);
  Content unsaid(all, true);
  const Error error = error_of([&] { (void)unsaid->codec(); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_TRUE(test::contains(error.hint(), "--decompress=zstd or --decompress=none"));
}

// Two raw keys may look so: neither is taken for the other.
TEST(ContentStream, AsksAboutFramesWithoutContentAndNothingElse) {
  const Bytes two = joined({skippable_frame(16), skippable_frame(0)});
  for (const Bytes& bytes : {skippable_frame(0), skippable_frame(16), two}) {
    for (const bool is_pipe : {false, true}) {
      Content unsaid(bytes, is_pipe);
      const Error error = error_of([&] { (void)unsaid->codec(); });
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      EXPECT_TRUE(test::contains(error.what(), "skippable zstd frames and nothing else"));
      EXPECT_TRUE(test::contains(error.hint(), "--decompress=zstd or --decompress=none"));
      EXPECT_TRUE(Content(bytes, is_pipe, Codec::kZstd).all().empty());
      EXPECT_TRUE(Content(bytes, is_pipe, Codec::kNone).all() == bytes);
    }
    EXPECT_TRUE(Content(bytes, false, {}, "in.zst").all().empty());
  }
}

TEST(ContentStream, TakesAFrameWithoutAnyContentBehindItForRawKeys) {
  for (const bool is_pipe : {false, true}) {
    for (const Bytes& bytes : {joined({skippable_frame(4), random_bytes(5000)}), Bytes(4000)}) {
      Content content(bytes, is_pipe);
      EXPECT_EQ(content->codec(), Codec::kNone);
      EXPECT_TRUE(content.all() == bytes);
    }
  }
  Bytes beyond_the_end = skippable_frame(8);
  beyond_the_end[6] = std::byte{1};
  EXPECT_TRUE(Content(beyond_the_end, false).all() == beyond_the_end);
}

TEST(ContentStream, SaysWhatItsDecoderNeeds) {
  const Bytes xz = test::with_dictionary(packed(Codec::kXz, random_bytes(500)), 28);
  const DecoderNeed need{Codec::kXz, decoder_bytes(Codec::kXz, xz)};
  EXPECT_GT(need.bytes, 64 * kMiB);
  EXPECT_EQ(Content(xz, false)->decoder_need(), need);
  EXPECT_EQ(Content(xz, false, Codec::kXz)->decoder_need(), need);
  EXPECT_EQ(Content(xz, false, Codec::kNone)->decoder_need(), std::nullopt);
  EXPECT_EQ(Content(random_bytes(500), false)->decoder_need(), std::nullopt);
  const Bytes zstd = joined({skippable_frame(4), test::zstd_frame(26, random_bytes(500))});
  EXPECT_GT(Content(zstd, false)->decoder_need()->bytes, 64 * kMiB);
  EXPECT_EQ(error_of([] {
              (void)Content(test::zstd_frame(28, random_bytes(5)), false)->decoder_need();
            }).kind(),
            ErrorKind::kResource);
}

TEST(ContentStream, SaysOfAPipeOnlyWhatItWasTold) {
  const Bytes xz = packed(Codec::kXz, random_bytes(500));
  EXPECT_EQ(Content(xz, true)->decoder_need(), DecoderNeed());
  EXPECT_EQ(Content(xz, true, Codec::kXz)->decoder_need(), (DecoderNeed{Codec::kXz, 0}));
  EXPECT_EQ(Content(xz, true, Codec::kNone)->decoder_need(), std::nullopt);
  EXPECT_GT(Content(xz, true, Codec::kGzip)->decoder_need()->bytes, 0U);
  Content looked(xz, true);
  EXPECT_EQ(looked->codec(), Codec::kXz);
  EXPECT_GT(looked->decoder_need()->bytes, 0U);
}

TEST(ContentStream, LetsAFileHaveWhatItsFirstHeaderAsksForButNoMore) {
  const Bytes bytes = random_bytes(500);
  const Bytes small = packed(Codec::kXz, bytes);
  const Bytes large = test::with_dictionary(small, 28);
  Content file(joined({large, small}), false);
  file->limit_decoder({kMiB, 8, kTiB});
  EXPECT_TRUE(file.all() == joined({bytes, bytes}));
  Content grows(joined({small, large}), false);
  grows->limit_decoder({kMiB, 8, kTiB});
  EXPECT_EQ(error_of([&] { (void)grows.all(); }).kind(), ErrorKind::kResource);
  Content enough(joined({small, large}), false);
  enough->limit_decoder({65 * kMiB, 8, kTiB});
  EXPECT_TRUE(enough.all() == joined({bytes, bytes}));
}

TEST(ContentStream, LetsAPipeHaveItsShare) {
  const Bytes bytes = random_bytes(500);
  for (const Bytes& all :
       {test::with_dictionary(packed(Codec::kXz, bytes), 28), test::zstd_frame(26, bytes)}) {
    Content too_large(all, true);
    too_large->limit_decoder({10 * kMiB, 8, kTiB});
    const Error error = error_of([&] { (void)too_large.all(); });
    EXPECT_EQ(error.kind(), ErrorKind::kResource);
    EXPECT_TRUE(test::contains(error.hint(), "give -S 51")) << error.what();
    Content enough(all, true);
    enough->limit_decoder({65 * kMiB, 8, kTiB});
    EXPECT_TRUE(enough.all() == bytes);
  }
}

TEST(ContentStream, GoesOnAfterAPause) {
  const Bytes bytes = random_bytes(20'000);
  for (const Codec codec : kAllCodecs) {
    for (const bool is_pipe : {false, true}) {
      Content content(packed(codec, bytes), is_pipe);
      Bytes first(9'000);
      EXPECT_EQ(content->read(first), first.size());
      content->pause();
      EXPECT_TRUE(joined({first, content.all()}) == bytes) << name_of(codec);
    }
  }
}

}  // namespace
}  // namespace gsort::io
