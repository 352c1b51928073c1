// The facts about the machine and the files that the plan needs, from a survey of the real machine
// or invented by tests (8 TB of data, 2 GB of memory).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "form/decoding.hpp"
#include "plan/rates.hpp"

namespace gsort {

struct GpuFacts {
  int device = 0;
  std::string name;
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
  // The rate of its bus, each way; none: unknown.
  std::optional<double> link_bytes_per_second = std::nullopt;
  // The NUMA node to which it is attached; none: there is only one, or it is unknown.
  std::optional<unsigned> node = std::nullopt;
};

struct Folder {
  std::string path;
  std::uint64_t file_system = 0;  // folders with the same number share their space
  std::uint64_t free_bytes = 0;
  std::string_view memory_kind;  // tmpfs or the like: files in it count as memory; else empty
  int problem = 0;  // an errno: it cannot be used; this matters only if runs are spilled

  [[nodiscard]] bool is_memory() const { return !memory_kind.empty(); }
};

// An input that is compressed, or a stream that may be.
struct CompressedInput {
  std::string path;
  DecoderNeed need;
};

// The runs of the same sort that an earlier process has left.
struct ResumedRuns {
  std::uint64_t runs = 0;            // 0: there are none
  std::uint64_t elements = 0;        // in them: the first ones of the input
  std::uint64_t block_elements = 0;  // of their blocks, which new runs must keep to
};

struct Machine {
  unsigned cores = 1;
  unsigned processes = 1;             // of a gsort-mpi job: each has an equal part of memory
  std::uint64_t memory_bytes = 0;     // of one process; -S 100%
  std::uint64_t available_bytes = 0;  // including limits of containers
  std::vector<GpuFacts> gpus;         // empty: none, or not searched; best first
  std::string no_gpu_reason;          // the reason if gpus is empty
  std::vector<Folder> temporary;      // where runs may be spilled
  std::optional<Folder> output;       // none: a pipe or a device
  // The file that the output is written into when it is complete in `output`, and its bytes.
  std::optional<Folder> written_into;
  std::uint64_t written_into_bytes = 0;
  bool output_is_null = false;               // a device that takes pieces in any order
  std::optional<std::uint64_t> input_bytes;  // of raw keys; none: unknown
  bool input_is_cached = false;              // the page cache, or a tmpfs, has most of it
  std::uint64_t names_bytes = 0;             // memory for the inputs' names and states
  std::vector<CompressedInput> compressed;
  ResumedRuns resumed;
  Rates rates;  // of earlier sorts
};

// The machine after device `ordinal`, or each of them, has failed with `reason`.
[[nodiscard]] inline Machine without_device(Machine machine, std::optional<int> ordinal,
                                            const std::string& reason) {
  std::erase_if(machine.gpus,
                [&](const GpuFacts& gpu) { return !ordinal || gpu.device == *ordinal; });
  if (machine.gpus.empty()) machine.no_gpu_reason = reason;
  return machine;
}

// The same machine with unlimited room for files.
[[nodiscard]] inline Machine with_room(Machine machine) {
  if (machine.output) machine.output->free_bytes = UINT64_MAX;
  for (Folder& folder : machine.temporary) folder.free_bytes = UINT64_MAX;
  return machine;
}

}  // namespace gsort
