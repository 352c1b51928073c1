// StoredSlice: the keys that one run gives to a part, in the blocks of the run. They are unpacked
// from the front, some at a time, so that they are in the cache when they are merged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "element/packed_keys.hpp"
#include "element/stored_keys.hpp"

namespace gsort::cpu {

template <class Key>
class StoredSlice {
 public:
  // `pieces`, in order of position, and `buffer`, where their payloads are, must outlive it.
  StoredSlice(std::span<const StoredKeys> pieces, ConstByteSpan buffer)
      : pieces_(pieces), buffer_(buffer), at_(pieces.front().begin) {}

  [[nodiscard]] bool is_at_end() const { return pieces_.empty(); }

  // Unpacks the next keys to the front of `to`: as many as it has room for, but not a part of a
  // packed group that goes on. Returns their number.
  std::size_t take(std::span<Key> to) {
    std::size_t taken = 0;
    while (!pieces_.empty()) {
      const StoredKeys& piece = pieces_.front();
      std::size_t end = std::min<std::size_t>(piece.end, at_ + to.size() - taken);
      if (end < piece.end && piece.packed != 0) end = end / kPackGroupKeys * kPackGroupKeys;
      if (end <= at_) break;
      unpack(piece, end, to.data() + taken);
      taken += end - at_;
      at_ = end;
      if (end < piece.end) break;
      pieces_ = pieces_.subspan(1);
      if (!pieces_.empty()) at_ = pieces_.front().begin;
    }
    return taken;
  }

 private:
  void unpack(const StoredKeys& piece, std::size_t end, Key* to) const {
    const ConstByteSpan payload = buffer_.subspan(piece.payload);
    if (piece.packed != 0) return unpack_keys<Key>(payload, piece.count, at_, end, to);
    std::copy_n(reinterpret_cast<const Key*>(payload.data()) + at_, end - at_, to);
  }

  std::span<const StoredKeys> pieces_;  // that have keys left
  ConstByteSpan buffer_;
  std::size_t at_;  // the next key, in the block of the first one
};

// The slices that have keys. `pieces` are brought in order.
template <class Key>
[[nodiscard]] std::vector<StoredSlice<Key>> stored_slices(
    std::span<const std::uint64_t> slice_counts, std::vector<StoredKeys>& pieces,
    ConstByteSpan buffer) {
  std::ranges::sort(pieces, {}, &StoredKeys::position);
  std::vector<StoredSlice<Key>> slices;
  auto begin = pieces.begin();
  std::uint64_t keys_end = 0;
  for (const std::uint64_t count : slice_counts) {
    if (count == 0) continue;
    keys_end += count;
    const auto end =
        std::ranges::lower_bound(begin, pieces.end(), keys_end, {}, &StoredKeys::position);
    slices.emplace_back(std::span<const StoredKeys>(begin, end), buffer);
    begin = end;
  }
  return slices;
}

}  // namespace gsort::cpu
