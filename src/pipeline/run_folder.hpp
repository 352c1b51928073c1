// RunFolder: keeps the progress of a sort in a folder after every run, so that the next process
// with the same job continues after the last one. It keeps whole runs, of chunks or of runs merged
// before the last merge; so at most one run is made again.
//
// A job is the same if its options for runs are, and every input has the same size, the same time
// of its last change, and, as far as they can be sampled, the same elements. Inputs whose size is
// known only after reading are read again up to the end of the runs, and compared by fingerprint. A
// sort that ended while its output got its name may have replaced an input. This is an error, too:
// the output would be sorted again, in another form, or together with inputs whose elements it
// already holds.
//
// Life: the constructor compares jobs; begin() opens the store's file; take_up() returns the
// existing runs; add() and replace() record every new one; expect_commit() and finish() come before
// and after the output's commit; then nothing is left. For one thread.
//
// The folder may also hold the runs of a share that other processes merge: complete() lets them
// stay. Or it holds the runs of one process of gsort-mpi, with their places in the input
// (cluster/runs).
#pragma once

#include <list>
#include <span>
#include <string>
#include <vector>

#include "element/fingerprint.hpp"
#include "io/input/reader.hpp"
#include "io/runs/resume_folder.hpp"
#include "io/runs/run_store.hpp"
#include "pipeline/proof/proof.hpp"
#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort {

// The manifest of a job and its inputs, without runs. Requires: nothing has been taken from the
// reader. Throws: Error(kUsage) if an input cannot be read a second time.
[[nodiscard]] io::Manifest manifest_of(const std::string& job, std::uint64_t element_bytes,
                                       const io::Reader& reader);

// Whether both are of the same inputs, whatever their paths are.
[[nodiscard]] bool have_same_inputs(const io::Manifest& a, const io::Manifest& b);

// Throws: Error(kTemporary) with the difference, if `folder` holds runs of another job than
// `wanted`, or the inputs have changed since. Requires: the folder has a manifest.
void require_same_job(const io::ResumeFolder& folder, const io::Manifest& wanted);

// The fingerprint of the elements in these runs.
[[nodiscard]] Fingerprint fingerprint_of(std::span<const io::ManifestRun> runs);

// Returns the path `folder` without slashes at its end; "/" stays.
[[nodiscard]] std::string without_slash(std::string folder);

// The stores of runs in folders that are only read.
class KeptStores {
 public:
  // The store of the runs of a folder, which outlives it and has a manifest. Throws:
  // Error(kTemporary).
  [[nodiscard]] io::RunStore& open(const Plan& plan, io::ResumeFolder& folder);
  void close();

  // The store with the largest blocks; null if none is open.
  [[nodiscard]] io::RunStore* largest() const { return largest_; }
  [[nodiscard]] std::uint64_t bytes_read() const;

 private:
  std::list<io::RunStore> stores_;
  io::RunStore* largest_ = nullptr;
};

class RunFolder {
 public:
  // `wanted` has the manifest of the job. Requires: the reader outlives this, and nothing has been
  // read from it. Throws: Error(kTemporary) if the folder may not be used, or holds another job,
  // with the difference; Error(kUsage) as require_readable().
  RunFolder(io::WantedFolder wanted, io::ResumeAccess access, io::Reader& reader);
  // Leaves nothing behind if there are no runs to continue from.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return folder_.path(); }
  // Whether the folder exists; kLook does not make it.
  [[nodiscard]] bool has_folder() const { return folder_.exists(); }
  // The runs of an earlier process.
  [[nodiscard]] const ResumedRuns& found() const { return found_; }
  [[nodiscard]] std::uint64_t memory_bytes() const {
    return io::manifest_memory(io::encoded_bytes(manifest_));
  }

  // The place of the runs, with blocks of at most `block_elements`; made at the first call.
  [[nodiscard]] io::PersistentStore begin(std::uint64_t block_elements);

  // The existing runs, in order; the reader and `proof` then continue after their elements. Throws:
  // Error, also if the inputs have changed.
  [[nodiscard]] std::vector<io::Run> take_up(io::RunStore& store, Proof& proof);

  // Sets the number, among all elements of the inputs, at which the next run begins. Requires: the
  // manifest has places.
  void begin_at(std::uint64_t element) { next_element_ = element; }

  // Adds a whole run of elements after those of all runs so far, with their fingerprint. Requires:
  // one thread spills (plan.chunk.spillers).
  void add(io::RunStore& store, const io::Run& run, const Fingerprint& elements);

  // Replaces the runs of `group`, from number `first` on, by the run `merged` that was made from
  // them.
  void replace(io::RunStore& store, std::size_t first, std::span<io::Run> group,
               const io::Run& merged);

  // Call it when the output is written and will get its name next. Throws: Error(kTemporary).
  void expect_commit();

  // Call it when the output has its name: removes the runs. Files that cannot be removed become a
  // note.
  void finish();

  // Call it when all runs of `share` exist: they stay, for the processes that make the output.
  void complete(const io::ManifestShare& share);

  // Removes the folder, or its files if gsort did not make it. Throws: Error(kTemporary).
  void remove();

  // The same if no sort may continue from it. Needs no space.
  void discard();

  // For -v: "dir: continuing after 3 runs of 4,000 elements".
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  void skip(std::uint64_t elements, Proof& proof);

  io::Reader& reader_;
  io::ResumeFolder folder_;
  io::Manifest manifest_;
  ResumedRuns found_;
  std::uint64_t next_element_ = 0;
  bool has_begun_ = false;
  std::vector<std::string> notes_;
};

}  // namespace gsort
