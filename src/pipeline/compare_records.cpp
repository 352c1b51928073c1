#include "pipeline/compare_records.hpp"

#include <algorithm>
#include <cstring>

namespace gsort {
namespace {

const std::byte* record_before(const std::string& before) {
  return before.empty() ? nullptr : reinterpret_cast<const std::byte*>(before.data());
}

}  // namespace

std::size_t RecordCompare::count_distinct(const std::string& before, ByteSpan piece) const {
  std::size_t distinct = 0;
  const std::byte* last = record_before(before);
  for (std::size_t at = 0; at < piece.size(); at += bytes_) {
    const std::byte* const record = piece.data() + at;
    if (last == nullptr || order_.compare(last, record) != 0) ++distinct;
    last = record;
  }
  return distinct;
}

// A kept record moves only to earlier places: the record before the next one is still in place.
template <class Stays>
std::size_t RecordCompare::split(ByteSpan piece, std::byte* dropped, Stays&& stays) const {
  std::byte* kept = piece.data();
  for (std::size_t at = 0; at < piece.size(); at += bytes_) {
    const std::byte* const record = piece.data() + at;
    std::byte*& to = stays(record) ? kept : dropped;
    if (to != record) std::memcpy(to, record, bytes_);
    to += bytes_;
  }
  return static_cast<std::size_t>(kept - piece.data()) / bytes_;
}

std::size_t RecordCompare::split_repeats(const std::string& before, ByteSpan piece,
                                         std::byte* dropped) const {
  const std::byte* last = record_before(before);
  return split(piece, dropped, [&](const std::byte* record) {
    const bool stays = last == nullptr || order_.compare(last, record) < 0;
    last = record;
    return stays;
  });
}

std::size_t RecordCompare::place_of(const std::byte* key, ByteSpan records, bool after) const {
  std::size_t low = 0;
  std::size_t high = records.size() / bytes_;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (order_.compare(records.data() + middle * bytes_, key) < (after ? 1 : 0)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low * bytes_;
}

ByteSpan RecordCompare::range_of(ByteSpan slice, ByteSpan piece) const {
  const std::size_t begin = place_of(piece.data(), slice, false);
  const std::size_t end = place_of(piece.data() + piece.size() - bytes_, slice, true);
  return slice.subspan(begin, end - begin);
}

// Skips others in steps of 1, 2, 4, ..., and then by bisection (member_keys.hpp).
std::size_t RecordCompare::split_members(ByteSpan piece, ByteSpan others, Stay stay,
                                         std::byte* dropped) const {
  return split(piece, dropped, [&](const std::byte* record) {
    std::size_t end = 0;
    for (std::size_t step = bytes_; end < others.size(); step *= 2) {
      if (order_.compare(others.data() + end, record) >= 0) break;
      others = others.subspan(end + bytes_);
      end = std::min(step - bytes_, others.size());
    }
    others = others.subspan(place_of(record, others.first(end), false));
    const bool is_member = !others.empty() && order_.compare(others.data(), record) == 0;
    return is_member == (stay == Stay::kMembers);
  });
}

RecordCompare::Sum RecordCompare::sum_members(ByteSpan piece, ByteSpan others) const {
  Sum sum;
  std::size_t at = 0;
  std::size_t other = 0;
  while (at < piece.size() && other < others.size()) {
    const int order = order_.compare(piece.data() + at, others.data() + other);
    if (order == 0) sum += order_.fingerprint(piece.subspan(at, bytes_));
    if (order <= 0) at += bytes_;
    if (order >= 0) other += bytes_;
  }
  return sum;
}

}  // namespace gsort
