// Keys as decimal text, one a line, perhaps after a count. claim() reads the text in
// order; many threads parse it at once.
//
// It uses only the reader's own buffers: the text of a block lies at the end of its buffer, and the
// keys are written to the start. The amount of text to take follows from the length of earlier
// lines:
//
//   | keys .......................| text of just so many lines ........................| slack |
//   0                         room for the text                              buffer's end

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "form/counted_lines.hpp"
#include "form/decimal.hpp"
#include "form/text_error.hpp"
#include "io/input/source_kinds.hpp"

namespace gsort::io {
namespace {

char* chars_of(ByteSpan bytes) {
  return reinterpret_cast<char*>(bytes.data());
}

// The bytes of the first `lines` lines. Requires: there are that many.
std::size_t bytes_of_lines(std::string_view text, std::size_t lines) {
  std::size_t end = 0;
  for (; lines > 0; --lines) end = text.find('\n', end) + 1;
  return end;
}

class TextSource final : public Source {
 public:
  TextSource(std::unique_ptr<Input> opened, std::unique_ptr<ContentStream> content)
      : Source(std::move(opened)), content_(std::move(content)) {}

  void begin(const ElementForm& form) override {
    key_ = form.key;
    has_counts_ = form.has_counts;
    element_bytes_ = form.has_counts ? form.bytes : bytes_of(form.key);
  }
  [[nodiscard]] Filling filling() const override { return Filling::kByDecoding; }

  // Throws: Error(kInput) for a line longer than half a buffer.
  [[nodiscard]] Claim claim(ByteSpan room, std::size_t wanted_bytes) override {
    const std::size_t text_bytes = choose_text_bytes(room.size());
    const std::size_t text_at = room.size() - kTextSlack - text_bytes;
    char* const text = chars_of(room.subspan(text_at));
    const std::size_t read = read_text(text, text_bytes);

    const std::string_view all(text, read);
    const std::string_view whole = all.substr(0, all.rfind('\n') + 1);  // npos + 1 is 0
    if (whole.empty() && !all.empty()) throw line_too_long(path(), lines_ + 1, all);
    const std::size_t most_lines = std::min(wanted_bytes, text_at) / element_bytes_;
    std::size_t lines = count_newlines(whole);
    std::size_t taken = whole.size();
    if (lines > most_lines) {
      lines = most_lines;
      taken = bytes_of_lines(whole, lines);
    }
    rest_.insert(rest_.begin(), text + taken, text + read);
    if (lines > 0) line_bytes_ = taken / lines;
    return {std::exchange(lines_, lines_ + lines), lines * element_bytes_, text_at, taken};
  }

  // Throws: Error(kInput) with line, column and text if a word is not a number of the type.
  void fill(ByteSpan room, const Claim& claim) override {
    const std::string_view text(chars_of(room.subspan(claim.text_at)), claim.text_bytes);
    const auto parse = has_counts_ ? parse_counted_lines : parse_lines;
    const auto bad = parse(text, key_, room.first(claim.bytes));
    if (!bad) return;
    const std::string_view line = text.substr(bad->begin, text.find('\n', bad->begin) - bad->begin);
    const std::uint64_t number = claim.begin + bad->line + 1;
    if (has_counts_) throw bad_counted_line(path(), number, line, key_);
    if (string_bytes(key_) > 0) throw bad_hex_line(path(), number, line, string_bytes(key_));
    throw bad_line(path(), number, line, key_.type);
  }

  [[nodiscard]] bool at_end() const override { return stream_ended_ && rest_.empty(); }
  [[nodiscard]] ConstByteSpan header() const override { return content_->header(); }
  [[nodiscard]] std::vector<std::byte> trailer() override { return content_->trailer(); }
  [[nodiscard]] std::optional<DecoderNeed> decoder_need() override {
    return content_->decoder_need();
  }
  void limit_decoder(const DecoderLimit& limit) override { content_->limit_decoder(limit); }

  [[nodiscard]] std::string note() const override {
    const std::string note = content_->note();
    return note.empty() ? fmt::format("{}: text, read in order", path()) : note + ", text";
  }

 private:
  // The part of the room that lines of the usual length take in addition to their keys; at least
  // half, so that long lines fit.
  [[nodiscard]] std::size_t choose_text_bytes(std::size_t room_bytes) const {
    const std::size_t usable = room_bytes - kTextSlack;
    const std::size_t share = usable / (line_bytes_ + element_bytes_) * line_bytes_;
    return std::clamp(share, usable / 2, usable - usable / 8);
  }

  // First the rest of the last piece, then more of the stream, without the byte order mark at its
  // beginning. A last line without a newline gets one.
  std::size_t read_text(char* text, std::size_t text_bytes) {
    std::size_t bytes = std::min(rest_.size(), text_bytes);
    std::copy_n(rest_.begin(), bytes, text);
    rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(bytes));
    if (bytes == text_bytes || stream_ended_) return bytes;
    const std::size_t wanted = text_bytes - bytes;
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    std::size_t more = content_->read(std::as_writable_bytes(std::span(text + bytes, wanted)));
    stream_ended_ = more < wanted;
    if (!std::exchange(has_begun_, true) && std::string_view(text, more).starts_with(kMark)) {
      more -= kMark.size();
      std::memmove(text, text + kMark.size(), more);
    }
    bytes += more;
    if (stream_ended_ && bytes > 0 && text[bytes - 1] != '\n') text[bytes++] = '\n';
    return bytes;
  }

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

}  // namespace

std::unique_ptr<Source> make_text_source(std::unique_ptr<Input> opened,
                                         std::unique_ptr<ContentStream> content) {
  return std::make_unique<TextSource>(std::move(opened), std::move(content));
}

}  // namespace gsort::io
