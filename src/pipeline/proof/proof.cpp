#include "pipeline/proof/proof.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "element/key.hpp"
#include "form/equal_floats.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {
namespace {

Error bad_element(std::uint64_t position, const char* reason) {
  return Error(ErrorKind::kCorrupt, fmt::format("checking element {} of the output", position),
               reason)
      .hint(kDamageHint);
}

Error out_of_order(std::uint64_t position) {
  return bad_element(position, "it is out of order");
}

// So few that they are still in the core's own cache when their order is checked.
constexpr std::uint64_t kStretchBytes = 128 * kKiB;

// Choosing the instructions for many keys takes longer than this few keys.
constexpr std::uint64_t kMostShortArray = 16;

template <class Key>
ArraysFingerprint look_at_keys(std::span<const Key> keys, std::uint64_t array_elements) {
  ArraysFingerprint seen;
  for (std::uint64_t number = 0; !keys.empty(); ++number) {
    const auto array = keys.first(std::min<std::uint64_t>(keys.size(), array_elements));
    Fingerprint sums;
    for (const Key key : array) sums += fingerprint::of_key(key);
    add_array(number, sums, seen);
    keys = keys.subspan(array.size());
  }
  return seen;
}

ArraysFingerprint look_at_short_arrays(ConstByteSpan raw_keys, std::size_t key_bytes,
                                       std::uint64_t array_elements) {
  return with_key_of_width(key_bytes, [&](auto width) {
    using Key = decltype(width);
    const auto* const keys = reinterpret_cast<const Key*>(raw_keys.data());
    return look_at_keys<Key>({keys, raw_keys.size() / sizeof(Key)}, array_elements);
  });
}

}  // namespace

Proof::Proof(const ElementFormat& format, bool enabled, Meter* meter, OrderKind order,
             std::optional<std::uint64_t> top)
    : order_(format),
      floats_(floats_in_numeric_order(format)),
      element_bytes_(format.bytes()),
      enabled_(enabled),
      meter_(meter),
      kind_(order),
      top_(top),
      ledger_(enabled ? order : OrderKind::kAscending) {}

Fingerprint Proof::look(ConstByteSpan raw_keys) const {
  if (!enabled_) return {raw_keys.size() / element_bytes_};
  return order_.fingerprint(raw_keys);
}

std::size_t Proof::first_disorder_in(ConstByteSpan elements) const {
  return order_.first_disorder(elements, kind_ == OrderKind::kStrict);
}

// Throws if elements are out of order. A stretch is compared with the element after it.
Fingerprint Proof::look_in_order(std::uint64_t position, ConstByteSpan elements) const {
  if (!enabled_) return look(elements);
  const std::size_t most =
      round_down(std::max<std::size_t>(kStretchBytes, element_bytes_), element_bytes_);
  Fingerprint seen;
  for (std::size_t begin = 0; begin < elements.size(); begin += most) {
    const ConstByteSpan rest = elements.subspan(begin);
    seen += look(rest.first(std::min(most, rest.size())));
    const ConstByteSpan joined = rest.first(std::min(most + element_bytes_, rest.size()));
    const std::size_t disorder = first_disorder_in(joined);
    if (disorder != joined.size() / element_bytes_) {
      throw out_of_order(position + begin / element_bytes_ + disorder + 1);
    }
  }
  return seen;
}

// Joins a piece with its neighbours; returns the position of a disorder at its borders. Keys that
// are not needed are empty.
std::uint64_t Proof::note_borders(std::uint64_t position, ConstByteSpan elements) {
  const std::uint64_t end = position + elements.size() / element_bytes_;
  if (!enabled_) return ledger_.add(position, end, {}, {});
  const std::byte* const last = elements.data() + elements.size() - element_bytes_;
  return ledger_.add(position, end, order_.normalised_key(elements.data()),
                     order_.normalised_key(last));
}

Fingerprint Proof::add_input(ConstByteSpan raw_keys) {
  Span span(meter_, Stage::kProve);
  span.add_bytes(raw_keys.size());
  const Fingerprint seen = look(raw_keys);
  const std::scoped_lock lock(mutex_);
  input_ += seen;
  return seen;
}

void Proof::add_counted_input(const CountedKeys& keys) {
  const Fingerprint seen = look_at_counted(keys, 0);
  const std::scoped_lock lock(mutex_);
  input_ += seen;
}

void Proof::add_input_of_before(const Fingerprint& keys) {
  const std::scoped_lock lock(mutex_);
  input_ += keys;
}

