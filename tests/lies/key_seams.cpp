// The seams of keys: copies in NumPy's order, equal floats; and of sorted keys: repeats, counts,
// positions, keys that another input has.
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "element/counted_keys.hpp"
#include "element/member_keys.hpp"
#include "element/numbered_elements.hpp"
#include "element/repeated_keys.hpp"
#include "form/equal_floats.hpp"
#include "lies/liar.hpp"
#include "lies/seams.hpp"
#include "pipeline/compare_records.hpp"
#include "pipeline/proof/proof.hpp"
#include "pipeline/select/wanted_stretches.hpp"

namespace gsort::test {

// ---- Keys of an array in memory ----

#define GSORT_COPY_FOR_NUMPY \
  "_ZN5gsort14copy_for_numpyESt4spanIKSt4byteLm18446744073709551615EERKNS_9KeyFormatEPS1_"
void real_copy_for_numpy(ConstByteSpan keys, const KeyFormat& format, std::byte* to)
    GSORT_REAL(GSORT_COPY_FOR_NUMPY);
void lying_copy_for_numpy(ConstByteSpan keys, const KeyFormat& format, std::byte* to)
    GSORT_WRAP(GSORT_COPY_FOR_NUMPY);

void lying_copy_for_numpy(ConstByteSpan keys, const KeyFormat& format, std::byte* to) {
  real_copy_for_numpy(keys, format, to);
  const ByteSpan copies(to, keys.size());
  if (auto telling = the_liar().event(Seam::kArray, copies)) telling->garble(copies);
}

// ---- Equal floats that get the same bits ----

#define GSORT_MAKE_ALIKE                                                       \
  "_ZN5gsort23make_equal_floats_alikeESt4spanISt4byteLm18446744073709551615EE" \
  "mS0_IKNS_8KeyFieldELm18446744073709551615EE"
void real_make_alike(ByteSpan elements, std::size_t bytes, std::span<const KeyField> floats)
    GSORT_REAL(GSORT_MAKE_ALIKE);
void lying_make_alike(ByteSpan elements, std::size_t bytes, std::span<const KeyField> floats)
    GSORT_WRAP(GSORT_MAKE_ALIKE);

void lying_make_alike(ByteSpan elements, std::size_t bytes, std::span<const KeyField> floats) {
  real_make_alike(elements, bytes, floats);
  if (elements.empty() || floats.empty()) return;
  auto telling = the_liar().event(Seam::kAlike);
  if (!telling) return;
  // The key changes its value, or only its bits.
  const KeyField& field = floats[telling->below(floats.size())];
  std::byte* const key = &elements[telling->below(elements.size() / bytes) * bytes + field.offset];
  key[telling->below(field.bytes)] ^= std::byte{1} << telling->below(8);
}

// ---- Repeats that are dropped ----

#define GSORT_SPLIT_REPEATS \
  "_ZN5gsort13split_repeatsIjEEmT_St4spanIKS1_Lm18446744073709551615EEPS1_S5_"
using Keys = std::span<const std::uint32_t>;
std::size_t real_split_repeats(std::uint32_t before, Keys keys, std::uint32_t* kept,
                               std::uint32_t* repeats) GSORT_REAL(GSORT_SPLIT_REPEATS);
std::size_t lying_split_repeats(std::uint32_t before, Keys keys, std::uint32_t* kept,
                                std::uint32_t* repeats) GSORT_WRAP(GSORT_SPLIT_REPEATS);

std::size_t lying_split_repeats(std::uint32_t before, Keys keys, std::uint32_t* kept,
                                std::uint32_t* repeats) {
  const std::size_t stay = real_split_repeats(before, keys, kept, repeats);
  auto telling = the_liar().event(Seam::kRepeats);
  if (!telling || stay == 0) return stay;
  // One that stays counts as a repeat.
  const std::size_t lost = telling->below(stay);
  repeats[keys.size() - stay] = kept[lost];
  std::copy(kept + lost + 1, kept + stay, kept + lost);
  return stay - 1;
}

// ---- Keys with their counts ----

// Keys with their counts; the liar may change some.
struct ToldCounts {
  explicit ToldCounts(const CountedKeys& from)
      : keys(from.keys.begin(), from.keys.end()),
        counts(from.counts.begin(), from.counts.end()),
        key_bytes(from.key_bytes) {
    auto telling = the_liar().event(Seam::kCounts);
    if (telling && telling->below(2) == 0) {
      telling->garble(keys);
    } else if (telling) {  // one more, less, or of another key
      std::uint64_t& count = counts[telling->below(counts.size())];
      switch (telling->below(3)) {
        case 0:
          ++count;
          break;
        case 1:
          --count;
          break;
        default:
          std::swap(count, counts[telling->below(counts.size())]);
      }
    }
  }
  [[nodiscard]] CountedKeys all() const { return {keys, key_bytes, counts}; }

