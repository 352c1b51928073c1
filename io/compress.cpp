#include "io/compress.hpp"

#include <ios>

#include <boost/iostreams/categories.hpp>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <fmt/format.h>

#include "base/error.hpp"

namespace gsort::io {
namespace {

namespace bio = boost::iostreams;

constexpr std::streamsize kBufferBytes = 64 << 10;

// The vector's end, in Boost's terms.
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

}  // namespace

void compress(Codec codec, int level, ConstByteSpan from, std::vector<std::byte>& to) {
  const auto number = static_cast<std::uint32_t>(level);
  try {
    switch (codec) {
      case Codec::kGzip:
        return run(bio::gzip_compressor(bio::gzip_params(level), kBufferBytes), from, to);
      case Codec::kBzip2:
        return run(bio::bzip2_compressor(bio::bzip2_params(level), kBufferBytes), from, to);
      case Codec::kXz:
        return run(bio::lzma_compressor(bio::lzma_params(number), kBufferBytes), from, to);
      default:
        return run(bio::zstd_compressor(bio::zstd_params(number), kBufferBytes), from, to);
    }
  } catch (const std::ios_base::failure& failure) {
    throw Error(ErrorKind::kOutput, fmt::format("compressing with {}", name_of(codec)),
                failure.what())
        .hint("try another codec, or --compress=none");
  }
}

}  // namespace gsort::io
