// Sorting records without moving them: an entry stands for each, and only when the entries are in
// order are the records themselves copied, once, to their places.
//
// Problem. Records are long: a sort that moves them moves each some twenty times.
//
// Idea. An entry holds the prefix of the normalised key, the record's position, and where it lies;
// 16 bytes, ordered as one number of 128 bits, so that equal prefixes stay in the order of their
// positions. That is a stable sort by the prefix at the speed of a sort of plain numbers. Among
// entries whose prefixes are equal, rare as a rule, the next eight bytes of the keys become the
// prefix, and they are sorted in the same way; a few are compared by the rest of the keys instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "element/record.hpp"

namespace gsort::cpu {

struct alignas(16) RecordEntry {
  std::uint32_t slot;      // which of the records in memory
  std::uint32_t position;  // its number in the input: what decides among equal records
  std::uint64_t prefix;
};

// Makes an entry for each of the records, which lie one behind the other. Requires: as many entries
// as records.
void enter_records(std::span<RecordEntry> entries, const RecordOrder& order,
                   const std::byte* records);

// Makes `word` of the normalised key the prefix of all entries. `records` is where slot 0 lies.
void take_word(std::span<RecordEntry> entries, const RecordOrder& order, const std::byte* records,
               std::size_t word);

// Sorts by key, equal keys by position. Prefixes are then any word of the keys. Requires: entries
// in the order of their positions, that are equal in all words in front of `word`, their prefix.
void sort_entries(std::span<RecordEntry> entries, const RecordOrder& order,
                  const std::byte* records, std::size_t word = 0);

// Copies the records of `entries`, in their order, to `to`.
void gather_records(std::span<const RecordEntry> entries, std::size_t record_bytes,
                    const std::byte* records, std::byte* to);

}  // namespace gsort::cpu
