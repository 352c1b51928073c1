#include "pipeline/proof.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/key_loops.hpp"
#include "base/units.hpp"

namespace gsort {
namespace {

Error out_of_order(std::uint64_t position) {
  return Error(ErrorKind::kCorrupt, fmt::format("checking element {} of the output", position),
               "it is out of order")
      .hint(
          "memory, disk or device damaged data on the way; nothing was kept, the input is intact");
}

}  // namespace

Proof::Proof(const ElementFormat& format, bool enabled, Meter* meter)
    : format_(format.key),
      records_(format.records),
      key_bytes_(format.bytes()),
      enabled_(enabled),
      meter_(meter) {}

Fingerprint Proof::fingerprint_of_elements(ConstByteSpan elements) const {
  return records_ ? fingerprint_of_records(elements, key_bytes_)
                  : fingerprint_of(elements, key_bytes_);
}

// The index in front of the first element that is out of order; the count if there is none.
std::size_t Proof::first_disorder_in(ConstByteSpan elements) const {
  if (records_) return records_->first_disorder(elements);
  return with_key_of_width(key_bytes_, [&](auto width) {
    using Key = decltype(width);
    const std::span<const Key> keys(reinterpret_cast<const Key*>(elements.data()),
                                    elements.size() / sizeof(Key));
    return first_disorder<Key>(keys, KeyMap<Key>::of(format_));
  });
}

// Joins a piece with its neighbours; returns the position of a disorder at its borders.
std::uint64_t Proof::note_borders(std::uint64_t position, ConstByteSpan elements) {
  const std::uint64_t end = position + elements.size() / key_bytes_;
  const std::byte* const last = elements.data() + elements.size() - key_bytes_;
  if (records_) {
    return record_ledger_.add(position, end, records_->normalised_key(elements.data()),
                              records_->normalised_key(last));
  }
  return with_key_of_width(key_bytes_, [&](auto width) {
    using Key = decltype(width);
    const auto map = KeyMap<Key>::of(format_);
    return ledger_.add(position, end,
                       map.to_ordered(*reinterpret_cast<const Key*>(elements.data())),
                       map.to_ordered(*reinterpret_cast<const Key*>(last)));
  });
}

void Proof::add_input(ConstByteSpan raw_keys) {
  Span span(meter_, Stage::kProve);
  span.add_bytes(raw_keys.size());
  const Fingerprint seen = enabled_ ? fingerprint_of_elements(raw_keys)
                                    : Fingerprint{raw_keys.size() / key_bytes_, 0, 0};
  const std::scoped_lock lock(mutex_);
  input_ += seen;
}

void Proof::add_output(std::uint64_t position, ConstByteSpan raw_keys) {
  Span span(meter_, Stage::kProve);
  span.add_bytes(raw_keys.size());
  const std::uint64_t count = raw_keys.size() / key_bytes_;
  if (count == 0) return;
  if (!enabled_) {
    const std::scoped_lock lock(mutex_);
    output_.count += count;
    return;
  }
  const Fingerprint seen = fingerprint_of_elements(raw_keys);
  const std::size_t disorder = first_disorder_in(raw_keys);
  if (disorder != count) throw out_of_order(position + disorder + 1);
  const std::scoped_lock lock(mutex_);
  output_ += seen;
  const std::uint64_t wrong = note_borders(position, raw_keys);
  if (wrong != OrderLedger<std::uint64_t>::kInOrder) throw out_of_order(wrong);
}

void Proof::finish() const {
  const std::scoped_lock lock(mutex_);
  if (input_ == output_) return;
  const std::string reason =
      input_.count != output_.count
          ? fmt::format("{} elements were read, but {} came out", format_count(input_.count),
                        format_count(output_.count))
          : fmt::format("the fingerprint of what was read ({}) is not that of the result ({})",
                        to_string(input_), to_string(output_));
  throw Error(ErrorKind::kCorrupt, "verifying the output", reason)
      .hint(
          "memory, disk or device damaged data on the way; nothing was kept, the input is intact");
}

Fingerprint Proof::input() const {
  const std::scoped_lock lock(mutex_);
  return input_;
}

}  // namespace gsort
