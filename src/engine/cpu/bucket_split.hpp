// Deals out buckets again that are too large (skew, a sample unlike the data), until every bucket
// either can be sorted at once or holds a single value.
#pragma once

#include <cstdint>
#include <vector>

#include "base/tasks.hpp"
#include "engine/cpu/partition.hpp"

namespace gsort::cpu {

// Replaces every bucket of more than `limit` keys by smaller ones, in order. Each pass narrows a
// bucket's range of keys, by 2^8 at least where a sample did not help, so the passes are few
// whatever the keys are. Needs the slack that CpuChunkFootprint::slack_pages counts. Throws: what
// the pool throws.
template <class Key>
void split_large_buckets(std::vector<Bucket>& buckets, std::uint64_t limit, PagePool& pool,
                         TaskArena& tasks);

extern template void split_large_buckets<std::uint32_t>(std::vector<Bucket>&, std::uint64_t,
                                                        PagePool&, TaskArena&);
extern template void split_large_buckets<UInt128>(std::vector<Bucket>&, std::uint64_t, PagePool&,
                                                  TaskArena&);
extern template void split_large_buckets<std::uint64_t>(std::vector<Bucket>&, std::uint64_t,
                                                        PagePool&, TaskArena&);

}  // namespace gsort::cpu
