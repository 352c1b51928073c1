#include "io/input/content_stream.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/codecs/decoder_memory.hpp"
#include "io/codecs/decompress.hpp"
#include "io/input/foreign_form.hpp"
#include "io/input/source.hpp"

namespace gsort::io {

std::vector<std::byte> InputStream::peek(std::uint64_t at) {
  std::vector<std::byte> found;
  if (!input_.is_stream()) {
    found.resize(std::min<std::uint64_t>(kMostPeek, input_.size() - std::min(at, input_.size())));
    if (!found.empty()) input_.read_at(found, found.size(), at);
    return found;
  }
  if (!has_peeked_) {
    peeked_.resize(kMostPeek);
    peeked_.resize(input_.read_next(peeked_));
    peeked_all_ = peeked_.size() < kMostPeek;
    has_peeked_ = true;
  }
  const auto skipped = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(at, peeked_.size()));
  found.assign(peeked_.begin() + skipped, peeked_.end());
  return found;
}

bool InputStream::can_peek(std::uint64_t at) const {
  constexpr std::size_t kEnough = 32;  // for the first bytes of a member
  return !input_.is_stream() || peeked_all_ || at + kEnough <= kMostPeek;
}

bool InputStream::ends_at(std::uint64_t at) const {
  return input_.is_stream() ? peeked_all_ && at == peeked_.size() : at == input_.size();
}

std::size_t InputStream::read(ByteSpan to) {
  const std::size_t known = std::min(to.size(), peeked_.size());
  const auto known_end = peeked_.begin() + static_cast<std::ptrdiff_t>(known);
  std::copy(peeked_.begin(), known_end, to.begin());
  peeked_.erase(peeked_.begin(), known_end);
  if (peeked_.empty()) peeked_.shrink_to_fit();
  return known + read_on(to.subspan(known));
}

std::size_t InputStream::read_on(ByteSpan to) {
  if (input_.is_stream()) return to.empty() ? 0 : input_.read_next(to);
  const std::size_t bytes = std::min<std::uint64_t>(to.size(), input_.size() - position_);
  input_.read_at(to, bytes, position_);
  position_ += bytes;
  return bytes;
}

ContentStream::ContentStream(Input& input, const InputForm& form)
    : bytes_(input),
      header_(form.skip_bytes.value_or(0)),
      trailer_(form.skip_end_bytes),
      path_(input.path()),
      codec_(form.codec) {}

Codec ContentStream::codec() {
  if (codec_ == Codec::kNone) return *codec_;
  look();
  return *codec_;
}

// Finds the codec and the decoder's need from the first bytes.
void ContentStream::look() {
  if (has_looked_) return;
  const bool is_told = codec_.has_value();
  const auto first = first_frame();
  if (!codec_) codec_ = codec_of_bytes(first);
  const auto named = codec_of_path(path_);
  const bool is_named_otherwise = !is_told && named && codec_ == Codec::kNone;
  const auto inner = once_decompressed(path_);
  const bool is_named_twice = !is_told && inner && codec_ == named;
  if (is_named_otherwise || is_named_twice) codec_.reset();
  if (is_named_otherwise) {
    throw Error(ErrorKind::kInput, "decompressing",
                fmt::format("the suffix says {0}, but the data is not {0}", name_of(*named)))
        .path(path_)
        .hint(fmt::format("to read the bytes as they are, use --decompress=none {}",
                          form_words(path_)));
  }
  if (is_named_twice) {
    throw Error(ErrorKind::kInput, "decompressing", "its name says that it is compressed twice")
        .path(path_)
        .hint(fmt::format(
            "decompress it once: {0} > {1}; or sort the bytes of {1} with --decompress={2}",
            decompress_command(*named, path_), *inner, name_of(*named)));
  }
  if (!is_told) {
    const Codec found = *std::exchange(codec_, std::nullopt);
    refuse_foreign_codec(path_, found);
    codec_ = found;
  }
  if (codec_ != Codec::kNone) needed_bytes_ = decoder_bytes(*codec_, first);
  has_looked_ = true;
}

