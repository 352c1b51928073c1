// Takes a part of the output from the folders in which the runs of all shares are: merges the runs
// in one range of the output, and writes that to its place in a file that all parts share, or into
// a file of its own (part_output.hpp).
//
// Runs that are too many for one merge are merged in rounds first (part_runs.hpp).
//
// Nothing is locked, and the folders are only read. Part I of P has the same elements in every
// process, so a part may be taken again, after a kill or at the same time. When the part is on the
// disk, its record is written beside the output (part_record.hpp), for the process that joins them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/share/formed_shares.hpp"
#include "pipeline/share/part_record.hpp"
#include "pipeline/sort_context.hpp"
#include "plan/outcome.hpp"

namespace gsort {

// The record of a part before it is written, as far as it is known then. Requires: `part` has its
// number, the number of parts, has_own_file and replaced; has_own_file is true if the output's form
// is not plain. With -u, the exact borders are found later, near begin and end. Throws:
// Error(kUsage) if hosts would write to the same page of a file on a network file system.
[[nodiscard]] PartRecord planned_part(PartRecord part, const io::OutputPlace& place,
                                      const FormedShares& shares, const Job& job);

// The part, if it has been taken or its job joined; with fingerprints in the first case only.
// Otherwise a join of another job no longer counts (forget_joined). Throws: Error(kUsage) if the
// output's name is so long that names of hidden files beside it would exceed 255 bytes;
// Error(kOutput).
[[nodiscard]] std::optional<PartRecord> find_taken(const io::OutputPlace& place,
                                                   const PartRecord& planned);

// The bytes that this process and others still have to write to a file that all parts share; 0 if
// the part has its own file. Throws: Error(kOutput).
[[nodiscard]] std::uint64_t bytes_to_write(const io::OutputPlace& place, const PartRecord& record);

// Requires: the plan is for existing runs of all elements, and job.part_elements is set. Throws:
// Error. The bytes of the part that were written stay, and the next call writes them again.
Outcome take_part(const SortContext& door, const io::OutputPlace& place, const PartRecord& planned,
                  FormedShares& shares);

}  // namespace gsort
