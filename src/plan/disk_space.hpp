// Checks whether the plan's files fit the free space of the disks, and the page cache.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort {

// The most bytes of temporary files that are on disk at once.
[[nodiscard]] std::uint64_t temporary_need(const Plan& plan);

// The same for a part of the output: the existing runs are kept, and slices[i] elements of run i
// belong to the part.
[[nodiscard]] std::uint64_t temporary_need(const Plan& plan,
                                           const std::vector<std::uint64_t>& slices);

// Folders on one file system share its space; runs may be spread over all temporary folders.
// Throws: Error(kResource) with the needed and the free space, also for memory (see below).
void require_disk_space(const Plan& plan, const Machine& machine);

// The memory that the plan's files in a tmpfs take; results in memory are not files.
[[nodiscard]] std::uint64_t files_in_memory(const Plan& plan, const Machine& machine);

// The folders that hold such files, and the kinds of their file systems, separated by commas.
struct FoldersInMemory {
  std::string names;
  std::string kinds;
};
[[nodiscard]] FoldersInMemory folders_in_memory(const Plan& plan, const Machine& machine);

// Whether the available memory has room for these files and for the sort.
[[nodiscard]] bool files_leave_memory(const Plan& plan, const Machine& machine);

// The Error if it does not. `smaller_mib`: a size of -S that is small enough; 0: none.
[[nodiscard]] Error no_memory_for_files(const Plan& plan, const Machine& machine,
                                        std::uint64_t smaller_mib);

// Whether runs should be written through the page cache, because it has room for them in addition
// to everything else: they are then merged without being read from the disk.
[[nodiscard]] bool runs_fit_page_cache(const Plan& plan, const Machine& machine);

// Whether the output is one file in a tmpfs, the memory has room now for it and for the sort, and
// there are enough threads to gain from early pages (io/output/early_room.hpp).
[[nodiscard]] bool output_fits_memory(const Plan& plan, const Machine& machine);

// The bytes that the file into which the output is written needs in addition to its present ones.
[[nodiscard]] std::uint64_t needed_beside_copy(const Plan& plan, const Machine& machine);

}  // namespace gsort
