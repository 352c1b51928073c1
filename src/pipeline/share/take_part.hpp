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

#include "base/meter.hpp"
#include "element/element.hpp"
#include "pipeline/share/formed_shares.hpp"
#include "pipeline/share/part_record.hpp"
#include "pipeline/share/share_range.hpp"
#include "pipeline/sort_job.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"

namespace gsort {

struct PartJob {
  std::string output;
  ShareNumber part;
  ElementFormat element;  // as it comes out and is proven; in runs, it is of format_in_runs()
  bool verify = true;
  bool has_own_file = false;  // `output` is that of this part alone
  // For temporary runs, if there are too many runs for one merge.
  std::vector<std::string> temporary_folders = {};
  io::DirectIo direct_io = io::DirectIo::kAuto;
  Packing packing = Packing::kAuto;
  bool is_on_network = false;  // the output: two hosts must not write to one page of it
  // The state of the input that the output replaces, as --form read it.
  std::optional<io::FileState> replaced = std::nullopt;
};

// The part, if it has been taken or its job joined; with fingerprints in the first case only.
// Otherwise a join of another job no longer counts (forget_joined). Throws: Error(kUsage) if the
// output's name is so long that names of hidden files beside it would exceed 255 bytes;
// Error(kOutput).
[[nodiscard]] std::optional<PartRecord> find_taken(const PartJob& part, const FormedShares& shares,
                                                   const Job& job, std::uint64_t header_bytes);

// The header of the output: of the array that it is, or nothing.
[[nodiscard]] std::vector<std::byte> header_of_output(const Job& job, std::uint64_t elements);

// The header if it is known in advance; empty if the part has its own file.
[[nodiscard]] std::vector<std::byte> header_of_part(const PartJob& part, const Job& job,
                                                    const FormedShares& shares);

// The part as a range of the elements of all shares in order. With -u, the exact borders are found
// later, near these.
// Requires: the output's form is plain, or the part has its own file. Throws: Error(kUsage) if
// hosts would write to the same page of a file on a network file system.
[[nodiscard]] OutputRange range_of_part(const PartJob& part, const FormedShares& shares,
                                        std::uint64_t header_bytes);

// The bytes that this process and others still have to write to a file that all parts share; 0 if
// the part has its own file. Throws: Error(kOutput).
[[nodiscard]] std::uint64_t bytes_to_write(const PartJob& part, const FormedShares& shares,
                                           const Job& job, std::uint64_t header_bytes);

// Requires: the plan is for existing runs of all elements, and job.part_elements is set. Throws:
// Error. What has been written of the part stays, and the next call writes it again.
Outcome take_part(const PartJob& job, const Plan& plan, const EngineMaker& make_engine,
                  FormedShares& shares, Meter& meter);

}  // namespace gsort
