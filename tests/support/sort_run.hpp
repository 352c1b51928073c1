// A whole sort in a folder of its own: input as files or a pipe, a plan under a small budget, any
// engine, output as a file in any form or a pipe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "pipeline/sort_job.hpp"
#include "plan/plan.hpp"
#include "support/sorted_copy.hpp"

namespace gsort::test {

// The set operation that compares sorted inputs instead of merging them.
enum class SetOperation : std::uint8_t { kNone, kIntersect, kSubtract };

struct SortRequest {
  KeyFormat format;
  std::optional<RecordFormat> records;  // the form of elements that are not keys alone
  Bytes input;
  std::vector<Bytes> merged;  // --merge: inputs, each in order, in place of `input`
  SetOperation set_operation = SetOperation::kNone;  // on sorted inputs
  std::string budget = "64M";                        // -S
  // --gpu-memory of each device; none: an engine other than CUDA's, or one that sorts by its plan.
  std::optional<std::string> gpu_memory;
  unsigned devices = 1;
  bool shares_chunk = false;  // all devices hold a chunk that fits one together, never a larger one
  unsigned threads = 2;
  std::optional<unsigned> batch_size;
  bool from_pipe = false;   // for several inputs, the last one
  Bytes header;             // before the elements of each input (--skip)
  Bytes trailer;            // after them (--skip-end; for a pipe, --elements)
  bool from_array = false;  // keys in memory, in NumPy's order
  bool to_pipe = false;
  bool to_null = false;  // /dev/null; the result has no output
  Packing packing = Packing::kAuto;
  bool verify = true;
  bool verify_encoding = false;
  bool unique = false;
  // With unique: keys come out with their counts. Without: `merged` has keys with their counts.
  std::optional<std::uint64_t> min_count;
  bool argsort = false;                  // positions come out
  std::optional<std::uint64_t> shuffle;  // the seed of a random order
  std::optional<std::uint64_t> top;
  std::optional<std::uint64_t> batch_elements;
  std::optional<FileFormat> output_format;
  std::optional<Codec> compress;
  unsigned parts = 1;                      // of a split file; the result has them joined
  std::function<void(Plan&)> change_plan;  // for sizes that no budget would give
  std::optional<Bytes> old_output;         // the content of the output before
  EngineMaker make_engine;
  TierMaker make_tier;  // none: runs do not stay on a device
  // The buffers of each device's tier, which replace those in host memory.
  std::uint64_t device_buffers = 0;
  bool may_lose_devices = false;  // a device that fails is left out, as with --engine=auto
  Meter* meter = nullptr;
};

struct SortResult {
  Plan plan;
  Outcome outcome;
  std::optional<Error> error;                  // the Error of run_sort
  std::optional<Bytes> output;                 // none if there is no such file
  std::vector<std::string> left_in_temporary;  // names of the files left there
  std::vector<std::string> left_in_folder;     // names beside input and output
};

// The engine makers by name: "cpu", "cuda", "cuda_x2", "cuda_x4", "std", "std_x3".
[[nodiscard]] EngineMaker engine_maker(const std::string& name);

// The engines for tests of whole sorts. By default, a seed chooses one of "std" and "std_x3"
// (some_of.hpp).
[[nodiscard]] std::vector<const char*> engines_of_sorts();

// Lets that engine carry out the request. The CUDA engine has little memory on the device instead
// of on the host, where its buffers alone take more than the budgets of these tests. "std_x3" is
// the engine "std" by the plan for three devices.
void use_engine(SortRequest& request, const std::string& name);

// Lets the request, which has gpu_memory, use the plan for a larger input, but with chunks of this
// many elements: a small input becomes many runs.
void make_chunks_short(SortRequest& request, std::uint64_t chunk_elements);

// Plans and sorts. Throws what planning throws; an Error of the sort itself is part of the result.
[[nodiscard]] SortResult sort_in_folder(const SortRequest& request);

}  // namespace gsort::test
