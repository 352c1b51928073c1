#include "pipeline/proof.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/key_loops.hpp"
#include "base/repeated_keys.hpp"
#include "base/units.hpp"

namespace gsort {
namespace {

// What one piece shows: its borders as ordered numbers, and the first disorder inside.
struct PieceLook {
  std::uint64_t first;
  std::uint64_t last;
  std::size_t disorder;  // the count of keys if there is none
};

PieceLook look_at(ConstByteSpan raw_keys, const KeyFormat& format, OrderKind order) {
  return with_key_of_width(bytes_of(format.type), [&](auto width) {
    using Key = decltype(width);
    const std::span<const Key> keys(reinterpret_cast<const Key*>(raw_keys.data()),
                                    raw_keys.size() / sizeof(Key));
    const auto map = KeyMap<Key>::of(format);
    std::size_t disorder = first_disorder<Key>(keys, map);
    if (order == OrderKind::kStrict) disorder = std::min(disorder, first_repeat(keys));
    return PieceLook{std::uint64_t{map.to_ordered(keys.front())},
                     std::uint64_t{map.to_ordered(keys.back())}, disorder};
  });
}

Error out_of_order(std::uint64_t position) {
  return Error(ErrorKind::kCorrupt, fmt::format("checking element {} of the output", position),
               "it is out of order")
      .hint(
          "memory, disk or device damaged data on the way; nothing was kept, the input is intact");
}

}  // namespace

std::uint64_t OrderLedger::compare(std::uint64_t position, std::uint64_t before,
                                   std::uint64_t value) {
  if (value == before) ++equal_borders_;
  const bool repeats = value == before && kind_ == OrderKind::kStrict;
  if (value >= before && !repeats) return kInOrder;
  if (!disorder_ || position < disorder_->position) disorder_ = {position, before, value};
  return position;
}

std::uint64_t OrderLedger::add(std::uint64_t begin, std::uint64_t end, std::uint64_t first,
                               std::uint64_t last) {
  Stretch joined{end, first, last};
  std::uint64_t joined_begin = begin;
  std::uint64_t wrong = kInOrder;
  const auto after = stretches_.find(end);
  if (after != stretches_.end()) {
    wrong = compare(end, last, after->second.first);
    joined.end = after->second.end;
    joined.last = after->second.last;
    stretches_.erase(after);
  }
  auto before = stretches_.lower_bound(begin);
  if (before != stretches_.begin() && (--before)->second.end == begin) {
    wrong = std::min(wrong, compare(begin, before->second.last, first));
    joined_begin = before->first;
    joined.first = before->second.first;
    stretches_.erase(before);
  }
  stretches_.emplace(joined_begin, joined);
  return wrong;
}

Proof::Proof(const KeyFormat& format, bool enabled, Meter* meter, OrderKind order)
    : format_(format),
      key_bytes_(bytes_of(format.type)),
      enabled_(enabled),
      meter_(meter),
      order_(order),
      ledger_(order) {}

Fingerprint Proof::look(ConstByteSpan raw_keys) const {
  return enabled_ ? fingerprint_of(raw_keys, key_bytes_)
                  : Fingerprint{raw_keys.size() / key_bytes_, 0, 0};
}

Fingerprint Proof::add_input(ConstByteSpan raw_keys) {
  Span span(meter_, Stage::kProve);
  span.add_bytes(raw_keys.size());
  const Fingerprint seen = look(raw_keys);
  const std::scoped_lock lock(mutex_);
  input_ += seen;
  return seen;
}

void Proof::add_dropped(ConstByteSpan raw_keys) {
  if (raw_keys.empty()) return;
  Span span(meter_, Stage::kProve);
  span.add_bytes(raw_keys.size());
  const Fingerprint seen = look(raw_keys);
  const std::scoped_lock lock(mutex_);
  dropped_ += seen;
}

void Proof::add_left_out(const Fingerprint& keys, std::uint64_t least) {
  if (keys.count == 0) return;
  const std::scoped_lock lock(mutex_);
  dropped_ += keys;
  least_left_out_ = std::min(least_left_out_, least);
}

void Proof::add_output(std::uint64_t position, ConstByteSpan raw_keys) {
  add_ordered(output_, position, raw_keys);
}

void Proof::add_beyond(std::uint64_t position, ConstByteSpan raw_keys) {
  add_ordered(dropped_, position, raw_keys);
}

void Proof::add_ordered(Fingerprint& side, std::uint64_t position, ConstByteSpan raw_keys) {
  const std::uint64_t count = raw_keys.size() / key_bytes_;
  if (count == 0) return;
  Span span(meter_, Stage::kProve);
  span.add_bytes(raw_keys.size());
  const Fingerprint seen = look(raw_keys);
  if (!enabled_) {
    const std::scoped_lock lock(mutex_);
    side += seen;
    return;
  }
  const PieceLook piece = look_at(raw_keys, format_, order_);
  if (piece.disorder != count) throw out_of_order(position + piece.disorder + 1);
  const std::scoped_lock lock(mutex_);
  side += seen;
  const std::uint64_t wrong = ledger_.add(position, position + count, piece.first, piece.last);
  if (wrong != OrderLedger::kInOrder) throw out_of_order(wrong);
}

void Proof::add_arrays(std::uint64_t position, ConstByteSpan raw_keys,
                       std::uint64_t array_elements) {
  Span span(meter_, Stage::kProve);
  span.add_bytes(raw_keys.size());
  const Fingerprint seen = look(raw_keys);
  for (ConstByteSpan rest = raw_keys; enabled_ && !rest.empty();) {
    const std::uint64_t elements = std::min(rest.size() / key_bytes_, array_elements);
    const std::size_t disorder =
        look_at(rest.first(elements * key_bytes_), format_, order_).disorder;
    if (disorder != elements) throw out_of_order(position + disorder + 1);
    position += elements;
    rest = rest.subspan(elements * key_bytes_);
  }
  const std::scoped_lock lock(mutex_);
  output_ += seen;
}

void Proof::add_all_of(const Proof& finished) {
  input_ += finished.input_;
  output_ += finished.output_;
}

void Proof::finish() const {
  const std::scoped_lock lock(mutex_);
  if (enabled_ && ledger_.last_key().value_or(0) > least_left_out_) {
    throw out_of_order(output_.count);
  }
  Fingerprint result = output_;
  result += dropped_;
  if (input_ == result) return;
  const std::string reason =
      input_.count != result.count
          ? fmt::format("{} elements were read, but {} came out", format_count(input_.count),
                        format_count(result.count))
          : fmt::format("the fingerprint of what was read ({}) is not that of the result ({})",
                        to_string(input_), to_string(result));
  throw Error(ErrorKind::kCorrupt, "verifying the output", reason)
      .hint(
          "memory, disk or device damaged data on the way; nothing was kept, the input is intact");
}

Fingerprint Proof::input() const {
  const std::scoped_lock lock(mutex_);
  return input_;
}

Fingerprint Proof::output() const {
  const std::scoped_lock lock(mutex_);
  return output_;
}

}  // namespace gsort
