// The options: the command line and the environment as typed values, before anything is known about
// the machine or the files. Sizes that may be percentages stay text here (their syntax is
// checked); the plan resolves them.
//
// Read next: option_table.cpp, the table from which the parser and all help texts are made.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "element/key.hpp"
#include "element/record_format.hpp"
#include "form/file_form.hpp"
#include "options/request.hpp"

namespace gsort {

// -h, --help, -V, and the texts of --generate.
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

// "2/8": number 2, counted from 0, of 8.
struct NumberOf {
  unsigned number = 0;
  unsigned of = 1;

  friend bool operator==(const NumberOf&, const NumberOf&) = default;
};

struct Options : Request, ResultOptions {
  // Order. key.type is resolved: -t, else the first input's suffix, else GSORT_TYPE, else i32.
  KeyFormat key;
  TypeSource type_source = TypeSource::kCaller;
  bool byte_order_is_asked = false;
  bool float_order_is_asked = false;
  // Set if elements are records with keys of their own; made from the options when all are known.
  std::optional<RecordFormat> records;
  std::optional<std::uint32_t> record_bytes;
  std::vector<std::string> record_keys;
  bool key_is_whole = false;       // -t bytesN alone made the two: the element is the key
  std::vector<std::string> order;  // of Python: fields as NAME, or -NAME for descending order

  bool draws_seed = false;  // with shuffle: no seed was given

  // A sort by several processes: what this one does of it.
  std::optional<std::string> form;  // the folder that gets the runs of a share
  std::optional<NumberOf> share;    // with form
  std::optional<NumberOf> take;     // a part of the output
  std::vector<std::string> from;    // with take: the folders of all shares
  std::optional<unsigned> join;     // the number of parts

  // Unless it is kNone, gsort only shows this, and the parser has checked nothing else.
  Show show = Show::kNone;

  // Files.
  std::optional<std::string> files0_from;   // the list that named the inputs
  std::optional<FileFormat> output_format;  // none: see output_form() of form_options.hpp
  std::optional<Codec> compress;
  int compress_level = 0;  // with compress; 0 is the usual level if the codec has no level 0

  // For gsort-mpi: how long a host may be silent.
  unsigned peer_timeout_seconds = 60;

  // The names of the options that GSORT_OPTIONS gave and the command line did not: for messages.
  std::vector<std::string> from_environment;
};

// Answers like std::getenv: the value of an environment variable, or nullptr.
using Environment = std::function<const char*(const char*)>;

// Reads the names that the file `list` holds ("-" is stdin).
using NameList = std::function<std::vector<std::string>(const std::string& list)>;

// Reads TMPDIR, then GSORT_OPTIONS, which may have only some options, then the arguments; if an
// option is given twice, the last one counts, except that -k, -T and -v add up and two different -o
// are an error. `name_list` is called for --files0-from only. Throws: Error(kUsage) for anything
// unknown, malformed or contradictory; what name_list throws.
[[nodiscard]] Options parse_options(int argc, const char* const* argv,
                                    const Environment& environment, const NameList& name_list = {},
                                    Program program = Program::kGsort);

// The options for sorting only `input` (--each): its own name gives the type, and its output is the
// file of its name in the folder --output, or the input itself. `all` are those of parse_options(),
// with `each` set; the inputs are not needed: copying them for each would take quadratic time.
// Throws: Error(kUsage).
[[nodiscard]] Options options_of_each(Options all, const std::string& input,
                                      const Environment& environment);

}  // namespace gsort
