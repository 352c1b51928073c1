// Who forms what: of the runs that earlier processes have left, which process goes on with which,
// and what of the input each one forms anew. A pure function of what all see, so that any number of
// processes, on any hosts, can go on with a sort.
//
// A folder that several processes see is given to one of them. What no run holds that anybody sees
// is divided equally among all processes, or is formed by the one that has these inputs. Where runs
// overlap, because a host that was away has come back with its runs, the one that begins first is
// used; the others are only removed at the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "cluster/message.hpp"
#include "pipeline/part_queue.hpp"

namespace gsort::cluster {

// A folder of runs, as one process sees it. Ranges are of elements of the whole input.
struct SeenFolder {
  std::string name;
  std::uint64_t store = 0;  // with the name, it says which folder it is, whatever its path
  std::vector<OutputRange> runs;
};

// What a process is to do.
struct RunTask {
  struct Folder {
    std::string name;
    std::uint64_t store = 0;
    std::vector<std::uint64_t> runs;  // the numbers, in the folder, of those that are used
  };
  std::vector<Folder> folders;       // which it uses, and removes at the end
  std::vector<OutputRange> to_form;  // ascending; none is empty
};

// By process: its task. `inputs` are the elements that each process can read: all can read the same
// ones, or each has some, which follow each other. `seen`, by process: folders whose runs are of
// elements that it can read.
[[nodiscard]] std::vector<RunTask> share_out(const std::vector<OutputRange>& inputs,
                                             bool has_own_inputs,
                                             const std::vector<std::vector<SeenFolder>>& seen);

[[nodiscard]] Message to_message(const std::vector<SeenFolder>& folders);
[[nodiscard]] std::vector<SeenFolder> to_seen_folders(ConstByteSpan message);

void put_task(MessageWriter& to, const RunTask& task);
[[nodiscard]] RunTask take_task(MessageReader& from);

}  // namespace gsort::cluster
