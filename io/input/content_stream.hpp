// ContentStream: the content of an input, in order: its bytes after the skipped header,
// decompressed if they are compressed.
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

// The bytes of an input in order, from its first one; a caller can look at the first ones before it
// reads them.
class InputStream final : public ByteStream {
 public:
  explicit InputStream(Input& input) : input_(input) {}

  // The bytes from `at` on, up to kMostPeek, or fewer if the input ends. For a stream, waits for
  // its first bytes and keeps them; returns only bytes among these. Requires: nothing has been
  // read.
  static constexpr std::size_t kMostPeek = 4096;
  [[nodiscard]] std::vector<std::byte> peek(std::uint64_t at);

  // Whether peek(at) can return all bytes from `at` on.
  [[nodiscard]] bool can_peek(std::uint64_t at) const;

  // Whether the input ends at `at`, as far as peek(0) has shown.
  [[nodiscard]] bool ends_at(std::uint64_t at) const;

  [[nodiscard]] bool is_stream() const { return input_.is_stream(); }
  [[nodiscard]] std::size_t read(ByteSpan to) override;

  // The next read is from the first byte again. Requires: the input is not a stream.
  void rewind() { position_ = 0; }

 private:
  std::size_t read_on(ByteSpan to);

  Input& input_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> peeked_;  // from a stream, and not yet read
  bool has_peeked_ = false;
  bool peeked_all_ = false;
};

class ContentStream final : public ByteStream {
 public:
  // Reads the content between header and trailer; `form` has their sizes. `input` outlives it.
  ContentStream(Input& input, const InputForm& form);

  // The codec of the content; looks at the first bytes if it is not known yet. Throws:
  // Error(kInput) if the name is that of a codec and the first bytes are not, or if they do not
  // suffice to decide; Error(kResource) if the window is larger than any that gsort reads.
  [[nodiscard]] Codec codec();

  // As in Source. Throws: as codec().
  [[nodiscard]] std::optional<DecoderNeed> decoder_need();
  void limit_decoder(const DecoderLimit& limit);

  // Frees the decoder's memory until the next read, if its output can be decoded again.
  void pause();

  // Throws: Error(kInput), also when the content is shorter than header and trailer.
  [[nodiscard]] std::size_t read(ByteSpan to) override;

  // The skipped bytes, once something has been read.
  [[nodiscard]] ConstByteSpan header() const { return header_; }

  // The bytes behind the elements; complete once read() has reached the end.
  [[nodiscard]] const std::vector<std::byte>& trailer() const { return trailer_; }

  // "gzip, decompressed in order"; empty if the content is not known to be compressed.
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
  std::uint64_t needed_bytes_ = 0;  // by the decoder, once this is known
  DecoderBudget budget_;
  std::unique_ptr<ByteStream> decoder_;  // until it has ended
  std::uint64_t decoded_bytes_ = 0;
  bool ended_ = false;
};

}  // namespace gsort::io