// Returns the first bytes, or those after the frames without content that zstd streams may begin
// with, as pzstd's do. Only a frame with content after them tells such a stream from raw keys.
// If no data follows these frames, only the name tells whether it is a stream without content.
std::vector<std::byte> ContentStream::first_frame() {
  constexpr unsigned kMostFrames = 64;
  std::uint64_t at = 0;
  std::vector<std::byte> first = bytes_.peek(0);
  for (unsigned frames = 0; codec_.value_or(Codec::kZstd) == Codec::kZstd; ++frames) {
    const std::uint64_t bytes = skippable_frame_bytes(first);
    if (bytes == 0) break;
    at += bytes;
    const bool is_all = bytes_.ends_at(at);
    if (!is_all && frames < kMostFrames && bytes_.can_peek(at)) {
      first = bytes_.peek(at);
      continue;
    }
    if (is_all && codec_of_path(path_) == Codec::kZstd) codec_ = Codec::kZstd;
    if (codec_) break;
    throw Error(ErrorKind::kInput, "decompressing",
                is_all ? "it holds skippable zstd frames and nothing else"
                       : "it begins with a skippable zstd frame, and the data behind it is too far "
                         "away to be recognized")
        .path(path_)
        .hint("give --decompress=zstd or --decompress=none");
  }
  return first;
}

std::optional<DecoderNeed> ContentStream::decoder_need() {
  if (!bytes_.is_stream() || has_looked_) {
    if (codec() == Codec::kNone) return std::nullopt;
    require_decoder_memory(*codec_, path_, needed_bytes_, UINT64_MAX, {});
    return DecoderNeed{*codec_, needed_bytes_};
  }
  if (codec_ == Codec::kNone) return std::nullopt;
  const Codec told = codec_.value_or(Codec::kNone);
  return DecoderNeed{told, facts_of(told).header_says_all ? decoder_bytes(told, {}) : 0};
}

void ContentStream::limit_decoder(const DecoderLimit& limit) {
  const auto need = decoder_need();
  if (!need) return;
  budget_ = {std::max(limit.share_bytes, need->bytes), limit};
}

void ContentStream::pause() {
  if (!decoder_ || bytes_.is_stream()) return;
  decoder_.reset();
  bytes_.rewind();
}

std::size_t ContentStream::read(ByteSpan to) {
  if (!header_is_read_) {
    header_is_read_ = true;
    std::size_t bytes = read_decoded(header_);
    bytes += read_decoded(trailer_);  // in this order
    if (bytes < header_.size() + trailer_.size()) {
      throw shorter_than_header(path_, bytes, header_.size(), trailer_.size());
    }
  }
  const std::size_t bytes = read_decoded(to);
  // Keep the last bytes in trailer_, and return first the bytes that they replace.
  const auto last = static_cast<std::ptrdiff_t>(std::min(bytes, trailer_.size()));
  const auto end = to.begin() + static_cast<std::ptrdiff_t>(bytes);
  std::rotate(to.begin(), end - last, end);
  std::swap_ranges(trailer_.begin(), trailer_.begin() + last, to.begin());
  std::rotate(trailer_.begin(), trailer_.begin() + last, trailer_.end());
  return bytes;
}

std::size_t ContentStream::read_decoded(ByteSpan to) {
  if (codec() == Codec::kNone) return bytes_.read(to);
  if (ended_ || to.empty()) return 0;
  if (!decoder_) start_decoder();
  const std::size_t bytes = decoder_->read(to);
  decoded_bytes_ += bytes;
  ended_ = bytes < to.size();
  if (ended_) decoder_.reset();  // its memory is for the next input's
  return bytes;
}

// Continues after the bytes that were decoded before a pause.
void ContentStream::start_decoder() {
  require_decoder_memory(*codec_, path_, needed_bytes_, budget_.most_bytes, budget_.limit);
  decoder_ = make_decoder(*codec_, bytes_, path_, budget_);
  std::vector<std::byte> again(std::min<std::uint64_t>(decoded_bytes_, InputStream::kMostPeek));
  for (std::uint64_t left = decoded_bytes_; left > 0;) {
    const ByteSpan piece = ByteSpan(again).first(std::min<std::uint64_t>(left, again.size()));
    left -= piece.size();
    if (decoder_->read(piece) == piece.size()) continue;
    throw Error(ErrorKind::kInput, "reading", "the file was written to while it was read")
        .path(path_)
        .hint("try again when no program writes to it");
  }
}

std::string ContentStream::note() const {
  if (codec_.value_or(Codec::kNone) == Codec::kNone) return {};
  return fmt::format("{}: {}, decompressed in order", path_, name_of(*codec_));
}

}  // namespace gsort::io
