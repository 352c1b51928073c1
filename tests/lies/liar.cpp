#include "lies/liar.hpp"

#include <algorithm>
#include <cstring>

namespace gsort::test {
namespace {

constexpr std::array<std::string_view, kSeams> kNames = {
    "reader",        "array",          "alike",     "block",   "chunk lane",  "chunk piece",
    "slices",        "merged piece",   "arrays",    "run",     "split block", "stored",
    "repeats",       "counts",         "positions", "numbers", "members",     "tier",
    "run file read", "run file write", "writer",    "output",  "text",        "member"};

// More is not kept of an event.
constexpr std::size_t kMostBefore = std::size_t{1} << 16;

}  // namespace

std::string_view name_of(Seam seam) {
  return kNames.at(static_cast<std::size_t>(seam));
}

void Telling::garble(std::span<std::byte> bytes) {
  if (bytes.empty()) return;
  switch (below(12)) {
    case 0: {  // one bit
      bytes[below(bytes.size())] ^= std::byte{1} << below(8);
      return;
    }
    case 1: {  // everything behind some place shifted by a byte
      const std::size_t at = below(bytes.size());
      std::memmove(bytes.data() + at, bytes.data() + at + 1, bytes.size() - at - 1);
      return;
    }
    case 2: {  // cut short: zeros, or what lay there
      const std::size_t at = below(bytes.size());
      std::memset(bytes.data() + at, 0, bytes.size() - at);
      return;
    }
    case 3: {  // the buffer of the event before
      const std::size_t stale = std::min(bytes.size(), before_.size());
      const std::size_t begin = below(2) == 0 ? 0 : below(stale);
      std::copy_n(before_.begin() + static_cast<std::ptrdiff_t>(begin), stale - begin,
                  bytes.begin() + static_cast<std::ptrdiff_t>(begin));
      return;
    }
    default:
      garble_elements(bytes, below(8));
  }
}

void Telling::garble_elements(std::span<std::byte> bytes, std::uint64_t kind) {
  const std::size_t size = element_bytes_;
  const std::size_t count = bytes.size() / size;
  if (count < 2) return;
  const std::size_t one = below(count);
  const std::size_t other = below(count);
  std::byte* const at = bytes.data() + one * size;
  std::byte* const there = bytes.data() + other * size;
  const std::size_t behind = (count - one - 1) * size;
  switch (kind) {
    case 0:  // one is lost, and the last one doubled
      std::memmove(at, at + size, behind);
      return;
    case 1:  // one is doubled, and the last one lost
      std::memmove(at + std::min(size, behind), at, behind);
      return;
    case 2:
      std::swap_ranges(at, at + size, there);
      return;
    case 3: {  // a stretch moves by one place, and the one behind it comes to its front
      const std::size_t end = one + below(count - one);
      std::rotate(at, bytes.data() + end * size, bytes.data() + (end + 1) * size);
      return;
    }
    case 4: {  // a stretch in place of another
      const std::size_t most = std::min(count - one, count - other);
      std::memmove(at, there, (1 + below(most)) * size);
      return;
    }
    case 5: {  // two stretches exchanged
      const std::size_t low = std::min(one, other);
      const std::size_t high = std::max(one, other);
      const std::size_t length =
          1 + below(std::max<std::size_t>(std::min(high - low, count - high), 1));
      if (high - low < length) return;
      std::swap_ranges(bytes.data() + low * size, bytes.data() + (low + length) * size,
                       bytes.data() + high * size);
      return;
    }
    case 6: {  // two elements exchange a part of theirs
      const std::size_t part = size > 1 ? 1 + below(size - 1) : 1;
      std::swap_ranges(at, at + part, there);
      return;
    }
    default:  // one byte is one more, and another one less, as carries would have it
      at[below(size)] = static_cast<std::byte>(std::to_integer<unsigned>(*at) + 1);
      there[below(size)] = static_cast<std::byte>(std::to_integer<unsigned>(*there) - 1);
  }
}

void Liar::watch(std::size_t element_bytes) {
  const std::scoped_lock lock(mutex_);
  counts_ = {};
  lie_.reset();
  before_.clear();
  element_bytes_ = element_bytes;
  has_lied_ = false;
  watching_ = true;
}

void Liar::arm(const Lie& lie, std::size_t element_bytes) {
  watch(element_bytes);
  const std::scoped_lock lock(mutex_);
  lie_ = lie;
}

void Liar::disarm() {
  watching_ = false;
}

std::optional<Telling> Liar::event(Seam seam, std::span<const std::byte> bytes) {
  if (!watching_) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  const std::uint64_t number = counts_[static_cast<std::size_t>(seam)]++;
  if (!lie_ || lie_->seam != seam || number > lie_->event) return std::nullopt;
  if (number < lie_->event) {
    if (number + 1 == lie_->event || before_.empty()) {
      before_.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(
                                                        std::min(bytes.size(), kMostBefore)));
    }
    return std::nullopt;
  }
  has_lied_ = true;
  return Telling(lie_->seed, element_bytes_, before_);
}

std::uint64_t Liar::count(Seam seam) const {
  const std::scoped_lock lock(mutex_);
  return counts_[static_cast<std::size_t>(seam)];
}

Liar& the_liar() {
  static Liar liar;
  return liar;
}

}  // namespace gsort::test