void Proof::add_dropped(ConstByteSpan raw_keys) {
  Span span(meter_, Stage::kProve);
  span.add_bytes(raw_keys.size());
  const Fingerprint seen = look(raw_keys);
  const std::scoped_lock lock(mutex_);
  repeats_ += seen;
}

Fingerprint Proof::make_alike(ByteSpan elements) {
  Span span(meter_, Stage::kProve);
  span.add_bytes(elements.size());
  Fingerprint difference = look(elements);
  make_alike_and_check(elements, element_bytes_, floats_);
  difference -= look(elements);
  add_difference(difference);
  return difference;
}

void Proof::add_difference(const Fingerprint& difference) {
  const std::scoped_lock lock(mutex_);
  repeats_ += difference;
}

void Proof::add_counted_output(std::uint64_t position, const CountedKeys& keys,
                               std::uint64_t min_count) {
  for (std::size_t i = 0; i < keys.counts.size(); ++i) {
    if (keys.counts[i] < min_count) throw bad_element(position + i, "its count is too small");
  }
  add_output(position, keys.keys);
  add_repeats(keys, 1);
}

void Proof::add_counted_dropped(const CountedKeys& keys, std::uint64_t min_count) {
  if (!std::ranges::all_of(keys.counts, [&](std::uint64_t count) { return count < min_count; })) {
    throw bad_element(0, "a key that occurs often enough was left out");
  }
  add_repeats(keys, 0);
}

// The fingerprint of the elements that the keys stand for, minus `but` of each.
Fingerprint Proof::look_at_counted(const CountedKeys& keys, std::uint64_t but) const {
  const Span span(meter_, Stage::kProve);
  return enabled_ ? fingerprint_of_counted(keys, but) : Fingerprint{sum_of_counts(keys, but)};
}

void Proof::add_repeats(const CountedKeys& keys, std::uint64_t but) {
  const Fingerprint seen = look_at_counted(keys, but);
  const std::scoped_lock lock(mutex_);
  repeats_ += seen;
}

void Proof::add_left_out(const Fingerprint& keys, UInt128 least) {
  if (keys.count == 0) return;
  const std::scoped_lock lock(mutex_);
  left_out_ += keys;
  if (enabled_) note_left_out(order_.normalised_key(least));
}

void Proof::add_left_out(const Fingerprint& elements, const std::byte* least) {
  if (elements.count == 0) return;
  const std::scoped_lock lock(mutex_);
  left_out_ += elements;
  if (enabled_) note_left_out(order_.normalised_key(least));
}

void Proof::add_left_out(ConstByteSpan raw_keys) {
  if (raw_keys.empty()) return;
  Span span(meter_, Stage::kProve);
  span.add_bytes(raw_keys.size());
  const Fingerprint seen = look(raw_keys);
  if (enabled_ && order_.first_disorder(raw_keys) != seen.count) {
    throw Error(ErrorKind::kCorrupt, "checking what is left out", "it is out of order")
        .hint(kDamageHint);
  }
  const std::scoped_lock lock(mutex_);
  left_out_ += seen;
  if (enabled_) note_left_out(order_.normalised_key(raw_keys.data()));
}

void Proof::add_output(std::uint64_t position, ConstByteSpan raw_keys) {
  add_ordered(output_, position, raw_keys);
}

void Proof::add_beyond(std::uint64_t position, ConstByteSpan raw_keys) {
  add_ordered(left_out_, position, raw_keys);
}

void Proof::add_ordered(Fingerprint& side, std::uint64_t position, ConstByteSpan raw_keys) {
  const std::uint64_t count = raw_keys.size() / element_bytes_;
  if (count == 0) return;
  Span span(meter_, Stage::kProve);
  span.add_bytes(raw_keys.size());
  const Fingerprint seen = look_in_order(position, raw_keys);
  const std::scoped_lock lock(mutex_);
  place(position, count);
  side += seen;
  const std::uint64_t wrong = note_borders(position, raw_keys);
  if (wrong != ledger_.kInOrder) throw out_of_order(wrong);
}

ArraysFingerprint Proof::look_at_arrays(ConstByteSpan raw_keys,
                                        std::uint64_t array_elements) const {
  if (!enabled_) return {look(raw_keys)};
  if (!order_.records() && array_elements <= kMostShortArray) {
    return look_at_short_arrays(raw_keys, element_bytes_, array_elements);
  }
  ArraysFingerprint seen;
  for (std::uint64_t number = 0; !raw_keys.empty(); ++number) {
    const std::uint64_t elements = std::min(raw_keys.size() / element_bytes_, array_elements);
    add_array(number, look(raw_keys.first(elements * element_bytes_)), seen);
    raw_keys = raw_keys.subspan(elements * element_bytes_);
  }
  return seen;
}

