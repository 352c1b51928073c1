// ContentStream: what an input holds, in order: its bytes, decompressed where they are compressed,
// behind the header that is to be skipped.
//
// Nothing is read before it is needed: a pipe is not waited for until the first read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_form.hpp"
#include "io/byte_stream.hpp"
#include "io/input.hpp"

namespace gsort::io {

// The bytes of an input in order, from its first one; the first few can be looked at before.
class InputStream final : public ByteStream {
 public:
  explicit InputStream(Input& input) : input_(input) {}

  // Up to kMostPeek first bytes, fewer if there are no more. Requires: nothing has been read yet.
  static constexpr std::size_t kMostPeek = 16;
  [[nodiscard]] ConstByteSpan peek();

  [[nodiscard]] std::size_t read(ByteSpan to) override;

 private:
  std::size_t read_on(ByteSpan to);

  Input& input_;
  std::uint64_t position_ = 0;
  std::array<std::byte, kMostPeek> peeked_{};
  std::size_t peeked_bytes_ = 0;
  std::size_t peeked_given_ = 0;
};

class ContentStream final : public ByteStream {
 public:
  // `codec` and `skip_bytes` as in InputForm. `input` outlives the stream.
  ContentStream(Input& input, std::optional<Codec> codec, std::uint64_t skip_bytes);

  // What the content is compressed by: found out now, if it is not known yet.
  // Throws: Error(kInput) when the name says a codec and the first bytes do not.
  [[nodiscard]] Codec codec();

  // Throws: Error(kInput), also when the content is shorter than the header.
  [[nodiscard]] std::size_t read(ByteSpan to) override;

  // The skipped bytes, once something has been read.
  [[nodiscard]] ConstByteSpan header() const { return header_; }

  // "gzip, decompressed in order"; empty for what is not compressed, as far as is known.
  [[nodiscard]] std::string note() const;

 private:
  [[nodiscard]] std::size_t read_decoded(ByteSpan to);

  InputStream bytes_;
  std::vector<std::byte> header_;
  bool header_is_read_ = false;
  std::string path_;
  std::optional<Codec> codec_;
  std::unique_ptr<ByteStream> decoder_;  // until it has ended
  bool ended_ = false;
};

}  // namespace gsort::io
