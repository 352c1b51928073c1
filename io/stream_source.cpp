#include "io/stream_source.hpp"

#include <algorithm>
#include <utility>

#include "io/npy.hpp"

namespace gsort::io {

StreamSource::StreamSource(std::unique_ptr<Input> opened, std::unique_ptr<ContentStream> content)
    : Source(std::move(opened)), content_(std::move(content)) {}

StreamSource::StreamSource(std::unique_ptr<Input> opened, std::unique_ptr<ContentStream> content,
                           std::uint64_t promised_bytes)
    : Source(std::move(opened)), content_(std::move(content)), promised_bytes_(promised_bytes) {}

Claim StreamSource::claim(ByteSpan room, std::size_t wanted_bytes) {
  const std::size_t wanted =
      std::min<std::uint64_t>(wanted_bytes, promised_bytes_.value_or(UINT64_MAX) - taken_);
  const std::size_t bytes = content_->read(room.first(wanted));
  const Claim claim{std::exchange(taken_, taken_ + bytes), bytes};
  ended_ = bytes < wanted || taken_ == promised_bytes_;
  if (ended_) check_end();
  return claim;
}

void StreamSource::check_end() {
  if (!promised_bytes_) {
    if (taken_ % element_bytes_ != 0) {
      throw odd_tail(path(), content_->header().size(), taken_, element_bytes_);
    }
    return;
  }
  std::byte more{};
  const std::size_t behind = taken_ < *promised_bytes_ ? 0 : content_->read(ByteSpan(&more, 1));
  if (taken_ + behind != *promised_bytes_) {
    throw wrong_array_size(path(), *promised_bytes_, taken_ + behind);
  }
}

std::string StreamSource::note() const {
  std::string note = content_->note();
  return note.empty() ? Source::note() : note;
}

}  // namespace gsort::io
