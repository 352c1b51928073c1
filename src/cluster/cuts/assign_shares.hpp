// Decides which process writes which share of one output. It minimizes the largest number of
// elements that any process sends, and then the number that all send.
//
// Problem. A process sends its elements, except those that lie in the share that it writes. So each
// pair of a process and a share has a number, and a perfect matching is wanted. The largest number
// often depends on a single process. Therefore every process may send up to 1/128 of a share more
// than the least possible maximum if the total becomes smaller. A process that does not write the
// share of its own number counts as 1/128 of a share more, so small differences do not change the
// order: with keys in random order, process i writes share i.
//
// Idea. Processes are added to a matching one by one. Each is added along a shortest path, on which
// matched processes hand over their shares, until one of them takes a free share. In the first
// pass, the length of a path is the largest number on it; this gives the least possible maximum. In
// the second pass, the length is a sum, and numbers more than 1/128 of a share above this maximum
// are not used.
//
// Example. 3 processes have 100 descending keys each: the keys of process 0 lie in share 2, those
// of process 1 in share 1, those of process 2 in share 0. Each process takes the share in which its
// keys lie, and nothing is sent.
//
// Cost. At most 2 P^3 steps for P processes. With 1,024 processes, ten kinds of matrices took 5 to
// 230 ms on one Zen 4 core.
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
// process. Ensures, where slack is the sum of `there` / n / 128: no process sends more than slack
// above the least possible maximum; among such assignments, the total that all send is the least,
// if each process i that does not get share i counts as slack + 1 more.
// Requires: there.size() == n * n, n > 0; the sum is below 2^60.
[[nodiscard]] std::vector<unsigned> assign_shares(std::span<const std::uint64_t> there, unsigned n);

// Together: assigns the shares of `parts`, which are in order. `cuts` are those of this process's
// runs at all borders. With more than 2,048 processes, the shares stay in order.
// Throws: as Team; Error(kCorrupt) if the counts or the assignment that arrive are not valid.
void assign_shares(Team& team, PartTable& parts, std::span<const Cuts> cuts);

}  // namespace gsort::cluster