  Bytes keys;
  std::vector<std::uint64_t> counts;
  std::size_t key_bytes;
};

#define GSORT_JOIN_COUNTS "_ZN5gsort11join_countsERKNS_11CountedKeysEbPSt4byte"
void real_join_counts(const CountedKeys& from, bool big_endian, std::byte* pairs)
    GSORT_REAL(GSORT_JOIN_COUNTS);
void lying_join_counts(const CountedKeys& from, bool big_endian, std::byte* pairs)
    GSORT_WRAP(GSORT_JOIN_COUNTS);

void lying_join_counts(const CountedKeys& from, bool big_endian, std::byte* pairs) {
  real_join_counts(ToldCounts(from).all(), big_endian, pairs);
}

// The proof does not see what is merged.
#define GSORT_ADD_COUNTED "_ZN5gsort5Proof17add_counted_inputERKNS_11CountedKeysE"
void real_add_counted(Proof& proof, const CountedKeys& keys) GSORT_REAL(GSORT_ADD_COUNTED);
void lying_add_counted(Proof& proof, const CountedKeys& keys) GSORT_WRAP(GSORT_ADD_COUNTED);

void lying_add_counted(Proof& proof, const CountedKeys& keys) {
  real_add_counted(proof, ToldCounts(keys).all());
}

// ---- Positions of elements ----

#define GSORT_TAKE_INDEXES \
  "_ZN5gsort12take_indexesESt4spanIKSt4byteLm18446744073709551615EERKNS_9NumberingEmPS1_"
void real_take_indexes(ConstByteSpan records, const Numbering& numbering, std::size_t to_bytes,
                       std::byte* to) GSORT_REAL(GSORT_TAKE_INDEXES);
void lying_take_indexes(ConstByteSpan records, const Numbering& numbering, std::size_t to_bytes,
                        std::byte* to) GSORT_WRAP(GSORT_TAKE_INDEXES);

void lying_take_indexes(ConstByteSpan records, const Numbering& numbering, std::size_t to_bytes,
                        std::byte* to) {
  real_take_indexes(records, numbering, to_bytes, to);
  const std::size_t count = records.size() / numbering.record_bytes();
  auto telling = the_liar().event(Seam::kIndexes);
  if (!telling) return;
  std::byte* const one = to + telling->below(count) * to_bytes;
  std::byte* const other = to + telling->below(count) * to_bytes;
  if (one == other || telling->below(2) == 0) {
    one[telling->below(to_bytes)] ^= std::byte{1} << telling->below(8);
  } else {
    std::swap_ranges(one, one + to_bytes, other);
  }
}

// ---- Elements that a selection gives their positions ----

// A bit of a block that the proof has seen. Keys that change places would be another input.
#define GSORT_ADD_WANTED "_ZNK5gsort15WantedStretches9add_inputE" GSORT_CONST_BYTES
Fingerprint real_add_wanted(const WantedStretches& wanted, ConstByteSpan block)
    GSORT_REAL(GSORT_ADD_WANTED);
Fingerprint lying_add_wanted(const WantedStretches& wanted, ConstByteSpan block)
    GSORT_WRAP(GSORT_ADD_WANTED);

Fingerprint lying_add_wanted(const WantedStretches& wanted, ConstByteSpan block) {
  const Fingerprint seen = real_add_wanted(wanted, block);
  auto telling = the_liar().event(Seam::kBlock, block);
  auto* const bytes = const_cast<std::byte*>(block.data());
  if (telling) bytes[telling->below(block.size())] ^= std::byte{1} << telling->below(8);
  return seen;
}

#define GSORT_NUMBER_ELEMENTS "_ZN5gsort15number_elementsE" GSORT_BYTES "RKNS_9NumberingEmm"
void real_number(ByteSpan room, const Numbering& numbering, std::uint64_t first, std::size_t count)
    GSORT_REAL(GSORT_NUMBER_ELEMENTS);
void lying_number(ByteSpan room, const Numbering& numbering, std::uint64_t first, std::size_t count)
    GSORT_WRAP(GSORT_NUMBER_ELEMENTS);

void lying_number(ByteSpan room, const Numbering& numbering, std::uint64_t first,
                  std::size_t count) {
  // The reader calls it, too, but gives no numbers.
  auto telling = numbering.index_bytes > 0 ? the_liar().event(Seam::kNumbers) : std::nullopt;
  if (!telling) return real_number(room, numbering, first, count);
  switch (telling->below(3)) {
    case 0:  // other numbers
      return real_number(room, numbering, first + 1 + telling->below(count), count);
    case 1:  // not to all
      return real_number(room, numbering, first, telling->below(count));
    default:
      real_number(room, numbering, first, count);
      telling->garble(room.first(count * numbering.record_bytes()));
  }
}

// ---- Keys that another input has ----

#define GSORT_SPLIT_MEMBERS \
  "_ZN5gsort13split_membersIjEEmSt4spanIKT_Lm18446744073709551615EES4_NS_4StayEPS2_S6_"
std::size_t real_split_members(Keys keys, Keys others, Stay stay, std::uint32_t* kept,
                               std::uint32_t* dropped) GSORT_REAL(GSORT_SPLIT_MEMBERS);
std::size_t lying_split_members(Keys keys, Keys others, Stay stay, std::uint32_t* kept,
                                std::uint32_t* dropped) GSORT_WRAP(GSORT_SPLIT_MEMBERS);

std::size_t lying_split_members(Keys keys, Keys others, Stay stay, std::uint32_t* kept,
                                std::uint32_t* dropped) {
  auto telling = the_liar().event(Seam::kMembers);
  std::vector<std::uint32_t> heard(others.begin(), others.end());
  if (telling && !heard.empty()) {  // one of them is another one
    heard[telling->below(heard.size())] = keys[telling->below(keys.size())];
    std::ranges::sort(heard);
  }
  return real_split_members(keys, heard, stay, kept, dropped);
}

#define GSORT_SPLIT_MEMBER_RECORDS                                                          \
  "_ZNK5gsort13RecordCompare13split_membersESt4spanISt4byteLm18446744073709551615EES3_NS_4" \
  "StayEPS2_"
std::size_t real_split_records(const RecordCompare* self, ByteSpan piece, ByteSpan others,
                               Stay stay, std::byte* dropped)
    GSORT_REAL(GSORT_SPLIT_MEMBER_RECORDS);
std::size_t lying_split_records(const RecordCompare* self, ByteSpan piece, ByteSpan others,
                                Stay stay, std::byte* dropped)
    GSORT_WRAP(GSORT_SPLIT_MEMBER_RECORDS);

std::size_t lying_split_records(const RecordCompare* self, ByteSpan piece, ByteSpan others,
                                Stay stay, std::byte* dropped) {
  auto telling = the_liar().event(Seam::kMembers);
  std::vector<std::byte> heard(others.begin(), others.end());
  if (telling && !piece.empty()) {  // one record is among them, too
    const std::size_t count = self->sum(piece).count;
    const std::size_t bytes = piece.size() / count;
    const ByteSpan one = piece.subspan(telling->below(count) * bytes, bytes);
    const ByteSpan place = self->range_of(heard, one);
    heard.insert(heard.begin() + (place.data() - heard.data()), one.begin(), one.end());
  }
  return real_split_records(self, piece, heard, stay, dropped);
}

}  // namespace gsort::test
