// The options: the command line and the environment as typed values, before anything is known about
// the machine or the files. Sizes that may be percentages stay text here (their syntax is
// checked); the plan resolves them.
//
// Read next: option_table.cpp, the one table that the parser and all help texts are made from.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/direct_io.hpp"
#include "element/key.hpp"
#include "element/packing.hpp"
#include "element/record_format.hpp"
#include "form/file_form.hpp"

namespace gsort {

enum class EngineChoice : std::uint8_t { kAuto, kCuda, kCpu };
enum class CheckMode : std::uint8_t { kNone, kReport, kQuiet };  // none, -c, -C
enum class ExplainMode : std::uint8_t { kNone, kText, kJson };   // none, --explain[=text|json]
enum class ProgressMode : std::uint8_t { kAuto, kAlways, kNever, kJson };
enum class ColorMode : std::uint8_t { kAuto, kAlways, kNever };
// -h, --help, -V, and what --generate makes.
enum class Show : std::uint8_t {
  kNone,
  kHelp,
  kFullHelp,
  kVersion,
  kManual,
  kBash,
  kZsh,
  kFish,
};

// Which program is called: it decides which options there are.
enum class Program : std::uint8_t { kGsort, kCluster };  // gsort, gsort-mpi

// The source of the key type, which is shown with the type. kDefault: none, so the inputs may have
// another type; only parse_options() sets it.
enum class TypeSource : std::uint8_t {
  kCaller,  // a caller that filled in Options without a command line
  kOption,
  kSuffix,
  kEnvironment,
  kDefault,
  kHeader,     // of a Job alone: the header of an input
  kRecordKeys  // every key of the records names its own
};

// --device: GPUs by their CUDA device numbers, one named twice is two devices that share its
// memory; or all that there are; or, with neither, as many as make the sort faster.
struct DeviceChoice {
  std::vector<unsigned> listed;
  bool all = false;

  [[nodiscard]] bool is_auto() const { return listed.empty() && !all; }
  friend bool operator==(const DeviceChoice&, const DeviceChoice&) = default;
};

// "2/8": number 2, counted from 0, of 8.
struct NumberOf {
  unsigned number = 0;
  unsigned of = 1;

  friend bool operator==(const NumberOf&, const NumberOf&) = default;
};

// The resources that a sort may use. Sizes as typed: "512M", "50%".
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
};

// The reports for the user.
struct Reporting {
  int verbosity = 0;  // -1: errors only (-q), 0: as usual, 1: phases (-v), 2: decisions (-vv)
  ProgressMode progress = ProgressMode::kAuto;
  ColorMode color = ColorMode::kAuto;
  std::optional<std::string> stats;  // files that the summary and the spans of the sort go to
  std::optional<std::string> trace;
};

// The files of a sort. inputs is never empty; "-" is stdin. No output means stdout; the output "-"
// means stdout even if that is a terminal.
struct FileNames {
  std::vector<std::string> inputs;
  std::optional<std::string> output;
  std::optional<std::string> resume;     // the folder of a sort that can be resumed
  std::optional<unsigned> split_output;  // into so many parts; `output` then has "{}" once
  // For gsort-mpi: one for each process. `output` then has "{rank}" once, and split_output is their
  // number as soon as that is known.
  bool parts = false;

  // The names that are written: of all parts, or of the output, "-" being stdout.
  [[nodiscard]] std::vector<std::string> outputs() const;
};

// A layer that needs one of these parts alone takes that, not all options.
struct Options : FileNames, Resources, Handling, Reporting {
  // Order. key.type is resolved: -t, else the first input's suffix, else GSORT_TYPE, else i32.
  KeyFormat key;
  TypeSource type_source = TypeSource::kCaller;
  bool byte_order_is_asked = false;
  bool float_order_is_asked = false;
  // Elements are records with keys of their own; made of what was typed, when all is known.
  std::optional<RecordFormat> records;
  std::optional<std::uint32_t> record_bytes;
  std::vector<std::string> record_keys;
  std::vector<std::string> order;  // of Python: fields as NAME, or -NAME for descending order

  // Result.
  bool unique = false;                          // one of each key
  bool count = false;                           // with unique: how often it occurs, too
  std::optional<std::uint64_t> min_count;       // with count: only keys that occur so often
  bool merge = false;                           // every input is sorted already
  bool intersect = false;                       // with merge: the keys that all inputs have
  bool subtract = false;                        // with merge: those that only the first one has
  bool argsort = false;                         // the positions of the elements, not these
  std::optional<std::uint64_t> top;             // only the first so many elements
  std::optional<std::uint64_t> batch_elements;  // arrays sorted on their own; at least 1

  // A sort by several processes: what this one does of it.
  std::optional<std::string> form;  // the folder that gets the runs of a share
  std::optional<NumberOf> share;    // with form
  bool inputs_here = false;         // with form: the inputs are those of this share alone
  std::optional<NumberOf> take;     // a part of the output
  std::vector<std::string> from;    // with take: the folders of all shares
  std::optional<unsigned> join;     // so many parts

  bool each = false;  // every input by itself: see options_of_each()

  // Job. With show other than kNone, nothing else is to be done and no more was checked.
  Show show = Show::kNone;
  CheckMode check = CheckMode::kNone;
  bool fingerprint = false;             // of all elements is printed, and nothing is sorted
  std::optional<std::string> expected;  // the fingerprint of what check or fingerprint reads
  ExplainMode explain = ExplainMode::kNone;

  // Files.
  std::optional<std::string> files0_from;  // the list that inputs came from
  InputForm input_form;
  std::optional<FileFormat> output_format;  // none: see output_form() of form_options.hpp
  std::optional<Codec> compress;
  int compress_level = 0;         // with compress; 0 is the usual level if the codec has no level 0
  bool writes_into_file = false;  // an existing output, instead of renaming
  std::vector<std::string> temporary_directories;  // as given; empty: the default of the plan
  std::string tmpdir;                              // $TMPDIR, for that default; empty: not set

  // For gsort-mpi: how long a host may be silent.
  unsigned peer_timeout_seconds = 60;

  bool keep_rates = true;  // GSORT_CACHE: whether the file of measured rates is read and written

  bool verify_encoding = false;  // of text and compressed output

  // The names of the options that GSORT_OPTIONS gave and the command line did not: for messages.
  std::vector<std::string> from_environment;
};

// Answers like std::getenv: the value of an environment variable, or nullptr.
using Environment = std::function<const char*(const char*)>;

// Reads the names that the file `list` holds ("-" is stdin).
using NameList = std::function<std::vector<std::string>(const std::string& list)>;

// Reads TMPDIR, then GSORT_OPTIONS, which may have only some options, then the arguments; of an
// option given twice the last wins, except that -k, -T and -v add up and two different -o are an
// error.
// `name_list` is called for --files0-from only. Throws: Error(kUsage) for anything unknown,
// malformed or contradictory; what name_list throws.
[[nodiscard]] Options parse_options(int argc, const char* const* argv,
                                    const Environment& environment, const NameList& name_list = {},
                                    Program program = Program::kGsort);

// The options of a sort of `input` alone, as --each asks for: with the type that its own name says,
// its output is the file of its name in the folder --output, or itself. `options` are those of
// parse_options(), whose `each` is set. Throws: Error(kUsage).
[[nodiscard]] Options options_of_each(const Options& options, const std::string& input,
                                      const Environment& environment);

// "-t", "the suffix of the first input", "GSORT_TYPE", "the default": for reports.
[[nodiscard]] const char* describe(TypeSource source);

}  // namespace gsort
