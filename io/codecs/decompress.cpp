// gzip, bzip2 and xz by filters of Boost.Iostreams: Boost's own for bzip2, two of ours for the
// others. Boost's gzip filter (1.74) does not look at the length in a trailer, and its xz filter
// takes a stream that needs more than 100 MiB for a damaged one. zstd through its own library:
// Boost's filter takes a stream that ends early for a whole one.
#include "io/codecs/decompress.hpp"

#include <algorithm>
#include <cstring>
#include <ios>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/iostreams/categories.hpp>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/symmetric.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <fmt/format.h>
#include <lzma.h>
#define ZLIB_CONST  // input that is not written to
#include <zlib.h>
#define ZSTD_STATIC_LINKING_ONLY  // for the most bytes of a frame's header
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.hpp"
#include "io/codecs/decoder_memory.hpp"

namespace gsort::io {
namespace {

namespace bio = boost::iostreams;

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

Error bad_stream(Codec codec, const std::string& path) {
  return Error(ErrorKind::kInput, "decompressing",
               fmt::format("the {} data is damaged, incomplete, or followed by something else",
                           name_of(codec)))
      .path(path)
      .hint(fmt::format(
          "test the file with '{} -t', or use --decompress=none to read the bytes as they are",
          name_of(codec)));
}

// A ByteStream as a source of Boost.Iostreams.
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

// The members of a gzip file, as bio::symmetric_filter wants it. zlib reads headers and trailers,
// and checks the sum and the length. Zeros behind the last member fill up the blocks of a tape, as
// gzip has it; anything else there is an error.
class GzipMembers {
 public:
  using char_type = char;

  explicit GzipMembers(const std::string& path) : path_(path) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~GzipMembers() { inflateEnd(&stream_); }
  GzipMembers(const GzipMembers&) = delete;
  GzipMembers& operator=(const GzipMembers&) = delete;

  // False once the last member has ended. Takes all input, unless there is no more room. Both are
  // as large as buffers are.
  bool filter(const char*& from, const char* from_end, char*& to, char* to_end, bool at_end) {
    do {
      if (is_between_members_ && !begin_member(from, from_end)) return !at_end;
      if (!inflate_on(from, from_end, to, to_end)) {
        if (at_end) throw bad_stream(Codec::kGzip, path_);
        return true;
      }
    } while (to != to_end && (from != from_end || at_end));
    return true;
  }
  void close() {}

 private:
  // False if there is nothing, or only padding.
  bool begin_member(const char*& from, const char* from_end) {
    if (from == from_end) return false;
    is_padding_ = is_padding_ || *from == 0;
    if (is_padding_) {
      from = std::find_if(from, from_end, [](char byte) { return byte != 0; });
      if (from != from_end) throw bad_stream(Codec::kGzip, path_);
      return false;
    }
    inflateReset(&stream_);
    is_between_members_ = false;
    return true;
  }

  // False if it made no progress.
  bool inflate_on(const char*& from, const char* from_end, char*& to, char* to_end) {
    stream_.next_in = reinterpret_cast<const Bytef*>(from);
    stream_.avail_in = static_cast<uInt>(from_end - from);
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(to_end - to);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    from = from_end - stream_.avail_in;
    to = to_end - stream_.avail_out;
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      throw bad_stream(Codec::kGzip, path_);
    }
    is_between_members_ = result == Z_STREAM_END;
    return result != Z_BUF_ERROR;
  }

  std::string path_;
  z_stream stream_ = {};
  bool is_between_members_ = false;
  bool is_padding_ = false;
};

// The memory limit of a decoder, and the data for its Error.
struct Memory {
  Codec codec;
  const DecoderBudget& budget;
  std::string path;

  void require(std::uint64_t bytes) const {
    require_decoder_memory(codec, path, bytes, budget.most_bytes, budget.limit);
  }
};

// The streams of an xz file. Each block may have a dictionary of another size.
class XzStreams {
 public:
  using char_type = char;

  explicit XzStreams(const Memory& memory) : memory_(memory) {
    if (lzma_stream_decoder(&stream_, most_bytes(), LZMA_CONCATENATED) != LZMA_OK) {
      throw std::bad_alloc();
    }
  }
  ~XzStreams() { lzma_end(&stream_); }
  XzStreams(const XzStreams&) = delete;
  XzStreams& operator=(const XzStreams&) = delete;

