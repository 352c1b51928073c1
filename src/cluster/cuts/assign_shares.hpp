// Which process writes which share of one output: so that the greatest number of elements that any
// process sends is least, and then the number that all send.
//
// Problem. A process sends what it has, but for what it has of the share that it writes. For each
// process and share this is a number; wanted is a perfect matching. The greatest number often
// depends on one process only. So every process may send a little more, 1/128 of a share, if less
// is sent in all. For as little, a process does not give up the share of its own number: with keys
// in random order, process i writes share i.
//
// Idea. Processes are added to a matching one after the other, each by a shortest path along which
// others hand over their shares, until one takes a share that is free. First, a path is as long as
// the greatest number on it, which gives the least possible greatest number; then, without numbers
// above that, as long as their sum.
//
// Example. 3 processes have descending keys, 100 each: all that process 0 has lies in share 2, that
// of 1 in share 1, that of 2 in share 0. Process 0 takes share 2, process 2 share 0; nothing is
// sent.
//
// Cost. At most 2 P^3 steps for P processes. For 1,024, ten kinds of matrices took 5 to 230 ms on a
// core of Zen 4.
//
// Source: U. Derigs, U. Zimmermann, "An augmenting path method for solving linear bottleneck
// assignment problems", Computing 19 (1978); R. Jonker, A. Volgenant, "A shortest augmenting path
// algorithm for dense and sparse linear assignment problems" (1987), doi:10.1007/BF02278710.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/cuts/cuts.hpp"
#include "cluster/part_table.hpp"
#include "cluster/team.hpp"

namespace gsort::cluster {

// `there[i * n + j]`: how many elements of process i of n lie in share j. Returns the share of each
// process. Ensures, where slack is the sum of `there` / n / 128: none sends more than slack above
// the least possible greatest number, and among such assignments, what all send is least, if each i
// whose share is not i counts as slack + 1 more.
// Requires: there.size() == n * n, n > 0; the sum is below 2^60.
[[nodiscard]] std::vector<unsigned> assign_shares(std::span<const std::uint64_t> there, unsigned n);

// Together: assigns the shares of `parts`, which are in order. `cuts` are those of this process's
// runs at all borders. Of more than 2,048 processes they stay in order.
// Throws: as Team; Error(kCorrupt) when what arrives cannot be.
void assign_shares(Team& team, PartTable& parts, std::span<const Cuts> cuts);

}  // namespace gsort::cluster