ArraysFingerprint Proof::add_input_arrays(ConstByteSpan raw_keys, std::uint64_t array_elements) {
  Span span(meter_, Stage::kProve);
  span.add_bytes(raw_keys.size());
  const ArraysFingerprint seen = look_at_arrays(raw_keys, array_elements);
  const std::scoped_lock lock(mutex_);
  input_ += seen.all;
  return seen;
}

void Proof::add_output_arrays(std::uint64_t position, ConstByteSpan raw_keys,
                              std::uint64_t array_elements, const ArraysFingerprint& read) {
  Span span(meter_, Stage::kProve);
  span.add_bytes(raw_keys.size());
  const ArraysFingerprint seen = look_at_arrays(raw_keys, array_elements);
  if (!(seen == read)) {
    throw bad_element(position, "an array from here on differs from what was read");
  }
  const bool looks = enabled_ && array_elements > 1;  // one element is in order
  std::uint64_t begin = position;
  for (ConstByteSpan rest = raw_keys; looks && !rest.empty();) {
    const std::uint64_t elements = std::min(rest.size() / element_bytes_, array_elements);
    const std::size_t disorder = first_disorder_in(rest.first(elements * element_bytes_));
    if (disorder != elements) throw out_of_order(begin + disorder + 1);
    begin += elements;
    rest = rest.subspan(elements * element_bytes_);
  }
  const std::scoped_lock lock(mutex_);
  place(position, seen.all.count);
  output_ += seen.all;
}

void Proof::add_all_of(const Proof& finished, std::uint64_t position) {
  place(position, finished.output_.count);
  input_ += finished.input_;
  output_ += finished.output_;
}

void Proof::add_share(const ProofSummary& share) {
  if (share.enabled != enabled_) {
    throw Error(ErrorKind::kCorrupt, "verifying the output", "not all shares of it were verified")
        .hint("verify all shares, or none");
  }
  const std::scoped_lock lock(mutex_);
  input_ += share.input;
  output_ += share.output;
  repeats_ += share.repeats;
  left_out_ += share.left_out;
  note_left_out(share.least_left_out);
  for (const auto& [begin, stretch] : share.stretches) {
    place(begin, stretch.end - begin);
    const std::uint64_t wrong = ledger_.add(begin, stretch.end, stretch.first, stretch.last);
    if (wrong != ledger_.kInOrder) throw out_of_order(wrong);
  }
}

ProofSummary Proof::summary() const {
  const std::scoped_lock lock(mutex_);
  return {.enabled = enabled_,
          .input = input_,
          .output = output_,
          .repeats = repeats_,
          .left_out = left_out_,
          .least_left_out = least_left_out_,
          .stretches = ledger_.stretches()};
}

void Proof::note_left_out(const std::optional<std::string>& least) {
  if (least && (!least_left_out_ || *least < *least_left_out_)) least_left_out_ = least;
}

void Proof::place(std::uint64_t position, std::uint64_t elements) {
  if (!placed_.add(position, position + elements)) {
    throw bad_element(position, "data from here on overlaps other elements");
  }
}

void Proof::require_places() const {
  const std::uint64_t gap = placed_.first_gap();
  if (!placed_.covers(gap)) throw bad_element(gap, "data is missing here");
}

void Proof::require_wanted_count() const {
  const auto unwanted = [](std::uint64_t elements, const char* how) {
    return Error(ErrorKind::kCorrupt, "verifying the output",
                 fmt::format("{} elements {}", format_count(elements), how))
        .hint(kDamageHint);
  };
  if (kind_ != OrderKind::kStrict && repeats_.count > 0) {
    throw unwanted(repeats_.count, "were dropped as repeats, but --unique is not set");
  }
  const std::uint64_t most = top_.value_or(~std::uint64_t{0});
  if (output_.count > most || (output_.count < most && left_out_.count > 0)) {
    throw unwanted(output_.count, "were written, and others were left out");
  }
}

void Proof::finish() const {
  const std::scoped_lock lock(mutex_);
  require_places();
  require_wanted_count();
  if (least_left_out_ && ledger_.last_key() > least_left_out_) {
    throw out_of_order(output_.count);
  }
  Fingerprint result = output_;
  result += repeats_;
  result += left_out_;
  if (input_ == result) return;
  const std::string reason =
      input_.count != result.count
          ? fmt::format("read {} elements, but wrote {}", format_count(input_.count),
                        format_count(result.count))
          : fmt::format("the fingerprints of input ({}) and output ({}) differ", to_string(input_),
                        to_string(result));
  throw Error(ErrorKind::kCorrupt, "verifying the output", reason).hint(kDamageHint);
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
