#include "engine/cpu/record_entries.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <hwy/contrib/sort/vqsort.h>

#include "base/made_once.hpp"

namespace gsort::cpu {
namespace {

static_assert(std::endian::native == std::endian::little && sizeof(RecordEntry) == 16 &&
                  offsetof(RecordEntry, position) == 4 && offsetof(RecordEntry, prefix) == 8,
              "an entry is sorted as one number: prefix, position, slot");

const ThreadOwned<hwy::Sorter> kSorters;

void sort_by_prefix(std::span<RecordEntry> entries) {
  kSorters.own()(reinterpret_cast<hwy::uint128_t*>(entries.data()), entries.size(),
                 hwy::SortAscending());
}

// Orders entries by prefix, equal ones by position. One pass finds entries that are in order, or in
// reverse order without equal prefixes; otherwise it ends after a few entries. If there are many
// ties, most records are usually equal, and are in order already.
void order_by_prefix(std::span<RecordEntry> entries) {
  constexpr auto kPrefix = &RecordEntry::prefix;
  if (std::ranges::is_sorted(entries, {}, kPrefix)) return;
  if (std::ranges::adjacent_find(entries, std::ranges::less_equal{}, kPrefix) == entries.end()) {
    std::ranges::reverse(entries);
  } else {
    sort_by_prefix(entries);
  }
}

constexpr std::size_t kAhead = 16;  // enough to hide the latency of memory
constexpr std::size_t kFewTies = 8;

// For entries of one prefix, if they are so few that comparing them is fastest.
void compare_ties(std::span<RecordEntry> ties, const RecordOrder& order, const std::byte* records) {
  std::ranges::sort(ties, [&](const RecordEntry& a, const RecordEntry& b) {
    const int compared = order.compare(records + a.slot * order.record_bytes(),
                                       records + b.slot * order.record_bytes());
    return compared != 0 ? compared < 0 : a.position < b.position;
  });
}

}  // namespace

void enter_records(std::span<RecordEntry> entries, const RecordOrder& order,
                   const std::byte* records) {
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    entries[i] = {i, i, order.prefix_of(records + i * order.record_bytes())};
  }
}

void take_word(std::span<RecordEntry> entries, const RecordOrder& order, const std::byte* records,
               std::size_t word) {
  const RecordWord& wanted = order.words()[word];
  const std::size_t offset = wanted.numbers[0].offset;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i + kAhead < entries.size()) {
      __builtin_prefetch(records + entries[i + kAhead].slot * order.record_bytes() + offset);
    }
    entries[i].prefix = wanted.of(records + entries[i].slot * order.record_bytes());
  }
}

void sort_entries(std::span<RecordEntry> entries, const RecordOrder& order,
                  const std::byte* records, std::size_t word) {
  order_by_prefix(entries);
  if (word + 1 == order.words().size()) return;
  for (std::size_t begin = 0; begin + 1 < entries.size();) {
    std::size_t end = begin + 1;
    while (end < entries.size() && entries[end].prefix == entries[begin].prefix) ++end;
    const auto ties = entries.subspan(begin, end - begin);
    if (ties.size() > kFewTies) {
      take_word(ties, order, records, word + 1);
      sort_entries(ties, order, records, word + 1);
    } else if (ties.size() > 1) {
      compare_ties(ties, order, records);
    }
    begin = end;
  }
}

void gather_records(std::span<const RecordEntry> entries, std::size_t record_bytes,
                    const std::byte* records, std::byte* to) {
  constexpr std::size_t kLineBytes = 64;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i + kAhead < entries.size()) {
      const std::byte* const next = records + entries[i + kAhead].slot * record_bytes;
      for (std::size_t at = 0; at < record_bytes && at < 4 * kLineBytes; at += kLineBytes) {
        __builtin_prefetch(next + at);
      }
      __builtin_prefetch(next + record_bytes - 1);
    }
    std::memcpy(to, records + entries[i].slot * record_bytes, record_bytes);
    to += record_bytes;
  }
}

}  // namespace gsort::cpu
