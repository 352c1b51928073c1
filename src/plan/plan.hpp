// The plan: every size and count of a sort. The pipeline carries out exactly this; --explain prints
// it. Types only: make_plan.hpp makes one.
//
// A sort usually has one of two shapes. An input that fits one chunk goes straight from sort to
// write: one read, one write. A larger one becomes runs, on disk if they do not fit in memory, and
// the output is merged from them part by part. If there are more runs than one merge can take
// (memory for a few blocks of each, or --batch-size), as few neighbouring runs as necessary are
// first merged into longer runs; neighbours keep the order of equal records.
//
// The other shapes are below, at Strategy: counting, --top, -m, --batch-elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/footprint.hpp"
#include "form/file_form.hpp"
#include "options/job.hpp"
#include "plan/decoding.hpp"
#include "plan/form_memory.hpp"
#include "plan/machine.hpp"

namespace gsort {

enum class EngineKind : std::uint8_t { kCpu, kCuda };

// A device that sorts.
struct DevicePlan {
  int ordinal = 0;
  std::string name;
  std::uint64_t budget_bytes = 0;  // of its memory
  // Buffers of the tier in its memory beyond the plan's run.device_buffers, which are those of the
  // smallest device.
  std::uint64_t more_buffers = 0;
  std::optional<double> link_bytes_per_second = std::nullopt;  // as of GpuFacts
  std::optional<unsigned> node = std::nullopt;                 // its pinned memory comes from there
};

// The strategies, each with its own sizes.

// A pipe, text, or compressed input: one chunk if it fits, else runs.
struct UnknownSize {};

// It fits: read, sort, write.
struct OneChunk {};

// Runs, then merged.
struct Spill {};

// Keys of 1 or 2 bytes.
struct CountKeys {};

// --top: candidates are kept while reading.
struct SelectPlan {
  unsigned workers = 0;
  std::uint64_t candidates = 0;       // room of each worker, in elements
  std::uint64_t candidate_bytes = 0;  // the same
};

// --merge: the inputs are runs.
struct InputMergePlan {
  std::uint64_t fan_in = 0;           // inputs merged at once; more than that become runs first
  std::uint64_t window_elements = 0;  // of each input in memory
  unsigned lanes = 0;
  std::uint64_t part_elements = 0;  // the most that the windows of fan_in inputs give to a lane
  std::uint64_t staging_bytes = 0;  // of each lane, if the output needs order
  std::uint64_t arena_bytes = 0;    // all of this
};

// --merge with --intersect or --subtract: windows of all inputs are compared.
struct SetPlan {
  std::uint64_t window_bytes = 0;  // of each input in memory
  std::uint64_t piece_bytes = 0;   // of the first input, which a core compares with all others
};

// --batch-elements, if memory holds several arrays. Longer arrays are separate sorts, one after the
// other, by the plan for one of them.
struct BatchPlan {
  unsigned lanes = 0;
  std::uint64_t longest_array = 0;   // an array that is longer than the input is the input
  std::uint64_t block_elements = 0;  // whole arrays that a lane sorts at once
};

using Strategy = std::variant<UnknownSize, OneChunk, Spill, CountKeys, SelectPlan, InputMergePlan,
                              SetPlan, BatchPlan>;

// Sizes of reading, and of chunks if these are sorted.
struct ChunkPlan {
  std::uint64_t block_bytes = 0;     // one read
  std::uint64_t chunk_elements = 0;  // the most a chunk holds
  unsigned lanes = 1;                // spread over the devices in turn
  bool is_shared = false;            // all devices hold one chunk, each in a lane of its own
  unsigned readers = 1;              // threads that read and add blocks
  unsigned spillers = 1;             // chunks that are put into runs at the same time
  std::uint64_t arena_bytes = 0;     // host memory of all lanes
};

// One step of the merge phase: every group of neighbouring runs becomes one run. A group of one is
// not changed.
struct MergeRound {
  std::vector<std::uint32_t> group_sizes;
};

// Sizes of the run format and its buffers, and the rounds of the merge.
struct RunPlan {
  std::uint64_t block_elements = 0;
  std::uint64_t write_buffer_bytes = 0;
  unsigned write_buffers = 0;
  std::uint64_t device_buffers = 0;  // the tier of device memory, of each device at least
  std::uint64_t kept_buffers = 0;    // the tier of host memory; only what does not fit is written
  std::uint64_t tier_bytes = 0;      // set aside for these buffers, and no less than kept_bytes()
  bool through_page_cache = false;   // written runs, unless --direct-io says otherwise
  std::uint64_t count = 0;           // of runs; 0 if unknown, or if there are none
  std::uint32_t fan_in = 0;          // the most runs of one merge
  std::vector<MergeRound> rounds;    // before the last merge, which writes the output

