// ContentStream: what an input holds, in order: its bytes, decompressed where they are compressed,
// behind the header that is to be skipped.
//
// Nothing is read before it is needed: a pipe is not waited for until the first read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "form/byte_stream.hpp"
#include "form/decoding.hpp"
#include "form/file_form.hpp"
#include "io/codecs/decompress.hpp"
#include "io/input/input.hpp"

namespace gsort::io {

// The bytes of an input in order, from its first one; the first ones can be looked at before.
class InputStream final : public ByteStream {
 public:
  explicit InputStream(Input& input) : input_(input) {}

  // The bytes from `at` on, up to kMostPeek, fewer if there are no more; of a stream, whose first
  // bytes are waited for and kept, as far as they are among those. Requires: nothing has been read.
  static constexpr std::size_t kMostPeek = 4096;
  [[nodiscard]] std::vector<std::byte> peek(std::uint64_t at);

  // Whether peek(at) shows all there is to be seen from `at` on.
  [[nodiscard]] bool can_peek(std::uint64_t at) const;

  // Whether the input ends at `at`, as far as peek(0) has shown.
  [[nodiscard]] bool ends_at(std::uint64_t at) const;

  [[nodiscard]] bool is_stream() const { return input_.is_stream(); }
  [[nodiscard]] std::size_t read(ByteSpan to) override;

  // The next read is from the first byte again. Requires: it is no stream.
  void rewind() { position_ = 0; }

 private:
  std::size_t read_on(ByteSpan to);

  Input& input_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> peeked_;  // of a stream, and not yet given
  bool has_peeked_ = false;
  bool peeked_all_ = false;
};

class ContentStream final : public ByteStream {
 public:
  // Reads the content between header and trailer; `form` has their sizes. `input` outlives it.
  ContentStream(Input& input, const InputForm& form);

  // What the content is compressed by: found out now, if it is not known yet.
  // Throws: Error(kInput) when the name says a codec and the first bytes do not, or when they do
  // not suffice to know; Error(kResource) for a window that is larger than any that are read.
  [[nodiscard]] Codec codec();

  // As in Source. Throws: as codec().
  [[nodiscard]] std::optional<DecoderNeed> decoder_need();
  void limit_decoder(const DecoderLimit& limit);

  // Gives up the decoder's memory until the next read, where what it has decoded can be decoded
  // again.
  void pause();

  // Throws: Error(kInput), also when the content is shorter than header and trailer.
  [[nodiscard]] std::size_t read(ByteSpan to) override;

  // The skipped bytes, once something has been read.
  [[nodiscard]] ConstByteSpan header() const { return header_; }

  // The bytes behind the elements; complete once read() has reached the end.
  [[nodiscard]] const std::vector<std::byte>& trailer() const { return trailer_; }

  // "gzip, decompressed in order"; empty for what is not compressed, as far as is known.
  [[nodiscard]] std::string note() const;

 private:
  [[nodiscard]] std::size_t read_decoded(ByteSpan to);
  void look();
  [[nodiscard]] std::vector<std::byte> first_frame();
  void start_decoder();

  InputStream bytes_;
  std::vector<std::byte> header_;
  std::vector<std::byte> trailer_;  // the last bytes read so far
  bool header_is_read_ = false;
  std::string path_;
  std::optional<Codec> codec_;
  bool has_looked_ = false;
  std::uint64_t needed_bytes_ = 0;  // by the decoder, once one has looked
  DecoderBudget budget_;
  std::unique_ptr<ByteStream> decoder_;  // until it has ended
  std::uint64_t decoded_bytes_ = 0;
  bool ended_ = false;
};

}  // namespace gsort::io
