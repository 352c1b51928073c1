// The plan: every size and count of a sort, a pure function of what was asked and what the machine
// has. The pipeline carries out exactly this; --explain prints it.
//
// Two shapes of sort. If the input fits one chunk it goes straight from sort to write: one read,
// one write. If not, chunks become runs on disk, and the output is merged from them part by part;
// when there are more runs than one merge can take (memory for a few blocks of each, or
// --batch-size), runs are first merged into longer runs, as few as will do, neighbours with
// neighbours so that their order stays.
//
// Keys of one and two bytes are counted instead: one read, one write, whatever the size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "element/key.hpp"
#include "element/record.hpp"
#include "engine/footprint.hpp"
#include "form/file_form.hpp"
#include "options/job.hpp"
#include "plan/decoding.hpp"
#include "plan/form_memory.hpp"
#include "plan/machine.hpp"

namespace gsort {

enum class EngineKind : std::uint8_t { kCpu, kCuda };
enum class Strategy : std::uint8_t {
  kCount,       // keys of 1 or 2 bytes
  kSelect,      // --top: candidates are kept while reading
  kInputMerge,  // --merge: sorted inputs are merged as they are read
  kArrays,      // --batch-elements: whole arrays are sorted in memory
  kOneChunk,    // fits: read, sort, write
  kSpill,       // runs on disk, then merged
  kUnknown,     // a pipe, text, or compressed: one chunk if it turns out to fit, else runs
};

// Sizes of run formation.
struct ChunkPlan {
  std::uint64_t block_bytes = 0;     // one read
  std::uint64_t chunk_elements = 0;  // the most a chunk holds
  unsigned lanes = 1;
  unsigned readers = 1;           // threads that read and add blocks
  std::uint64_t arena_bytes = 0;  // host memory of all lanes
};

// Sizes of a selection.
struct SelectPlan {
  unsigned workers = 0;
  std::uint64_t candidates = 0;       // room of each worker, in elements
  std::uint64_t candidate_bytes = 0;  // the same
};

// Sizes of merging inputs that are sorted already.
struct InputMergePlan {
  std::uint64_t inputs = 0;           // 0: they are not
  std::uint64_t fan_in = 0;           // inputs merged at once; more than that become runs first
  std::uint64_t window_elements = 0;  // of each input in memory
  unsigned lanes = 0;
  std::uint64_t part_elements = 0;  // what the windows of fan_in inputs give to a lane at most
  std::uint64_t staging_bytes = 0;  // of each lane, where the output is a stream
  std::uint64_t arena_bytes = 0;    // all of this
};

// Sizes of sorting many arrays by themselves.
struct BatchPlan {
  std::uint64_t array_elements = 0;  // 0: the input is one array
  unsigned lanes = 0;                // 0: one array after the other, each as a sort of its own
  std::uint64_t longest_array = 0;   // an array that is longer than the input is the input
  std::uint64_t block_elements = 0;  // whole arrays that a lane sorts at once
};

// Sizes of the run format and its buffers.
struct RunPlan {
  std::uint64_t block_elements = 0;
  std::uint64_t write_buffer_bytes = 0;
  unsigned write_buffers = 0;
  std::uint64_t device_buffers = 0;  // the tier of device memory
  std::uint64_t kept_buffers = 0;    // the tier of host memory; only what does not fit is written
  std::uint64_t tier_bytes = 0;      // set aside for these buffers, and no less than kept_bytes()
  bool through_page_cache = false;   // what is written, unless --direct-io says otherwise

  [[nodiscard]] std::uint64_t device_bytes() const {
    return CudaFootprint::allocated_bytes(device_buffers * write_buffer_bytes);
  }
  [[nodiscard]] std::uint64_t kept_bytes() const { return kept_buffers * write_buffer_bytes; }
  [[nodiscard]] std::uint64_t write_buffers_bytes() const {
    return write_buffers * write_buffer_bytes;
  }
};

// Sizes of one merge of runs, good for any number of runs up to fan_in.
struct MergePlan {
  std::uint64_t part_elements = 0;
  unsigned lanes = 1;
  unsigned loaders = 1;             // threads that load the slices of a lane's part
  std::uint64_t scratch_bytes = 0;  // read buffer of each loader
  std::uint64_t staging_bytes = 0;  // output buffer of each lane; 0 unless the output is a stream
  std::uint64_t arena_bytes = 0;    // host memory of all lanes, these buffers included
};

// One step of the merge phase: every group of neighbouring runs becomes one run. A group of one
// stays as it is.
struct MergeRound {
  std::vector<std::uint32_t> group_sizes;
};

struct Plan {
  Job job;
  std::uint64_t element_bytes = 0;
  Strategy strategy = Strategy::kUnknown;
  EngineKind engine = EngineKind::kCpu;
  std::string engine_reason;
  int device = 0;
  unsigned threads = 1;
  std::uint64_t elements = 0;            // 0 with kUnknown
  bool output_is_stream = false;         // written in order: a pipe, text, compressed, or unique
  std::uint64_t least_output_bytes = 0;  // 0 where nobody can know
  EncodePlan encode;
  WriteWindows write_windows;  // of an output that is a regular file
  DecodingPlan decoding;
  std::uint64_t host_budget_bytes = 0;
  std::uint64_t device_budget_bytes = 0;  // 0: CPU engine
  ChunkPlan chunk;
  SelectPlan select;
  BatchPlan batch;
  InputMergePlan input_merge;
  RunPlan run;
  ResumedRuns resumed;                // runs that are there
  std::uint32_t fan_in = 0;           // the most runs of one merge
  std::uint64_t run_count = 0;        // 0 with kUnknown
  std::vector<MergeRound> rounds;     // before the last merge, which writes the output
  std::uint64_t temporary_bytes = 0;  // the most on disk at once
  std::uint64_t arena_bytes = 0;      // host memory reserved once for all lanes of all phases
};

// Throws: Error(kUsage) when -S or --gpu-memory is too small (the message says the least that does)
// or too large; Error(kDevice) for --engine cuda without a usable GPU; Error(kResource) when the
// runs or the output do not fit the disks.
[[nodiscard]] Plan make_plan(const Job& job, const Machine& machine);

// The rounds before the last merge, which takes at most `fan_in` runs. Requires: fan_in >= 2.
[[nodiscard]] std::vector<MergeRound> plan_rounds(std::uint64_t run_count, std::uint32_t fan_in);

// The sizes of a merge of `runs` runs under the plan's memory. Requires: runs <= plan.fan_in.
// `total_elements` is what it will give: short merges get short parts, so that all lanes have work.
[[nodiscard]] MergePlan plan_merge(const Plan& plan, std::uint32_t runs,
                                   std::uint64_t total_elements);

}  // namespace gsort