  // For a device with this many buffers more than the others.
  [[nodiscard]] std::uint64_t device_bytes(std::uint64_t more_buffers = 0) const {
    return CudaFootprint::allocated_bytes((device_buffers + more_buffers) * write_buffer_bytes);
  }
  [[nodiscard]] std::uint64_t kept_bytes() const { return kept_buffers * write_buffer_bytes; }
  [[nodiscard]] std::uint64_t write_buffers_bytes() const {
    return write_buffers * write_buffer_bytes;
  }
};

// Sizes of one merge of runs, good for any number of runs up to fan_in.
struct MergePlan {
  std::uint64_t part_elements = 0;        // the most of a part
  std::uint64_t least_part_elements = 0;  // towards the end; equal if all lanes are alike
  unsigned lanes = 1;
  unsigned loaders = 1;             // threads that load the slices of a lane's part
  std::uint64_t scratch_bytes = 0;  // read buffer of each loader
  std::uint64_t staging_bytes = 0;  // output buffer of each lane; 0 unless the output needs order
  std::uint64_t arena_bytes = 0;    // host memory of all lanes, these buffers included
};

// How the output is written.
struct OutputPlan {
  bool needs_order = false;       // pieces are put in order: a pipe, or as Job::needs_order()
  std::uint64_t least_bytes = 0;  // 0 if unknown
  bool makes_room_early = false;  // while input is read (io/output/early_room.hpp)
  EncodePlan encode;
  WriteWindows windows;  // of a regular file
};

struct Plan {
  Job job;
  std::uint64_t element_bytes = 0;
  std::uint64_t elements = 0;  // 0 with UnknownSize
  Strategy strategy;
  EngineKind engine = EngineKind::kCpu;
  std::string engine_reason;
  std::vector<DevicePlan> devices;  // none: the CPU engine
  unsigned threads = 1;
  std::uint64_t host_budget_bytes = 0;
  DecodingPlan decoding;
  std::uint64_t names_bytes = 0;  // for inputs, if there are many
  ChunkPlan chunk;
  ResumedRuns resumed;  // runs of an earlier process
  RunPlan run;
  OutputPlan output;
  std::vector<std::string> temporary_folders;  // for runs
  std::uint64_t temporary_bytes = 0;           // the most on disk at once
  std::uint64_t arena_bytes = 0;  // host memory reserved once for all lanes of all phases

  // For all devices.
  [[nodiscard]] std::uint64_t device_budget_bytes() const {
    std::uint64_t sum = 0;
    for (const DevicePlan& device : devices) sum += device.budget_bytes;
    return sum;
  }

  // The ordinal of a lane's device; none for a lane of the CPU engine, and for one that all devices
  // share.
  [[nodiscard]] std::optional<int> device_of_lane(std::size_t lane) const {
    if (devices.empty() || chunk.is_shared) return std::nullopt;
    return devices[lane % devices.size()].ordinal;
  }

  // The memory for kept runs on all devices.
  [[nodiscard]] std::uint64_t device_run_bytes() const {
    std::uint64_t sum = 0;
    for (const DevicePlan& device : devices) sum += run.device_bytes(device.more_buffers);
    return sum;
  }

  template <class Way>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<Way>(strategy);
  }
  // Requires: is<Way>().
  template <class Way>
  [[nodiscard]] const Way& as() const {
    return std::get<Way>(strategy);
  }
};

}  // namespace gsort
