#include "io/reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/input.hpp"
#include "io/sys.hpp"

namespace gsort::io {
namespace {

Error odd_tail(const Input& input, std::uint64_t size, std::uint64_t element_bytes) {
  const std::uint64_t tail = size % element_bytes;
  return Error(ErrorKind::kInput, "reading",
               fmt::format("ends with {} of the {} bytes of an element", tail, element_bytes))
      .path(input.path())
      .at(input.base_offset() + size - tail)
      .hint(fmt::format("{} bytes are no whole number of elements: is the type (-t) right, is the "
                        "file complete?",
                        size));
}

}  // namespace

class Reader::Impl {
 public:
  Impl(const std::vector<std::string>& paths, const ReaderOptions& options);

  [[nodiscard]] std::optional<std::uint64_t> known_size() const;
  [[nodiscard]] std::optional<InputBlock> next(ByteSpan buffer, std::uint64_t limit_position);
  [[nodiscard]] std::uint64_t position() const;
  [[nodiscard]] bool at_end() const;
  [[nodiscard]] std::size_t sample(ByteSpan out, std::uint64_t begin, std::uint64_t end);
  void check_unchanged() const;
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  // Bytes of a regular input that one block gets.
  struct Claim {
    Input* input = nullptr;
    std::uint64_t at = 0;
    std::size_t bytes = 0;
    std::size_t to = 0;  // in the block
  };

  std::size_t claim(ByteSpan buffer, std::size_t wanted, std::vector<Claim>& claims);
  std::size_t claim_regular(Input& input, std::size_t wanted, std::size_t filled,
                            std::vector<Claim>& claims);
  std::size_t read_stream(Input& input, ByteSpan to);
  void read_sequence(std::uint64_t position, ByteSpan to);

  const std::uint64_t element_bytes_;
  std::vector<std::unique_ptr<Input>> inputs_;

  mutable std::mutex mutex_;  // guards what follows, and the order of stream reads
  std::size_t current_ = 0;   // the input whose turn it is
  std::uint64_t taken_ = 0;   // bytes of the current input claimed or read
  std::uint64_t position_ = 0;
};

Reader::Impl::Impl(const std::vector<std::string>& paths, const ReaderOptions& options)
    : element_bytes_(options.element_bytes) {
  if (std::count(paths.begin(), paths.end(), "-") > 1) {
    throw Error(ErrorKind::kUsage, "opening standard input", "it is named twice");
  }
  // All inputs stay open, so that each can be seen not to change; the usual limit is 1,024.
  if (paths.size() > 1) sys::raise_open_file_limit();
  for (const std::string& path : paths) {
    inputs_.push_back(std::make_unique<Input>(path, options.direct_io));
  }
  if (paths.empty()) inputs_.push_back(std::make_unique<Input>("-", options.direct_io));
  std::uint64_t total = 0;
  for (const auto& input : inputs_) {
    if (input->is_stream()) continue;
    if (input->size() % element_bytes_ != 0) {
      throw odd_tail(*input, input->size(), element_bytes_);
    }
    total += input->size();  // both below 2^63: the sum cannot wrap before it is looked at
    if (total > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      throw Error(ErrorKind::kInput, "reading",
                  "the inputs together are larger than any file can be")
          .path(input->path());
    }
  }
}

std::optional<std::uint64_t> Reader::Impl::known_size() const {
  std::uint64_t size = 0;
  for (const auto& input : inputs_) {
    if (input->is_stream()) return std::nullopt;
    size += input->size();
  }
  return size;
}

std::optional<InputBlock> Reader::Impl::next(ByteSpan buffer, std::uint64_t limit_position) {
  std::vector<Claim> claims;
  InputBlock block;
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t before_limit = limit_position - std::min(limit_position, position_);
    const std::size_t wanted = std::min(round_down(buffer.size(), element_bytes_), before_limit);
    block.position_bytes = position_;
    block.bytes = claim(buffer, wanted, claims);
    position_ += block.bytes;
  }
  if (block.bytes == 0) return std::nullopt;
  // In this order: what a direct read puts behind its claim, the next claim overwrites.
  for (const Claim& claim : claims) {
    claim.input->read_at(buffer.subspan(claim.to), claim.bytes, claim.at);
  }
  return block;
}

// Claims ranges of regular inputs and reads streams until `wanted` bytes are together or there are
// no more.
std::size_t Reader::Impl::claim(ByteSpan buffer, std::size_t wanted, std::vector<Claim>& claims) {
  std::size_t filled = 0;
  while (filled < wanted && current_ < inputs_.size()) {
    Input& input = *inputs_[current_];
    if (input.is_stream()) {
      // Regular ranges claimed before would be read after this, and may run over into it.
      if (!claims.empty()) break;
      filled += read_stream(input, buffer.subspan(filled, wanted - filled));
      continue;
    }
    if (taken_ == input.size()) {
      ++current_;
      taken_ = 0;
      continue;
    }
    filled += claim_regular(input, wanted - filled, filled, claims);
    if (taken_ < input.size()) break;
  }
  return filled;
}

