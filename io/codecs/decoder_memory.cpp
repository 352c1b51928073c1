#include "io/codecs/decoder_memory.hpp"

#include <algorithm>
#include <new>

#include <fmt/format.h>
#include <lzma.h>
#define ZSTD_STATIC_LINKING_ONLY  // for the headers of frames
#include <zstd.h>

#include "base/units.hpp"

namespace gsort::io {
namespace {

// The buffers and small structures of a decoder.
constexpr std::uint64_t kBuffersBytes = 256 * kKiB;

std::uint64_t bzip2_bytes(ConstByteSpan first_bytes) {
  constexpr std::size_t kLevelAt = 3;
  constexpr std::uint64_t kBlockBytes = 100'000;
  const auto level = first_bytes.size() > kLevelAt
                         ? std::to_integer<std::uint64_t>(first_bytes[kLevelAt]) - '0'
                         : 9;
  return kBuffersBytes + std::clamp<std::uint64_t>(level, 1, 9) * 4 * kBlockBytes;
}

// A decoder with a limit of 0 reports its need.
std::uint64_t xz_bytes(ConstByteSpan first_bytes) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, 1, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
  std::uint8_t content = 0;
  stream.next_in = reinterpret_cast<const std::uint8_t*>(first_bytes.data());
  stream.avail_in = first_bytes.size();
  stream.next_out = &content;
  stream.avail_out = 1;
  const bool says = lzma_code(&stream, LZMA_RUN) == LZMA_MEMLIMIT_ERROR;
  const std::uint64_t bytes = says ? lzma_memusage(&stream) : 0;
  lzma_end(&stream);
  return xz_decoder_bytes(bytes);
}

std::uint64_t zstd_bytes(ConstByteSpan first_bytes) {
  ZSTD_frameHeader header;
  const bool is_whole = ZSTD_getFrameHeader(&header, first_bytes.data(), first_bytes.size()) == 0;
  if (!is_whole || header.frameType != ZSTD_frame) return kBuffersBytes;
  // A frame may claim any size. If it is too large to be read, its exact size does not matter.
  const std::uint64_t window = std::min<std::uint64_t>(header.windowSize, std::uint64_t{1} << 60);
  if (window > kMostZstdWindow) return std::max(kBuffersBytes + window, kMostDecoderShare + 1);
  return kBuffersBytes + ZSTD_estimateDStreamSize(window);
}

}  // namespace

std::uint64_t xz_decoder_bytes(std::uint64_t library_bytes) {
  return kBuffersBytes + library_bytes;
}

std::uint64_t decoder_bytes(Codec codec, ConstByteSpan first_bytes) {
  switch (codec) {
    case Codec::kBzip2:
      return bzip2_bytes(first_bytes);
    case Codec::kXz:
      return xz_bytes(first_bytes);
    case Codec::kZstd:
      return zstd_bytes(first_bytes);
    default:
      return kBuffersBytes;
  }
}

std::uint64_t skippable_frame_bytes(ConstByteSpan first_bytes) {
  ZSTD_frameHeader header;
  if (first_bytes.size() < ZSTD_SKIPPABLEHEADERSIZE ||
      ZSTD_getFrameHeader(&header, first_bytes.data(), first_bytes.size()) != 0 ||
      header.frameType != ZSTD_skippableFrame) {
    return 0;
  }
  return ZSTD_SKIPPABLEHEADERSIZE + header.frameContentSize;
}

void require_decoder_memory(Codec codec, const std::string& path, std::uint64_t bytes,
                            std::uint64_t most_bytes, const DecoderLimit& limit) {
  const bool too_large = codec == Codec::kZstd && bytes > kMostDecoderShare;
  if (bytes <= most_bytes && !too_large) return;
  const std::string word(memory_word(codec));
  const std::string why =
      too_large ? fmt::format("its {} needs {}, and larger ones than {} are not read", word,
                              format_bytes(bytes), format_bytes(kMostZstdWindow))
                : fmt::format("its {} needs {}, more than the {} that are planned for it", word,
                              format_bytes(bytes), format_bytes(most_bytes));
  std::string way_out = "use: " + decompress_pipe(codec, path);
  // Needs within the largest share are too small to wrap here.
  if (limit.budget_factor > 0 && bytes <= kMostDecoderShare) {
    const std::uint64_t budget = round_up(bytes * limit.budget_factor, kMiB);
    if (budget <= limit.most_budget_bytes) {
      way_out = fmt::format("give -S {}M or more, or {}", budget / kMiB, way_out);
    }
  }
  throw Error(ErrorKind::kResource, "decompressing", why).path(path).hint(way_out);
}

}  // namespace gsort::io
