#include "pipeline/select/wanted_stretches.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/units.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {
namespace {

// Calls use(Key{}) with the number of that many bytes, 4 or 8.
template <class Use>
auto with_raw_key(const KeyFormat& format, const Use& use) {
  return bytes_of(format) == sizeof(std::uint32_t) ? use(std::uint32_t{}) : use(std::uint64_t{});
}

// Whether the records are these elements with their positions, from `index` on.
template <class Key, class Index>
bool are_numbered(const std::byte* records, ConstByteSpan elements, Index index, bool big_endian) {
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < elements.size() / sizeof(Key); ++i, ++index) {
    Key key = 0;
    Key copy = 0;
    Index stored = 0;
    const std::byte* const record = records + i * (sizeof(Key) + sizeof(Index));
    std::memcpy(&key, elements.data() + i * sizeof(Key), sizeof(Key));
    std::memcpy(&copy, record, sizeof(Key));
    std::memcpy(&stored, record + sizeof(Key), sizeof(Index));
    difference |= (key ^ copy) | (stored ^ (big_endian ? swap_bytes(index) : index));
  }
  return difference == 0;
}

// As in elements with their positions (numbered()).
KeyFormat in_total_order(KeyFormat key) {
  key.float_order = FloatOrder::kTotal;
  return key;
}

}  // namespace

bool WantedStretches::are_of(const Job& job) {
  if (!job.argsort || !job.numbered || job.numbered->records) return false;
  const std::size_t bytes = job.numbered->bytes();
  return bytes == sizeof(std::uint32_t) || bytes == sizeof(std::uint64_t);
}

WantedStretches::WantedStretches(const Job& job, Proof& proof, Meter* meter)
    : key_(in_total_order(job.numbered->key)),
      numbering_(job.numbering()),
      proof_(proof),
      meter_(meter),
      room_(kMostAtOnce * kKeysOfStretch * numbering_.record_bytes()) {}

// The meter counts records, as the plan does.
std::optional<io::InputBlock> WantedStretches::read_next(io::Reader& reader, ByteSpan block) const {
  Span span(meter_, Stage::kRead);
  const auto read = reader.next(block);
  if (!read) return read;
  const std::uint64_t elements = read->bytes / numbering_.element_bytes;
  span.add_bytes(elements * numbering_.record_bytes(), read->bytes);
  return read;
}

Fingerprint WantedStretches::add_input(ConstByteSpan block) const {
  Span span(meter_, Stage::kProve);
  span.add_bytes(block.size());
  const Fingerprint seen = look(block);
  proof_.add_input_of_before(seen);
  return seen;
}

Fingerprint WantedStretches::look(ConstByteSpan elements) const {
  const std::size_t bytes = numbering_.element_bytes;
  if (!proof_.enabled()) return {elements.size() / bytes};
  return fingerprint_of(elements, bytes);
}

ConstByteSpan WantedStretches::stretches(ConstByteSpan block, std::size_t from,
                                         std::size_t to) const {
  const std::size_t bytes = kKeysOfStretch * numbering_.element_bytes;
  return block.first(std::min(to * bytes, block.size())).subspan(from * bytes);
}

std::uint64_t WantedStretches::ordered(const std::byte* key) const {
  return with_raw_key(key_, [&](auto raw) -> std::uint64_t {
    std::memcpy(&raw, key, sizeof(raw));
    return KeyMap<decltype(raw)>::of(key_).to_ordered(raw);
  });
}

void WantedStretches::begin(ConstByteSpan block) {
  const std::size_t keys = block.size() / numbering_.element_bytes;
  stretches_ = div_up(keys, kKeysOfStretch);
  least_.resize(stretches_);
  with_raw_key(key_, [&](auto raw) {
    using Key = decltype(raw);
    least_of_stretches<Key>({reinterpret_cast<const Key*>(block.data()), keys},
                            KeyMap<Key>::of(key_), least_.data());
  });
  left_ = {};
  difference_ = {};
  least_left_.reset();
}

ConstByteSpan WantedStretches::numbered(ConstByteSpan elements, std::uint64_t index) {
  const std::size_t count = elements.size() / numbering_.element_bytes;
  std::ranges::copy(elements, room_.begin());
  number_elements(room_, numbering_, index, count);
  const ConstByteSpan records = ConstByteSpan(room_).first(count * numbering_.record_bytes());
  difference_ += look(elements);
  difference_ -= proof_.look(records);
  // After both sums: a later change of the elements or records makes these wrong.
  if (proof_.enabled()) require_numbered(records, elements, index);
  return records;
}

void WantedStretches::require_numbered(ConstByteSpan records, ConstByteSpan elements,
                                       std::uint64_t index) const {
  const bool are_right = with_raw_key(key_, [&](auto key) {
    using Key = decltype(key);
    const auto are = [&](auto first) {
      return are_numbered<Key>(records.data(), elements, first, numbering_.big_endian);
    };
    return numbering_.index_bytes == sizeof(std::uint32_t) ? are(static_cast<std::uint32_t>(index))
                                                           : are(index);
  });
  if (are_right) return;
  throw Error(ErrorKind::kCorrupt, "giving elements their positions", "a position or key is wrong")
      .hint(kDamageHint);
}

void WantedStretches::leave_out(ConstByteSpan block, std::size_t from, std::size_t to) {
  left_ += look(stretches(block, from, to));
  for (std::size_t stretch = from; stretch < to; ++stretch) {
    if (!least_left_ || least_[stretch] < least_[*least_left_]) least_left_ = stretch;
  }
}

void WantedStretches::end(ConstByteSpan block, std::uint64_t first) {
  proof_.add_difference(difference_);
  if (!least_left_) return;
  const ConstByteSpan elements = stretches(block, *least_left_, *least_left_ + 1);
  std::size_t at = 0;
  while (at < elements.size() && ordered(elements.data() + at) != least_[*least_left_]) {
    at += numbering_.element_bytes;
  }
  if (at == elements.size()) {
    throw Error(ErrorKind::kCorrupt, "checking what is left out", "the least key is missing")
        .hint(kDamageHint);
  }
  std::ranges::copy(elements.subspan(at, numbering_.element_bytes), room_.begin());
  const std::uint64_t before = *least_left_ * kKeysOfStretch + at / numbering_.element_bytes;
  number_elements(room_, numbering_, first + before, 1);
  proof_.add_left_out(left_, room_.data());
}

}  // namespace gsort