std::size_t Reader::Impl::claim_regular(Input& input, std::size_t wanted, std::size_t filled,
                                        std::vector<Claim>& claims) {
  std::size_t bytes = std::min<std::uint64_t>(wanted, input.size() - taken_);
  const std::uint64_t end = input.base_offset() + taken_ + bytes;
  const std::uint64_t excess = end % kDirectAlignment;
  // Cut short so that the next block starts where direct reads can.
  const bool cut = input.is_direct() && taken_ + bytes < input.size() && excess < bytes &&
                   excess % element_bytes_ == 0;
  if (cut) bytes -= excess;
  claims.push_back({&input, taken_, bytes, filled});
  taken_ += bytes;
  return bytes;
}

std::size_t Reader::Impl::read_stream(Input& input, ByteSpan to) {
  const std::size_t bytes = input.read_next(to);
  taken_ += bytes;
  if (bytes < to.size()) {
    if (taken_ % element_bytes_ != 0) throw odd_tail(input, taken_, element_bytes_);
    ++current_;
    taken_ = 0;
  }
  return bytes;
}

std::uint64_t Reader::Impl::position() const {
  const std::lock_guard lock(mutex_);
  return position_;
}

bool Reader::Impl::at_end() const {
  const std::lock_guard lock(mutex_);
  std::size_t next = current_;
  std::uint64_t taken = taken_;
  while (next < inputs_.size() && !inputs_[next]->is_stream() && taken == inputs_[next]->size()) {
    ++next;
    taken = 0;
  }
  return next == inputs_.size();
}

std::size_t Reader::Impl::sample(ByteSpan out, std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t kMostPlaces = 256;
  const std::uint64_t page = std::max(round_down(kDirectAlignment, element_bytes_), element_bytes_);
  const std::uint64_t available = end - begin;
  const std::uint64_t wanted =
      round_down(std::min<std::uint64_t>(out.size(), available), element_bytes_);
  if (!known_size() || wanted == 0) return 0;
  const std::uint64_t places = std::clamp<std::uint64_t>(wanted / page, 1, kMostPlaces);
  const std::uint64_t each = round_down(wanted / places, element_bytes_);
  // The first place starts at `begin`, the last ends at `end`; elements / places first: no
  // overflow.
  const std::uint64_t room = (available - each) / element_bytes_;
  std::size_t filled = 0;
  for (std::uint64_t i = 0; i < places; ++i) {
    const std::uint64_t gaps = std::max<std::uint64_t>(places - 1, 1);
    const std::uint64_t step = room / gaps * i + room % gaps * i / gaps;
    read_sequence(begin + step * element_bytes_, out.subspan(filled, each));
    filled += each;
  }
  return filled;
}

// Reads bytes of regular inputs without taking them from the sequence.
void Reader::Impl::read_sequence(std::uint64_t position, ByteSpan to) {
  for (const auto& input : inputs_) {
    if (to.empty()) return;
    if (position >= input->size()) {
      position -= input->size();
      continue;
    }
    const std::size_t here = std::min<std::uint64_t>(to.size(), input->size() - position);
    // Through aligned pages, which direct reads need; each place is about a page.
    alignas(kDirectAlignment) std::array<std::byte, 2 * kDirectAlignment> pages;
    std::size_t done = 0;
    while (done < here) {
      const std::uint64_t at = position + done;
      const std::uint64_t lead =
          std::min<std::uint64_t>((input->base_offset() + at) % kDirectAlignment, at);
      const std::size_t bytes = std::min<std::uint64_t>(here - done, pages.size() - lead);
      input->read_at(pages, lead + bytes, at - lead);
      std::memcpy(to.data() + done, pages.data() + lead, bytes);
      done += bytes;
    }
    to = to.subspan(here);
    position = 0;
  }
}

void Reader::Impl::check_unchanged() const {
  for (const auto& input : inputs_) input->check_unchanged();
}

std::vector<std::string> Reader::Impl::notes() const {
  std::vector<std::string> notes;
  for (const auto& input : inputs_) {
    std::string note = input->note();
    if (!note.empty()) notes.push_back(std::move(note));
  }
  return notes;
}

Reader::Reader(const std::vector<std::string>& paths, const ReaderOptions& options)
    : impl_(std::make_unique<Impl>(paths, options)) {}
Reader::~Reader() = default;
std::optional<std::uint64_t> Reader::known_size() const {
  return impl_->known_size();
}
std::optional<InputBlock> Reader::next(ByteSpan buffer, std::uint64_t limit_position) {
  return impl_->next(buffer, limit_position);
}
std::uint64_t Reader::position() const {
  return impl_->position();
}
bool Reader::at_end() const {
  return impl_->at_end();
}
std::size_t Reader::sample(ByteSpan out, std::uint64_t begin, std::uint64_t end) const {
  return impl_->sample(out, begin, end);
}
void Reader::check_unchanged() const {
  impl_->check_unchanged();
}
std::vector<std::string> Reader::notes() const {
  return impl_->notes();
}

}  // namespace gsort::io
