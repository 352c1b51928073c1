#include "pipeline/output/staging_sink.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {
namespace {

// So small that a piece is still in the processor's cache when it is written.
constexpr std::uint64_t kPieceBytes = 4 * kMiB;

// So small that copied elements are still in the core's own cache when they are proven.
constexpr std::uint64_t kProvenBytes = 512 * kKiB;

Error not_whole(std::uint64_t position) {
  return Error(ErrorKind::kCorrupt, fmt::format("merging element {} of the output", position),
               "the engine returned other elements than it was given")
      .hint(kDamageHint);
}

}  // namespace

StagingSink::StagingSink(ByteSpan buffer, std::uint64_t element_bytes, unsigned threads,
                         PieceSink& next)
    : buffer_(buffer),
      element_bytes_(element_bytes),
      threads_(threads),
      next_(next),
      proof_(next.proof_sink()) {}

void StagingSink::begin(std::uint64_t position, std::uint64_t elements) {
  begin_ = position;
  part_ = buffer_.first(elements * element_bytes_);
  filled_ = 0;
}

void StagingSink::put(std::uint64_t position, ConstByteSpan keys) {
  const std::uint64_t elements = part_.size() / element_bytes_;
  const std::uint64_t at = position - begin_;  // beyond all elements for a position before the part
  const bool fits = at <= elements && keys.size() <= (elements - at) * element_bytes_;
  if (!fits || keys.size() % element_bytes_ != 0) throw not_whole(position);
  take_in(part_.subspan(at * element_bytes_, keys.size()), keys);
}

void StagingSink::take_in(ByteSpan place, ConstByteSpan keys) {
  const std::size_t all = keys.size();
  const std::uint64_t most = round_down(std::max(kProvenBytes, element_bytes_), element_bytes_);
  while (!keys.empty()) {
    const std::size_t bytes = std::min<std::size_t>(keys.size(), most);
    std::memcpy(place.data(), keys.data(), bytes);
    if (proof_ != nullptr) {
      const auto at = static_cast<std::uint64_t>(place.data() - part_.data());
      proof_->prove(begin_ + at / element_bytes_, place.first(bytes));
    }
    place = place.subspan(bytes);
    keys = keys.subspan(bytes);
  }
  filled_ += all;
}

void StagingSink::put_piece(std::uint64_t number, std::uint64_t bytes) {
  const std::uint64_t at = number * bytes;
  const std::uint64_t position = begin_ + at / element_bytes_;
  const ConstByteSpan piece = part_.subspan(at, std::min(bytes, part_.size() - at));
  proof_ != nullptr ? proof_->put_proven(position, piece) : next_.put(position, piece);
}

// After the first piece, the part has its turn. Threads start only then: threads that wait for a
// turn would be missing for the part for which all wait.
void StagingSink::flush() {
  if (filled_ != part_.size()) throw not_whole(begin_);
  const std::uint64_t bytes =
      threads_ == 1 ? part_.size()
                    : round_down(std::max(kPieceBytes, element_bytes_), element_bytes_);
  const std::uint64_t pieces = div_up(part_.size(), bytes);
  put_piece(0, bytes);
  const std::uint64_t rest = pieces - 1;
  for_each_number(
      static_cast<unsigned>(std::min<std::uint64_t>(rest, threads_)), rest,
      [&](unsigned, std::uint64_t number) { put_piece(number + 1, bytes); },
      [&] { next_.abandon(); });
}

}  // namespace gsort
