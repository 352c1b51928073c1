// StreamSource: raw elements that arrive in order: from a pipe, or decompressed. claim() reads
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/input/content_stream.hpp"
#include "io/input/source.hpp"

namespace gsort::io {

class StreamSource final : public Source {
 public:
  // `content` is the content of `opened`, read up to its first element. `promised_elements`: their
  // number according to a header; none if no header says it, but `form` may (--elements).
  StreamSource(std::unique_ptr<Input> opened, std::unique_ptr<ContentStream> content,
               std::optional<std::uint64_t> promised_elements, const InputForm& form = {});

  void begin(const ElementForm& form) override;
  [[nodiscard]] Filling filling() const override { return Filling::kByClaim; }
  [[nodiscard]] Claim claim(ByteSpan room, std::size_t wanted_bytes) override;
  [[nodiscard]] bool at_end() const override { return ended_; }
  [[nodiscard]] ConstByteSpan header() const override { return content_->header(); }
  [[nodiscard]] std::vector<std::byte> trailer() override {
    return skip_end_bytes_ > 0 ? content_->trailer() : trailer_;
  }
  [[nodiscard]] std::optional<DecoderNeed> decoder_need() override {
    return content_->decoder_need();
  }
  void limit_decoder(const DecoderLimit& limit) override { content_->limit_decoder(limit); }
  [[nodiscard]] std::string note() const override;

 private:
  void look_at_beginning();
  [[nodiscard]] std::size_t read(ByteSpan to);
  void check_end();
  void check_end_of_asked();

  std::unique_ptr<ContentStream> content_;
  std::optional<std::uint64_t> promised_elements_;
  std::optional<std::uint64_t> asked_elements_;
  std::optional<std::uint64_t> promised_bytes_;  // the size of these elements
  bool may_have_header_;                         // the name and --skip allow it
  std::uint64_t skip_end_bytes_;
  std::vector<std::byte> trailer_;  // the bytes behind asked_elements_
  ElementForm form_;
  // The bytes read to inspect them, and how many of these have been claimed.
  std::vector<std::byte> beginning_;
  std::size_t beginning_taken_ = 0;
  bool beginning_is_read_ = false;
  bool beginning_is_all_ = false;
  std::uint64_t taken_ = 0;
  bool ended_ = false;
};

}  // namespace gsort::io
