#include "io/content_stream.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/decompress.hpp"
#include "io/source.hpp"

namespace gsort::io {

ConstByteSpan InputStream::peek() {
  if (peeked_bytes_ == 0) peeked_bytes_ = read_on(peeked_);
  return ConstByteSpan(peeked_).first(peeked_bytes_);
}

std::size_t InputStream::read(ByteSpan to) {
  const std::size_t known = std::min(to.size(), peeked_bytes_ - peeked_given_);
  std::copy_n(peeked_.begin() + static_cast<std::ptrdiff_t>(peeked_given_), known, to.begin());
  peeked_given_ += known;
  return known + read_on(to.subspan(known));
}

std::size_t InputStream::read_on(ByteSpan to) {
  if (input_.is_stream()) return input_.read_next(to);
  const std::size_t bytes = std::min<std::uint64_t>(to.size(), input_.size() - position_);
  input_.read_at(to, bytes, position_);
  position_ += bytes;
  return bytes;
}

ContentStream::ContentStream(Input& input, std::optional<Codec> codec, std::uint64_t skip_bytes)
    : bytes_(input), header_(skip_bytes), path_(input.path()), codec_(codec) {}

Codec ContentStream::codec() {
  if (codec_) return *codec_;
  codec_ = codec_of_bytes(bytes_.peek());
  const auto named = codec_of_path(path_);
  if (named && codec_ == Codec::kNone) {
    throw Error(ErrorKind::kInput, "decompressing",
                fmt::format("the name says {}, the first bytes do not", name_of(*named)))
        .path(path_)
        .hint("--decompress=none reads it as it is");
  }
  return *codec_;
}

std::size_t ContentStream::read(ByteSpan to) {
  if (!header_is_read_) {
    header_is_read_ = true;
    const std::size_t bytes = read_decoded(header_);
    if (bytes < header_.size()) throw shorter_than_header(path_, bytes, header_.size());
  }
  return read_decoded(to);
}

std::size_t ContentStream::read_decoded(ByteSpan to) {
  if (codec() == Codec::kNone) return bytes_.read(to);
  if (ended_ || to.empty()) return 0;
  if (!decoder_) decoder_ = make_decoder(*codec_, bytes_, path_);
  const std::size_t bytes = decoder_->read(to);
  ended_ = bytes < to.size();
  if (ended_) decoder_.reset();  // its memory is for the next input's
  return bytes;
}

std::string ContentStream::note() const {
  if (codec_.value_or(Codec::kNone) == Codec::kNone) return {};
  return fmt::format("{}: {}, decompressed in order", path_, name_of(*codec_));
}

}  // namespace gsort::io
