// KeptRuns: the runs that --resume=DIR keeps, as this process sees them.
//
// Each process that forms runs makes a folder of its own in DIR, DIR/gsort-0123456789abcdef: a
// ResumeFolder whose manifest says which elements of the input each run holds. A later sort of the
// same input finds all such folders that its processes see, and divides the runs and the rest of
// the input among its processes (run_tasks.hpp). It adds nothing to folders of others; at its end
// it removes them together with its own. So one process writes a folder, and any number of
// processes can use it later. If gsort-mpi made DIR, an empty hidden file in DIR says so, and
// gsort-mpi removes DIR at the end.
//
// Order of calls: agree(); take_up() gives the runs of earlier sorts; begin() makes the folder of
// new ones; expect_commit() and remove() come before and after the output gets its name. Without
// remove(), all completed runs stay.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/runs/run_tasks.hpp"
#include "cluster/team.hpp"
#include "io/runs/resume_folder.hpp"
#include "io/runs/run_store.hpp"
#include "options/request.hpp"
#include "pipeline/proof/proof.hpp"
#include "pipeline/run_folder.hpp"
#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort::cluster {

// A run, and the number of its first element in the whole input.
struct PlacedRun {
  std::uint64_t first = 0;
  io::Run run;
};

class KeptRuns {
 public:
  // `wanted` is the manifest of this sort, with places, without runs. This process can read
  // elements `readable` of the whole input. The team and the request, which names DIR, outlive it.
  // Makes DIR, except with --explain. Throws: Error(kTemporary) if that fails.
  KeptRuns(Team& team, const Request& request, io::Manifest wanted, const OutputRange& readable);
  // Leaves no folder without runs.
  ~KeptRuns();
  KeptRuns(const KeptRuns&) = delete;
  KeptRuns& operator=(const KeptRuns&) = delete;

  // Together: returns the elements of which this process forms runs. Locks the folders it uses,
  // except with --explain. Throws: Error(kTemporary) if a folder is damaged, in use, or of another
  // sort, saying what differs; as Team.
  [[nodiscard]] std::vector<OutputRange> agree();

  // After agree(): the earlier runs that this process uses.
  [[nodiscard]] const ResumedRuns& resumed() const { return resumed_; }
  // The memory of all manifests that this process holds.
  [[nodiscard]] std::uint64_t manifest_memory_bytes() const;
  // DIR, or the folder in which DIR would be made.
  [[nodiscard]] std::string existing_folder() const;

  // Returns these runs. Call it once. Throws: Error(kTemporary).
  [[nodiscard]] std::vector<PlacedRun> take_up(const Plan& plan, Proof& proof);
  // Their stores.
  [[nodiscard]] const KeptStores& stores() const { return stores_; }

  // The folder of new runs. Call begin() once. Throws: Error(kTemporary).
  [[nodiscard]] RunFolder& begin(io::Reader& reader);
  [[nodiscard]] RunFolder& own() { return *own_; }

  // Call it when the output is written, before it gets its name. Throws: Error(kTemporary).
  void expect_commit();
  // Together, when the output has its name and no process uses runs any more. Returns, in rank 0, a
  // text for the user that names what could not be removed.
  [[nodiscard]] std::string remove();

 private:
  // A folder of an earlier process that this one uses.
  struct TakenFolder {
    TakenFolder(const std::string& path, io::ResumeAccess access, std::uint64_t most_bytes,
                std::vector<std::uint64_t> used)
        : folder(path, access, most_bytes, io::ResumePath::kOfGsort), runs(std::move(used)) {}

    io::ResumeFolder folder;
    std::vector<std::uint64_t> runs;  // numbers of those that are used
  };
  // A folder whose inputs are not those of this process, and the error.
  struct Foreign {
    std::string name;
    std::uint64_t store = 0;
    bool has_our_names = false;  // its inputs have our names, but have changed, or the sort differs
    std::string path;
    std::string reason;
    std::string hint;
  };
  template <Is<Foreign> Any, class Visit>
  friend void visit_fields(Any& foreign, Visit& visit) {
    visit(foreign.name, foreign.store, foreign.has_our_names, foreign.path, foreign.reason,
          foreign.hint);
  }
  // The folders that this process sees, as it tells rank 0.
  struct View {
    OutputRange readable;  // elements of the whole input
    std::vector<SeenFolder> seen;
    std::vector<Foreign> foreign;
  };
  template <Is<View> Any, class Visit>
  friend void visit_fields(Any& view, Visit& visit) {
    visit(view.readable, view.seen, view.foreign);
  }

  [[nodiscard]] bool only_looks() const { return request_.explain != ExplainMode::kNone; }
  [[nodiscard]] std::string path_of(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  void look();
  void look_at(const std::string& name);
  [[nodiscard]] SeenFolder seen(const std::string& name, const io::ResumeFolder& folder) const;
  [[nodiscard]] Error refusal(const Error& error, bool is_committing) const;
  [[nodiscard]] Message tasks_of(const std::vector<Message>& views) const;
  void take(const RunTask::Folder& folder);
  void remove_all();
  void remove_dir() const;

  Team& team_;
  const Request& request_;
  const io::WantedFolder wanted_;  // DIR, and the manifest of this process's folder in it
  View view_;
  ResumedRuns resumed_;
  std::list<TakenFolder> taken_;
  KeptStores stores_;
  std::optional<RunFolder> own_;
};

}  // namespace gsort::cluster
