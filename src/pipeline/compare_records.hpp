// RecordCompare: as KeyCompare (compare_keys.hpp), for records. If records of the first input have
// equal keys, the first of them stays, as with -u.
#pragma once

#include <cstddef>
#include <string>

#include "element/fingerprint.hpp"
#include "element/member_keys.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort {

// Thread-safe.
class RecordCompare {
 public:
  using Sum = Fingerprint;

  explicit RecordCompare(const ElementFormat& format)
      : order_(format), bytes_(order_.element_bytes()) {}

  void make_alike(ByteSpan, Proof&) const {}
  [[nodiscard]] bool has_ordered_form() const { return false; }
  void to_ordered(ByteSpan) const {}
  void to_raw(ByteSpan) const {}

  [[nodiscard]] std::size_t count_distinct(const std::string& before, ByteSpan piece) const;
  std::size_t split_repeats(const std::string& before, ByteSpan piece, std::byte* dropped) const;
  [[nodiscard]] ByteSpan range_of(ByteSpan slice, ByteSpan piece) const;
  std::size_t split_members(ByteSpan piece, ByteSpan others, Stay stay, std::byte* dropped) const;
  [[nodiscard]] Sum sum_members(ByteSpan piece, ByteSpan others) const;
  [[nodiscard]] Sum sum(ByteSpan elements) const { return order_.fingerprint(elements); }

 private:
  template <class Stays>
  std::size_t split(ByteSpan piece, std::byte* dropped, Stays&& stays) const;
  // The offset of the first record that does not come before `key`; after: that comes after it.
  [[nodiscard]] std::size_t place_of(const std::byte* key, ByteSpan records, bool after) const;

  const ElementOrder order_;
  const std::size_t bytes_;
};

}  // namespace gsort
