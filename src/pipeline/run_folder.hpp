// RunFolder: how far a sort has come, told to a folder after every run, so that the next process
// with the same job goes on behind the last one. What is kept are whole runs, of chunks or of runs
// merged before the last merge; so at most one run is made again.
//
// A job is the same when its options for runs are, and every input has the size, the time of its
// last change, and, as far as they can be sampled, the elements that it had. Inputs of which only
// reading tells the size are read again up to where the runs end, and compared by fingerprint.
// A sort that was about to put its output in place may have replaced an input with it. That is
// refused, too: it would be sorted once more, in another form than it has, or together with inputs
// whose elements are in it already.
//
// Life: the constructor compares; begin() opens the store's file; take_up() gives the runs that are
// there; add() and replace() tell of every new one; expect_commit() and finish() come before and
// after the output's commit; then nothing is left. For one thread.
//
// The same folder holds the runs of a share that others merge: complete() lets them stay. It also
// holds those of one process of several, with their places in the input (cluster/runs).
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
// reader. Throws: Error(kUsage) when an input cannot be read a second time.
[[nodiscard]] io::Manifest manifest_of(const std::string& job, std::uint64_t element_bytes,
                                       const io::Reader& reader);

// Whether both are of the same inputs, whatever their paths are.
[[nodiscard]] bool have_same_inputs(const io::Manifest& a, const io::Manifest& b);

// Throws: Error(kTemporary), saying what differs, if `folder` holds runs of another job than
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
  // `wanted` is the manifest of the job, without runs. Requires: the reader outlives it, and
  // nothing has been taken from it. Throws: Error(kTemporary) when the folder may not be used, or
  // holds another job, saying what differs; Error(kUsage) as require_readable().
  RunFolder(const std::string& folder, io::ResumeAccess access, io::Manifest wanted,
            io::Reader& reader, std::uint64_t most_manifest_bytes = io::kMostManifestBytes);
  // Leaves nothing where there are no runs to go on with.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return folder_.path(); }
  // Whether the folder is there; kLook does not make it.
  [[nodiscard]] bool has_folder() const { return folder_.exists(); }
  // The runs of before.
  [[nodiscard]] const ResumedRuns& found() const { return found_; }
  [[nodiscard]] std::uint64_t memory_bytes() const {
    return io::manifest_memory(io::encoded_bytes(manifest_));
  }

  // The place of the runs, with blocks of at most `block_elements`; made at the first call.
  [[nodiscard]] io::PersistentStore begin(std::uint64_t block_elements);

  // The runs that are there, in order; the reader and `proof` then stand behind their elements.
  // Throws: Error, also when the inputs are not what they were.
  [[nodiscard]] std::vector<io::Run> take_up(io::RunStore& store, Proof& proof);

  // The next run begins at this element of all that the inputs hold. Requires: the manifest has
  // places.
  void begin_at(std::uint64_t element) { next_element_ = element; }

  // A run is whole, of elements behind those of all runs so far, with that fingerprint. Requires:
  // one thread spills (plan.chunk.spillers).
  void add(io::RunStore& store, const io::Run& run, const Fingerprint& elements);

  // The runs that come `first` and after, which are gone then, were merged into `merged`.
  void replace(io::RunStore& store, std::size_t first, std::span<io::Run> group,
               const io::Run& merged);

  // The output is written, and put in its place next. Throws: Error(kTemporary).
  void expect_commit();

  // The output is there. What cannot be removed becomes a note.
  void finish();

  // The runs are all of `share`: they stay, for the processes that make the output.
  void complete(const io::ManifestShare& share);

  // Removes the folder, or its files if gsort did not make it. Throws: Error(kTemporary).
  void remove();

  // The same where no sort may go on, which needs no space.
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
