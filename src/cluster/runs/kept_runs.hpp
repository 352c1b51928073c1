// KeptRuns: what --resume=DIR keeps, as this process sees it.
//
// Each process that forms runs makes a folder of its own in DIR, DIR/gsort-0123456789abcdef: a
// ResumeFolder whose manifest says which elements of the input each run holds. A later sort of the
// same input looks at all such folders that its processes see, and shares out what is there and
// what is missing (run_tasks.hpp). It adds nothing to folders of others; at its end it removes them
// together with its own. So a folder is written by one process, and any number of processes can go
// on with it. An empty hidden file in DIR says that gsort-mpi made it, and removes it at the end.
//
// Life: agree(); take_up() gives the runs that are there; begin() and add() tell of new ones;
// expect_commit() and remove() come before and after the output gets its name. Without remove(),
// all completed runs stay.
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
#include "options/options.hpp"
#include "pipeline/proof/proof.hpp"
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
  // `wanted` is the manifest of this sort, without runs. This process can read elements `readable`
  // of the whole input. The team and the options, of which it uses DIR, outlive it.
  // Throws: Error(kTemporary) when DIR cannot be made; with --explain, it is not made.
  KeptRuns(Team& team, const Options& options, io::Manifest wanted, const OutputRange& readable);
  // Leaves no folder without runs.
  ~KeptRuns();
  KeptRuns(const KeptRuns&) = delete;
  KeptRuns& operator=(const KeptRuns&) = delete;

  // Together: returns what this process forms, and locks the folders that it goes on with, but not
  // with --explain. Throws: Error(kTemporary) where a folder is damaged, in use, or of another
  // sort, saying what differs; as Team.
  [[nodiscard]] std::vector<OutputRange> agree();

  // After agree(): what this process goes on with.
  [[nodiscard]] const ResumedRuns& resumed() const { return resumed_; }
  // DIR, or where it would be made.
  [[nodiscard]] std::string existing_folder() const;

  // These runs, to be called once. Throws: Error(kTemporary).
  [[nodiscard]] std::vector<PlacedRun> take_up(const Plan& plan, const Options& options,
                                               Proof& proof);
  // The largest scratch that one of them needs, and what has been read of them.
  [[nodiscard]] std::uint64_t scratch_bytes() const;
  [[nodiscard]] std::uint64_t bytes_read() const;

  // The place of new runs, to be called once; then its path. Throws: Error(kTemporary).
  [[nodiscard]] io::PersistentStore begin(std::uint64_t block_elements);
  [[nodiscard]] const std::string& own_folder() const { return own_->path(); }
  // A run is whole, of elements from `first` on. To be called in their order.
  // Throws: Error(kTemporary).
  void add(io::RunStore& store, const io::Run& run, const Fingerprint& elements,
           std::uint64_t first);

  // The output is written, and gets its name next. Throws: Error(kTemporary).
  void expect_commit();
  // Together: the output has its name, and no run is used any more. Returns, in rank 0, what could
  // not be removed, as text for the user.
  [[nodiscard]] std::string remove();

 private:
  // A folder of an earlier process that this one goes on with.
  struct TakenFolder {
    TakenFolder(const std::string& path, io::ResumeAccess access, std::vector<std::uint64_t> used)
        : folder(path, access), runs(std::move(used)) {}

    io::ResumeFolder folder;
    std::vector<std::uint64_t> runs;  // numbers of those that are used
    std::optional<io::RunStore> store;
  };
  // The refusal of a folder whose inputs are not those of this process.
  struct Foreign {
    SeenFolder folder;
    bool has_our_names = false;  // but the inputs have changed, or the sort differs
    std::string path;
    std::string reason;
    std::string hint;
  };

  [[nodiscard]] bool only_looks() const { return options_.explain != ExplainMode::kNone; }
  [[nodiscard]] std::string path_of(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  void look();
  void look_at(const std::string& name);
  [[nodiscard]] SeenFolder seen(const std::string& name, const io::ResumeFolder& folder) const;
  [[nodiscard]] Error refusal(const Error& error, bool is_committing) const;
  [[nodiscard]] Message own_view() const;
  [[nodiscard]] Message tasks_of(const std::vector<Message>& views) const;
  void take(const RunTask::Folder& folder);
  void remove_folder(io::ResumeFolder& folder, io::Manifest manifest) const;
  void remove_all();
  void remove_dir() const;

  Team& team_;
  const Options& options_;
  const std::string dir_;
  io::Manifest manifest_;  // of the own folder
  const OutputRange readable_;
  std::vector<SeenFolder> seen_;
  std::vector<Foreign> foreign_;
  ResumedRuns resumed_;
  std::list<TakenFolder> taken_;
  std::optional<io::ResumeFolder> own_;
};

}  // namespace gsort::cluster
