// gzip, bzip2 and xz through Boost.Iostreams. zstd through its own library: Boost's filter of 1.74
// writes through a null pointer if there is no memory for a context.
#include "io/codecs/compress.hpp"

#include <ios>
#include <memory>
#include <new>

#include <boost/iostreams/categories.hpp>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.hpp"

namespace gsort::io {
namespace {

namespace bio = boost::iostreams;

constexpr std::streamsize kBufferBytes = 64 << 10;

// The vector's end as a sink of Boost.Iostreams.
class Appender {
 public:
  using char_type = char;
  using category = bio::sink_tag;

  explicit Appender(std::vector<std::byte>& to) : to_(&to) {}
  std::streamsize write(const char* from, std::streamsize bytes) {
    const auto more = std::as_bytes(std::span(from, static_cast<std::size_t>(bytes)));
    to_->insert(to_->end(), more.begin(), more.end());
    return bytes;
  }

 private:
  std::vector<std::byte>* to_;
};

// Without a chain of stream buffers: one that finds no memory for its second part writes through
// the null pointer to it (1.74).
template <class Filter>
void run(Filter filter, ConstByteSpan from, std::vector<std::byte>& to) {
  Appender sink(to);
  const auto bytes = static_cast<std::streamsize>(from.size());
  if (filter.write(sink, reinterpret_cast<const char*>(from.data()), bytes) != bytes) {
    throw std::ios_base::failure("the compressor takes no more");
  }
  filter.close(sink, std::ios_base::out);
}

Error failed(Codec codec, const char* why) {
  return Error(ErrorKind::kOutput, fmt::format("compressing with {}", name_of(codec)), why)
      .hint("try another codec, or --compress=none");
}

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

void run_zstd(int level, ConstByteSpan from, std::vector<std::byte>& to) {
  const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  const std::size_t begin = to.size();
  to.resize(begin + ZSTD_compressBound(from.size()));
  const std::size_t bytes =
      ZSTD_compress2(context.get(), to.data() + begin, to.size() - begin, from.data(), from.size());
  if (ZSTD_isError(bytes) != 0) {
    if (ZSTD_getErrorCode(bytes) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    throw failed(Codec::kZstd, ZSTD_getErrorName(bytes));
  }
  to.resize(begin + bytes);
}

}  // namespace

void compress(Codec codec, int level, ConstByteSpan from, std::vector<std::byte>& to) {
  try {
    switch (codec) {
      case Codec::kGzip:
        return run(bio::gzip_compressor(bio::gzip_params(level), kBufferBytes), from, to);
      case Codec::kBzip2:
        return run(bio::bzip2_compressor(bio::bzip2_params(level), kBufferBytes), from, to);
      case Codec::kXz:
        return run(
            bio::lzma_compressor(bio::lzma_params(static_cast<std::uint32_t>(level)), kBufferBytes),
            from, to);
      case Codec::kZstd:
        return run_zstd(level, from, to);
      case Codec::kNone:
        break;
    }
  } catch (const std::ios_base::failure& failure) {
    throw failed(codec, failure.what());
  }
}

}  // namespace gsort::io
