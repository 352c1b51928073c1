// TextSource: keys as decimal text, one a line, perhaps after a count. claim() reads the text in
// order; many threads parse it at once.
//
// It uses only the reader's own buffers: the text of a block lies at the end of its buffer, and the
// keys are written to the start. The amount of text to take follows from the length of earlier
// lines:
//
//   | keys .......................| text of just so many lines ........................| slack |
//   0                         room for the text                              buffer's end
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/input/content_stream.hpp"
#include "io/input/source.hpp"

namespace gsort::io {

class TextSource final : public Source {
 public:
  TextSource(std::unique_ptr<Input> opened, std::unique_ptr<ContentStream> content);

  void begin(const ElementForm& form) override {
    key_ = form.key;
    has_counts_ = form.has_counts;
    element_bytes_ = form.has_counts ? form.bytes : bytes_of(form.key);
  }
  [[nodiscard]] Filling filling() const override { return Filling::kByDecoding; }

  // Throws: Error(kInput) for a line longer than half a buffer.
  [[nodiscard]] Claim claim(ByteSpan room, std::size_t wanted_bytes) override;

  // Throws: Error(kInput) with line, column and text if a word is not a number of the type.
  void fill(ByteSpan room, const Claim& claim) override;
  [[nodiscard]] bool at_end() const override { return stream_ended_ && rest_.empty(); }
  [[nodiscard]] ConstByteSpan header() const override { return content_->header(); }
  [[nodiscard]] std::vector<std::byte> trailer() override { return content_->trailer(); }
  [[nodiscard]] std::optional<DecoderNeed> decoder_need() override {
    return content_->decoder_need();
  }
  void limit_decoder(const DecoderLimit& limit) override { content_->limit_decoder(limit); }
  [[nodiscard]] std::string note() const override;

 private:
  [[nodiscard]] std::size_t choose_text_bytes(std::size_t room_bytes) const;
  std::size_t read_text(char* text, std::size_t text_bytes);
  void keep_rest(const char* text, std::size_t taken, std::size_t read);

  std::unique_ptr<ContentStream> content_;
  KeyFormat key_;
  bool has_counts_ = false;
  std::size_t element_bytes_ = 1;
  std::vector<char> rest_;  // read, but not claimed yet
  bool has_begun_ = false;
  bool stream_ended_ = false;
  std::uint64_t lines_ = 0;
  std::size_t line_bytes_ = 8;  // of recent lines, on average
};

}  // namespace gsort::io
