// Sorts records without moving them: an entry stands for each record, and the records are copied
// only once, to their places, when the entries are in order.
//
// Problem. Records are long: a sort that moves them moves each some twenty times.
//
// Idea. An entry holds the prefix of the normalised key, the record's position, and its place in
// memory: 16 bytes, ordered as one number of 128 bits, so that equal prefixes stay in the order of
// their positions. This gives a stable sort by the prefix at the speed of a sort of plain numbers.
// For entries with equal prefixes, usually few, the next eight bytes of the keys become the prefix,
// and they are sorted in the same way; very few are compared by the rest of the keys instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "element/record.hpp"

namespace gsort::cpu {

struct alignas(16) RecordEntry {
  std::uint32_t slot;      // the number of the record in memory
  std::uint32_t position;  // its number in the input, which orders equal records
  std::uint64_t prefix;
};

// Makes an entry for each of the records, which lie back to back. Requires: as many entries as
// records.
void enter_records(std::span<RecordEntry> entries, const RecordOrder& order,
                   const std::byte* records);

// Makes `word` of the normalised key the prefix of all entries. `records` is the address of slot 0.
void take_word(std::span<RecordEntry> entries, const RecordOrder& order, const std::byte* records,
               std::size_t word);

// Sorts by key, equal keys by position. Prefixes are then any word of the keys. Requires: the
// entries are in the order of their positions, and equal in all words before `word`, their prefix.
void sort_entries(std::span<RecordEntry> entries, const RecordOrder& order,
                  const std::byte* records, std::size_t word = 0);

// Copies the records of `entries`, in their order, to `to`.
void gather_records(std::span<const RecordEntry> entries, std::size_t record_bytes,
                    const std::byte* records, std::byte* to);

}  // namespace gsort::cpu