  // As for GzipMembers.
  bool filter(const char*& from, const char* from_end, char*& to, char* to_end, bool at_end) {
    lzma_memlimit_set(&stream_, most_bytes());  // the plan may have changed it
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(from);
    stream_.avail_in = static_cast<std::size_t>(from_end - from);
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = static_cast<std::size_t>(to_end - to);
    while (!has_ended_ && stream_.avail_out > 0 && (stream_.avail_in > 0 || at_end)) {
      decode_on(at_end ? LZMA_FINISH : LZMA_RUN);
    }
    from = from_end - stream_.avail_in;
    to = to_end - stream_.avail_out;
    return !has_ended_;
  }
  void close() {}

 private:
  // The limit as the library counts it: without the buffers.
  [[nodiscard]] std::uint64_t most_bytes() const {
    const std::uint64_t buffers = xz_decoder_bytes(0);
    return std::max(memory_.budget.most_bytes, buffers + 1) - buffers;
  }

  void decode_on(lzma_action action) {
    const lzma_ret result = lzma_code(&stream_, action);
    if (result == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (result == LZMA_MEMLIMIT_ERROR) {
      memory_.require(xz_decoder_bytes(lzma_memusage(&stream_)));
    }
    has_ended_ = result == LZMA_STREAM_END;
    if (!has_ended_ && result != LZMA_OK) throw bad_stream(Codec::kXz, memory_.path);
  }

  Memory memory_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool has_ended_ = false;
};

class ZstdDecoder final : public ByteStream {
 public:
  ZstdDecoder(ByteStream& from, Memory memory)
      : from_(from),
        memory_(std::move(memory)),
        context_(ZSTD_createDCtx()),
        buffer_(kBufferBytes) {
    if (!context_) throw std::bad_alloc();
    ZSTD_DCtx_setMaxWindowSize(context_.get(), kMostZstdWindow);
  }

  std::size_t read(ByteSpan to) override {
    ZSTD_outBuffer out = {to.data(), to.size(), 0};
    while (out.pos < out.size) {
      if (is_between_frames_ && !begin_frame()) break;
      if (in_.pos == in_.size && !is_flushing_) {
        in_ = {buffer_.data(), from_.read(buffer_), 0};
        if (in_.size == 0) break;
      }
      const std::size_t still_wanted = ZSTD_decompressStream(context_.get(), &out, &in_);
      if (ZSTD_isError(still_wanted) != 0) throw failed(still_wanted);
      is_between_frames_ = still_wanted == 0;
      // If there is room left, the decoder has no more output; if not, it may have more.
      is_flushing_ = out.pos == out.size && !is_between_frames_;
    }
    // A stream may only end after a frame, and not before the first one.
    if (out.pos < out.size && (!is_between_frames_ || !has_begun_)) {
      throw bad_stream(Codec::kZstd, memory_.path);
    }
    return out.pos;
  }

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  // Reads the whole header of the next frame into the buffer, and checks that there is memory for
  // it. False at the end of the input.
  bool begin_frame() {
    const std::size_t left = in_.size - in_.pos;
    if (left < ZSTD_FRAMEHEADERSIZE_MAX) {
      std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(in_.pos), left, buffer_.begin());
      in_ = {buffer_.data(), left + from_.read(ByteSpan(buffer_).subspan(left)), 0};
    }
    if (in_.size == in_.pos) return false;
    memory_.require(
        decoder_bytes(Codec::kZstd, ConstByteSpan(buffer_).first(in_.size).subspan(in_.pos)));
    has_begun_ = true;
    return true;
  }

  [[nodiscard]] Error failed(std::size_t code) const {
    if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    return bad_stream(Codec::kZstd, memory_.path);
  }

  ByteStream& from_;
  Memory memory_;
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  std::vector<std::byte> buffer_;
  ZSTD_inBuffer in_ = {nullptr, 0, 0};
  bool is_between_frames_ = true;
  bool has_begun_ = false;
  bool is_flushing_ = false;
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

std::unique_ptr<ByteStream> make_decoder(Codec codec, ByteStream& from, const std::string& path,
                                         const DecoderBudget& budget) {
  const Memory memory{codec, budget, path};
  switch (codec) {
    case Codec::kGzip:
      return std::make_unique<BoostDecoder>(
          codec, bio::symmetric_filter<GzipMembers>(kBufferBytes, path), from, path);
    case Codec::kBzip2:
      return std::make_unique<BoostDecoder>(codec, bio::bzip2_decompressor(false, kBufferBytes),
                                            from, path);
    case Codec::kXz:
      return std::make_unique<BoostDecoder>(
          codec, bio::symmetric_filter<XzStreams>(kBufferBytes, memory), from, path);
    case Codec::kZstd:
      return std::make_unique<ZstdDecoder>(from, memory);
    case Codec::kNone:
      break;
  }
  __builtin_unreachable();
}

}  // namespace gsort::io
