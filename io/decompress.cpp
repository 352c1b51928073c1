// gzip, bzip2 and xz through Boost.Iostreams. zstd through its own library: Boost's filter of 1.74
// takes a stream that ends early for a whole one.
#include "io/decompress.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <ios>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/iostreams/categories.hpp>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.hpp"

namespace gsort::io {
namespace {

namespace bio = boost::iostreams;

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

Error bad_stream(Codec codec, const std::string& path) {
  return Error(ErrorKind::kInput, "decompressing",
               fmt::format("the {} data is damaged, incomplete, or followed by something else",
                           name_of(codec)))
      .path(path)
      .hint(fmt::format("'{} -t' tests such a file; --decompress=none reads it as it is",
                        name_of(codec)));
}

// A ByteStream in Boost's terms.
class Compressed {
 public:
  using char_type = char;
  using category = bio::source_tag;

  explicit Compressed(ByteStream& from) : from_(&from) {}
  std::streamsize read(char* to, std::streamsize bytes) {
    const std::size_t got =
        from_->read(std::as_writable_bytes(std::span(to, static_cast<std::size_t>(bytes))));
    return got == 0 ? -1 : static_cast<std::streamsize>(got);
  }

 private:
  ByteStream* from_;
};

class BoostDecoder final : public ByteStream {
 public:
  template <class Filter>
  BoostDecoder(Codec codec, const Filter& filter, ByteStream& from, std::string path)
      : codec_(codec), path_(std::move(path)) {
    chain_.push(filter, kBufferBytes);
    chain_.push(Compressed(from), kBufferBytes);
  }

  // From the buffer itself: a std::istream would turn its exceptions into a quiet badbit.
  std::size_t read(ByteSpan to) override {
    try {
      const auto wanted = static_cast<std::streamsize>(to.size());
      const std::streamsize got = chain_.sgetn(reinterpret_cast<char*>(to.data()), wanted);
      return static_cast<std::size_t>(std::max<std::streamsize>(got, 0));
    } catch (const std::ios_base::failure&) {
      throw bad_stream(codec_, path_);
    }
  }

 private:
  Codec codec_;
  std::string path_;
  bio::filtering_streambuf<bio::input> chain_;
};

// Frames say how far back they look, which is what a decoder needs memory for. All levels of zstd
// but the ultra ones stay within this, and --long goes beyond it.
constexpr int kMostWindowLog = 23;

class ZstdDecoder final : public ByteStream {
 public:
  ZstdDecoder(ByteStream& from, std::string path)
      : from_(from), path_(std::move(path)), context_(ZSTD_createDCtx()), buffer_(kBufferBytes) {
    if (!context_) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMostWindowLog);
  }

  std::size_t read(ByteSpan to) override {
    ZSTD_outBuffer out = {to.data(), to.size(), 0};
    while (out.pos < out.size) {
      if (in_.pos == in_.size && !flushing_) {
        in_ = {buffer_.data(), from_.read(buffer_), 0};
        if (in_.size == 0) break;
      }
      const std::size_t still_wanted = ZSTD_decompressStream(context_.get(), &out, &in_);
      if (ZSTD_isError(still_wanted) != 0) throw failed(still_wanted);
      at_border_ = still_wanted == 0;
      // With room left the decoder has given all it had; without, it may hold more.
      flushing_ = out.pos == out.size && !at_border_;
    }
    // Only between two frames, and not before the first one, is a stream whole.
    if (out.pos < out.size && !at_border_) throw bad_stream(Codec::kZstd, path_);
    return out.pos;
  }

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  [[nodiscard]] Error failed(std::size_t code) const {
    if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (ZSTD_getErrorCode(code) != ZSTD_error_frameParameter_windowTooLarge) {
      return bad_stream(Codec::kZstd, path_);
    }
    return Error(ErrorKind::kInput, "decompressing",
                 fmt::format("it looks back further than the {} MiB that memory is planned for",
                             1 << (kMostWindowLog - 20)))
        .path(path_)
        .hint(fmt::format("let zstd do it, with memory of its own: zstd -dc --long=31 {} | gsort",
                          path_));
  }

  ByteStream& from_;
  std::string path_;
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  std::vector<std::byte> buffer_;
  ZSTD_inBuffer in_ = {nullptr, 0, 0};
  bool at_border_ = false;
  bool flushing_ = false;
};

bool begins_with(ConstByteSpan bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

}  // namespace

Codec codec_of_bytes(ConstByteSpan first_bytes) {
  using namespace std::string_view_literals;
  constexpr std::size_t kGzipFlags = 3;  // the offset of a byte whose upper three bits are zero
  if (begins_with(first_bytes, "\x1f\x8b\x08"sv) && first_bytes.size() > kGzipFlags &&
      (first_bytes[kGzipFlags] & std::byte{0xe0}) == std::byte{0}) {
    return Codec::kGzip;
  }
  if (begins_with(first_bytes, "BZh"sv) && first_bytes.size() > 4 &&
      first_bytes[3] >= std::byte{'1'} && first_bytes[3] <= std::byte{'9'}) {
    const ConstByteSpan block = first_bytes.subspan(4);  // a block, or the end of an empty stream
    if (begins_with(block, "1AY&SY"sv) || begins_with(block, "\x17\x72\x45\x38\x50\x90"sv)) {
      return Codec::kBzip2;
    }
  }
  if (begins_with(first_bytes, "\xfd\x37\x7a\x58\x5a\x00"sv)) return Codec::kXz;
  if (begins_with(first_bytes, "\x28\xb5\x2f\xfd"sv)) return Codec::kZstd;
  return Codec::kNone;
}

std::unique_ptr<ByteStream> make_decoder(Codec codec, ByteStream& from, const std::string& path) {
  switch (codec) {
    case Codec::kGzip:
      return std::make_unique<BoostDecoder>(
          codec, bio::gzip_decompressor(bio::gzip::default_window_bits, kBufferBytes), from, path);
    case Codec::kBzip2:
      return std::make_unique<BoostDecoder>(codec, bio::bzip2_decompressor(false, kBufferBytes),
                                            from, path);
    case Codec::kXz:
      return std::make_unique<BoostDecoder>(codec, bio::lzma_decompressor(kBufferBytes), from,
                                            path);
    default:
      return std::make_unique<ZstdDecoder>(from, path);
  }
}

}  // namespace gsort::io
