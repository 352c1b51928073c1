// The order in which all processes merge their parts. In turn t, each merges its part t, or in
// rotated order another one (PartTable::in_turn()). If the elements of a share come from one
// process, then from the next, and so on, all processes need elements of the same one in each turn,
// and its link limits them. In rotated order, they need elements of different ones.
#pragma once

#include <cstdint>
#include <span>

#include "cluster/cuts/cuts.hpp"
#include "cluster/part_table.hpp"
#include "cluster/team.hpp"
#include "pipeline/part_queue.hpp"

namespace gsort::cluster {

// With so many processes, no link serves two receivers.
inline constexpr unsigned kNeverRotate = 2;

struct TurnsQuestion {
  const PartTable& parts;
  std::span<const Cuts> cuts;  // of this process's runs, at all borders of the table
  unsigned lanes = 1;          // parts that this process merges at once
  bool has_room = true;        // for the parts that it would merge before their turn
};

// Together: for outputs whose parts must be put in order, whether to merge in rotated order and to
// keep what comes too early. All need room for that. It must make the links carry fewer elements,
// by half a share: added up over the turns, those that the busiest process sends. As processes do
// not wait for the turns of others, this is an upper bound of what rotation gains.
[[nodiscard]] bool should_rotate(Team& team, const TurnsQuestion& question);

// What a process keeps then: the parts of its share that rotated order begins with. Rank 0 begins
// with its first part, and keeps none.
[[nodiscard]] OutputRange deferred_range(const PartTable& parts, unsigned rank);

}  // namespace gsort::cluster
