// The request: the options of a sort, except those about its elements and its result. Rooms other
// than main, python, library and app get the request and the job (job.hpp), but not the Options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/direct_io.hpp"
#include "element/packing.hpp"
#include "form/file_form.hpp"

namespace gsort {

struct Options;  // options.hpp; only main, python, library and app see them

// The program that is called. It decides which options there are.
enum class Program : std::uint8_t { kGsort, kCluster };  // gsort, gsort-mpi

enum class EngineChoice : std::uint8_t { kAuto, kCuda, kCpu };
enum class CheckMode : std::uint8_t { kNone, kReport, kQuiet };  // none, -c, -C
enum class ExplainMode : std::uint8_t { kNone, kText, kJson };   // none, --explain[=text|json]
enum class ProgressMode : std::uint8_t { kAuto, kAlways, kNever, kJson };
enum class ColorMode : std::uint8_t { kAuto, kAlways, kNever };

// The source of the key type; reports show both. kDefault: no source, so the inputs may have
// another type; only parse_options() sets it.
enum class TypeSource : std::uint8_t {
  kCaller,  // a caller that filled in Options without a command line
  kOption,
  kSuffix,
  kEnvironment,
  kDefault,
  kHeader,     // only in a Job: the header of an input
  kRecordKeys  // every key of the records names its own
};

// --device: GPUs by their CUDA device numbers (a GPU named twice is two devices that share its
// memory), or all GPUs. With neither, gsort uses as many as make the sort faster.
struct DeviceChoice {
  std::vector<unsigned> listed;
  bool all = false;

  [[nodiscard]] bool is_auto() const { return listed.empty() && !all; }
  friend bool operator==(const DeviceChoice&, const DeviceChoice&) = default;
};

// The resources that a sort may use. Sizes are as typed: "512M", "50%".
struct Resources {
  std::optional<std::string> buffer_size;
  std::optional<std::string> gpu_memory;
  std::optional<unsigned> parallel;    // at least 1
  std::optional<unsigned> batch_size;  // at least 2
  EngineChoice engine = EngineChoice::kAuto;
  DeviceChoice devices;
};

// How bytes are transferred, and whether the result is verified. None of these changes the result.
struct Handling {
  DirectIo direct_io = DirectIo::kAuto;
  Packing packing = Packing::kAuto;
  bool verify = true;
  bool verify_encoding = false;  // for text and compressed output
};

// The options that choose the elements of the result. Options and Job have them, Request does not.
struct ResultOptions {
  bool unique = false;                     // one of each key
  bool count = false;                      // of keys: each comes out with its count
  std::optional<std::uint64_t> min_count;  // with count: only keys that occur at least so often
  std::optional<std::uint64_t> shuffle;    // the seed of a random order
  std::optional<std::uint64_t> top;        // only this many first elements
  bool merge = false;                      // every input is sorted already
  bool intersect = false;                  // with merge: the keys that all inputs have
  bool subtract = false;                   // with merge: those that only the first one has
  bool argsort = false;                    // positions of elements come out, not elements
  std::optional<std::uint64_t> batch_elements;  // arrays sorted on their own; at least 1

  // Whether inputs are keys with counts, and counts are added up.
  [[nodiscard]] bool adds_counts() const { return merge && count && !unique; }
  // Whether sorted inputs are compared, and not merged.
  [[nodiscard]] bool compares_inputs() const { return intersect || subtract; }
  // Whether one of each key comes out.
  [[nodiscard]] bool is_distinct() const { return unique || compares_inputs() || adds_counts(); }
};

// The reports for the user.
struct Reporting {
  int verbosity = 0;  // -1: errors only (-q), 0: as usual, 1: phases (-v), 2: decisions (-vv)
  ProgressMode progress = ProgressMode::kAuto;
  ColorMode color = ColorMode::kAuto;
  std::optional<std::string> stats;  // files for the summary and the spans of the sort
  std::optional<std::string> trace;
};

// The files of a sort. inputs is never empty; "-" is stdin. No output means stdout; the output "-"
// means stdout even if that is a terminal.
struct FileNames {
  std::vector<std::string> inputs;
  InputForm input_form;
  bool inputs_here = false;  // only this process, or its share, has these inputs
  std::optional<std::string> output;
  std::optional<std::string> resume;     // the folder of a sort that can be resumed
  std::optional<unsigned> split_output;  // number of parts; `output` then has "{}" once
  // For gsort-mpi: one part for each process. `output` then has "{rank}" once, and split_output is
  // the number of processes, when it is known.
  bool parts = false;
  bool writes_into_file = false;                   // into an existing output, without renaming
  std::vector<std::string> temporary_directories;  // as given; empty: the default of the plan
  std::string tmpdir;                              // $TMPDIR, for that default; empty: not set

  // The names of all parts, or of the output; "-" is stdout.
  [[nodiscard]] std::vector<std::string> outputs() const;
  // The folders for runs: those that were requested, else $TMPDIR, else the folder of the output
  // (empty: it has none), else /var/tmp.
  [[nodiscard]] std::vector<std::string> temporary_folders(const std::string& output_folder) const;
};

// A function that needs only one of these bases takes that base.
struct Request : FileNames, Resources, Handling, Reporting {
  CheckMode check = CheckMode::kNone;
  bool fingerprint = false;             // print the fingerprint of all elements, and sort nothing
  std::optional<std::string> expected;  // the fingerprint that check or fingerprint must find
  ExplainMode explain = ExplainMode::kNone;
  bool each = false;       // sort every input separately: see options_of_each()
  bool keep_rates = true;  // GSORT_CACHE: read and write the file of measured rates
};

// Returns the request in the options.
[[nodiscard]] const Request& request_of(const Options& options);

// For reports: "-t", "the suffix of the first input", "GSORT_TYPE", "the default".
[[nodiscard]] const char* describe(TypeSource source);

}  // namespace gsort
