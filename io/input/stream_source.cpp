// Raw elements that arrive in order: from a pipe, or decompressed. claim() reads them.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "form/counted_file.hpp"
#include "io/input/foreign_form.hpp"
#include "io/input/source_kinds.hpp"

namespace gsort::io {
namespace {

class StreamSource final : public Source {
 public:
  StreamSource(std::unique_ptr<Input> opened, std::unique_ptr<ContentStream> content,
               std::optional<std::uint64_t> promised_elements, const InputForm& form)
      : Source(std::move(opened)),
        content_(std::move(content)),
        promised_elements_(promised_elements),
        asked_elements_(form.elements),
        may_have_header_(!promised_elements && !form.skip_bytes),
        skip_end_bytes_(form.skip_end_bytes) {}

  void begin(const ElementForm& form) override {
    form_ = form;
    if (promised_elements_) {
      promised_bytes_ = promised_bytes(path(), *promised_elements_ / columns(), form.bytes);
    }
    if (asked_elements_) promised_bytes_ = capped_product(*asked_elements_, form.bytes);
    refuse_foreign_name(path(), form, false);
  }

  [[nodiscard]] Filling filling() const override { return Filling::kByClaim; }

  [[nodiscard]] Claim claim(ByteSpan room, std::size_t wanted_bytes) override {
    const std::size_t wanted =
        std::min<std::uint64_t>(wanted_bytes, promised_bytes_.value_or(UINT64_MAX) - taken_);
    const std::size_t bytes = read(room.first(wanted));
    const Claim claim{std::exchange(taken_, taken_ + bytes), bytes};
    ended_ = bytes < wanted || taken_ == promised_bytes_;
    if (ended_) check_end();
    return claim;
  }

  [[nodiscard]] bool at_end() const override { return ended_; }
  [[nodiscard]] ConstByteSpan header() const override { return content_->header(); }
  [[nodiscard]] std::vector<std::byte> trailer() override {
    return skip_end_bytes_ > 0 ? content_->trailer() : trailer_;
  }
  [[nodiscard]] std::optional<DecoderNeed> decoder_need() override {
    return content_->decoder_need();
  }
  void limit_decoder(const DecoderLimit& limit) override { content_->limit_decoder(limit); }

  [[nodiscard]] std::string note() const override {
    std::string note = content_->note();
    return note.empty() ? Source::note() : note;
  }

 private:
  // Waits for a pipe only when its first elements are needed.
  void look_at_beginning() {
    beginning_is_read_ = true;
    if (!form_.type_is_assumed && !may_have_header_) return;
    beginning_.resize(kForeignFormBytes);
    beginning_.resize(content_->read(beginning_));
    beginning_is_all_ = beginning_.size() < kForeignFormBytes;
    if (may_have_header_) refuse_npy_header(path(), beginning_);
    looks_like_ = refuse_foreign_bytes(path(), form_, beginning_);
  }

  // As ContentStream::read(): less than asked only at the end.
  [[nodiscard]] std::size_t read(ByteSpan to) {
    if (!beginning_is_read_) look_at_beginning();
    const std::size_t looked_at = std::min(to.size(), beginning_.size() - beginning_taken_);
    std::copy_n(beginning_.begin() + static_cast<std::ptrdiff_t>(beginning_taken_), looked_at,
                to.begin());
    beginning_taken_ += looked_at;
    if (beginning_taken_ == beginning_.size()) {
      beginning_ = {};
      beginning_taken_ = 0;
    }
    const ByteSpan rest = to.subspan(looked_at);
    return looked_at + (rest.empty() || beginning_is_all_ ? 0 : content_->read(rest));
  }

  // Reads the bytes behind the elements, but stops when they are too many.
  void check_end_of_asked() {
    constexpr std::size_t kPiece = std::size_t{64} << 10;
    const bool is_all = skip_end_bytes_ > 0;
    const bool is_complete = taken_ == *promised_bytes_;
    const std::uint64_t most = is_all ? 0 : kMostSkipBytes;
    for (std::size_t read = kPiece; is_complete && read == kPiece && trailer_.size() <= most;) {
      trailer_.resize(trailer_.size() + kPiece);
      read = this->read(ByteSpan(trailer_).last(kPiece));
      trailer_.resize(trailer_.size() - kPiece + read);
    }
    promised_bytes_ =
        bytes_of_elements(path(), *asked_elements_, form_.bytes, taken_ + trailer_.size(), is_all);
  }

  void check_end() {
    if (asked_elements_) return check_end_of_asked();
    if (!promised_bytes_) {
      if (taken_ % form_.bytes != 0) {
        throw odd_tail(path(), content_->header().size(), taken_, form_, looks_like_);
      }
      return;
    }
    std::byte more{};
    const std::size_t behind = taken_ < *promised_bytes_ ? 0 : read(ByteSpan(&more, 1));
    if (taken_ + behind != *promised_bytes_) {
      throw wrong_array_size(path(), *promised_bytes_, taken_ + behind, stored().has_value());
    }
  }

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
  std::optional<ForeignForm> looks_like_;
  bool beginning_is_all_ = false;
  std::uint64_t taken_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Source> make_stream_source(std::unique_ptr<Input> opened,
                                           std::unique_ptr<ContentStream> content,
                                           std::optional<std::uint64_t> promised_elements,
                                           const InputForm& form) {
  return std::make_unique<StreamSource>(std::move(opened), std::move(content), promised_elements,
                                        form);
}

}  // namespace gsort::io
