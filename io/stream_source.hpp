// StreamSource: raw elements that come in order: from a pipe, or decompressed. They are read while
// they are claimed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "io/content_stream.hpp"
#include "io/source.hpp"

namespace gsort::io {

class StreamSource final : public Source {
 public:
  // `content` is what `opened` holds, read up to its first element.
  StreamSource(std::unique_ptr<Input> opened, std::unique_ptr<ContentStream> content);

  // The same for an array whose header says that exactly `promised_bytes` of elements follow.
  StreamSource(std::unique_ptr<Input> opened, std::unique_ptr<ContentStream> content,
               std::uint64_t promised_bytes);

  void begin(const ElementForm& form) override { element_bytes_ = form.bytes; }
  [[nodiscard]] Filling filling() const override { return Filling::kByClaim; }
  [[nodiscard]] Claim claim(ByteSpan room, std::size_t wanted_bytes) override;
  [[nodiscard]] bool at_end() const override { return ended_; }
  [[nodiscard]] ConstByteSpan header() const override { return content_->header(); }
  [[nodiscard]] std::optional<DecoderNeed> decoder_need() override {
    return content_->decoder_need();
  }
  void limit_decoder(const DecoderLimit& limit) override { content_->limit_decoder(limit); }
  [[nodiscard]] std::string note() const override;

 private:
  void check_end();

  std::unique_ptr<ContentStream> content_;
  std::optional<std::uint64_t> promised_bytes_;  // by a header
  std::size_t element_bytes_ = 1;
  std::uint64_t taken_ = 0;
  bool ended_ = false;
};

}  // namespace gsort::io
