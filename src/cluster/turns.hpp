// The order in which all processes merge their parts. In order, each process merges its part t in
// turn t; with several lanes, a turn has as many parts. In rotated order, it merges part
// PartTable::in_turn(rank, t). Suppose that the elements of each share come from one process, then
// from the next, and so on. In order, all processes then need elements of the same process at the
// same time, and its link limits the exchange. In rotated order, they need elements of different
// processes.
#pragma once

#include <cstdint>
#include <span>

#include "cluster/cuts/cuts.hpp"
#include "cluster/part_table.hpp"
#include "cluster/team.hpp"
#include "pipeline/part_queue.hpp"

namespace gsort::cluster {

// With at most this many processes, no process sends to two others, so that rotation cannot save
// more than half a share, and should_rotate() is false.
inline constexpr unsigned kNeverRotate = 2;

// Together: for outputs whose parts must be put in order, whether to merge in rotated order and to
// keep the parts that come too early. True if all processes have room for these, and rotation saves
// more than half a share. To compare both orders, take in each turn the elements that the busiest
// process sends, and add these up over all turns. The difference is an upper bound of what rotation
// gains, as processes do not wait for the turns of others. `cuts` are those of this process's runs,
// at all borders of `parts`. It merges `lanes` parts at once; 0: it has no room for parts that come
// too early.
[[nodiscard]] bool should_rotate(Team& team, const PartTable& parts, std::span<const Cuts> cuts,
                                 std::uint64_t lanes);

// The range of the output that a process keeps in rotated order: from the part that it merges first
// to the end of its share. It is empty if the process begins with its first part, as rank 0 does.
[[nodiscard]] OutputRange deferred_range(const PartTable& parts, unsigned rank);

}  // namespace gsort::cluster
