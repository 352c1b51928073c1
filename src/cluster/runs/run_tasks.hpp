// Divides the work with --resume: which process uses which runs of earlier processes, and of which
// elements of the input each one forms runs. It is a pure function of what all processes see, so
// any number of processes, on any hosts, can resume a sort.
//
// A folder that several processes see is given to one of them. Elements that no visible run holds
// are divided equally among all processes; with --inputs-here, the process that has these inputs
// forms them. If runs overlap, because a lost host has come back with its runs, the one that begins
// first is used; the others are removed at the end.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "cluster/message.hpp"
#include "pipeline/part_queue.hpp"

namespace gsort {

// Throws: Error(kCorrupt) if a range that was read ends before it begins.
template <cluster::Is<OutputRange> Any, class Visit>
void visit_fields(Any& range, Visit& visit) {
  visit(range.begin, range.end);
  if (!std::is_const_v<Any> && range.begin > range.end) cluster::throw_malformed();
}

}  // namespace gsort

namespace gsort::cluster {

// A folder of runs, as one process sees it. Ranges are of elements of the whole input.
struct SeenFolder {
  std::string name;
  std::uint64_t store = 0;  // with the name, it identifies the folder, whatever its path is
  std::vector<OutputRange> runs;
};

// The work of one process.
struct RunTask {
  struct Folder {
    std::string name;
    std::uint64_t store = 0;
    std::vector<std::uint64_t> runs;  // the numbers, in the folder, of those that are used
  };
  std::vector<Folder> folders;       // it uses these, and removes them at the end
  std::vector<OutputRange> to_form;  // ascending; none is empty
};

// Returns the task of each process. `inputs`: the elements that each process can read. Either all
// can read the same ones, or each has its own, one after the other. `seen`: for each process, the
// folders whose runs hold elements that it can read.
[[nodiscard]] std::vector<RunTask> share_out(const std::vector<OutputRange>& inputs,
                                             bool has_own_inputs,
                                             const std::vector<std::vector<SeenFolder>>& seen);

template <Is<SeenFolder> Any, class Visit>
void visit_fields(Any& folder, Visit& visit) {
  visit(folder.name, folder.store, folder.runs);
}
template <Is<RunTask::Folder> Any, class Visit>
void visit_fields(Any& folder, Visit& visit) {
  visit(folder.name, folder.store, folder.runs);
}
template <Is<RunTask> Any, class Visit>
void visit_fields(Any& task, Visit& visit) {
  visit(task.folders, task.to_form);
}

}  // namespace gsort::cluster
