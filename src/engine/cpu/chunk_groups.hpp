// The pieces in which a chunk is emitted: groups are sorted and put as a whole, in order of
// position. A group is one of
//   buckets, because each alone would be a small write, with the kept keys among theirs
//   one bucket of a single value, however large
//   kept keys of one block, which need no sorting
#pragma once

#include <cstdint>
#include <vector>

#include "base/tasks.hpp"
#include "engine/cpu/kept_blocks.hpp"
#include "engine/cpu/partition.hpp"

namespace gsort::cpu {

struct Group {
  std::size_t first_bucket;
  std::size_t last_bucket;  // one past the last; no bucket: kept keys only
  std::uint64_t kept_begin;
  std::uint64_t kept_end;
  std::uint64_t position;
  std::uint64_t count;  // of all keys

  [[nodiscard]] std::uint64_t kept_count() const { return kept_end - kept_begin; }
  [[nodiscard]] std::uint64_t dealt_count() const { return count - kept_count(); }
  [[nodiscard]] bool is_kept() const { return first_bucket == last_bucket; }
};

// All groups of a chunk. Buckets are joined to groups of at most `wanted` keys; a bucket that is
// larger, alone or with kept keys, is its own group. If no keys are kept, no key is read.
template <class Key>
[[nodiscard]] std::vector<Group> group_chunk(const std::vector<Bucket>& buckets,
                                             const KeptBlocks<Key>& kept, const PagePool& pool,
                                             std::uint64_t wanted, TaskArena& tasks);

extern template std::vector<Group> group_chunk(const std::vector<Bucket>&,
                                               const KeptBlocks<std::uint32_t>&, const PagePool&,
                                               std::uint64_t, TaskArena&);
extern template std::vector<Group> group_chunk(const std::vector<Bucket>&,
                                               const KeptBlocks<UInt128>&, const PagePool&,
                                               std::uint64_t, TaskArena&);
extern template std::vector<Group> group_chunk(const std::vector<Bucket>&,
                                               const KeptBlocks<std::uint64_t>&, const PagePool&,
                                               std::uint64_t, TaskArena&);

}  // namespace gsort::cpu
