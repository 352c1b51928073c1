// The table of options. Rows stand in the order of the help text; -k, -T, -v and FILE add up, all
// else is overwritten by what comes later.
#include <array>

#include "base/error.hpp"
#include "options/form_options.hpp"
#include "options/option_spec.hpp"
#include "options/option_values.hpp"
#include "options/record_options.hpp"
#include "options/result_options.hpp"

namespace gsort {
namespace {

using enum OptionGroup;
using enum ValueKind;
using Text = std::string_view;

constexpr unsigned kMostThreads = 4096;
constexpr unsigned kMostFanIn = 1U << 20;

constexpr Choice<bool> kEndians[] = {{"little", false}, {"big", true}};
constexpr Choice<ExplainMode> kExplainModes[] = {{"text", ExplainMode::kText},
                                                 {"json", ExplainMode::kJson}};
constexpr Choice<EngineChoice> kEngines[] = {
    {"auto", EngineChoice::kAuto}, {"cuda", EngineChoice::kCuda}, {"cpu", EngineChoice::kCpu}};
constexpr Choice<DirectIo> kDirectIo[] = {
    {"auto", DirectIo::kAuto}, {"on", DirectIo::kOn}, {"off", DirectIo::kOff}};
constexpr Choice<Packing> kPacking[] = {
    {"auto", Packing::kAuto}, {"on", Packing::kOn}, {"off", Packing::kOff}};

constexpr Choice<ProgressMode> kProgressModes[] = {{"auto", ProgressMode::kAuto},
                                                   {"always", ProgressMode::kAlways},
                                                   {"never", ProgressMode::kNever},
                                                   {"json", ProgressMode::kJson}};
constexpr Choice<Show> kGenerated[] = {
    {"man", Show::kManual}, {"bash", Show::kBash}, {"zsh", Show::kZsh}, {"fish", Show::kFish}};
constexpr Choice<ColorMode> kColorModes[] = {
    {"auto", ColorMode::kAuto}, {"always", ColorMode::kAlways}, {"never", ColorMode::kNever}};

void set_output(Options& options, Text value) {
  std::string path = checked_path(value, "--output");
  if (options.output && *options.output != path) {
    throw Error(ErrorKind::kUsage, "--output '" + path + "'",
                "the output is already '" + *options.output + "'")
        .hint("give -o once");
  }
  options.output = std::move(path);
}

#define GSORT_BAR_AND_NAME(codec, name, suffix) "|" name
constexpr auto kTable = std::to_array<OptionSpec>({
    {.name = "type",
     .letter = 't',
     .value_kind = kRequired,
     .value_name = "TYPE",
     .choices = kKeyTypeChoices,
     .group = kOrder,
     .common = true,
     .help = kKeyTypeNames,
     .more = "Without it, the suffix of the first FILE decides (dump.u64), else $GSORT_TYPE, "
             "else i32; a warning names the first FILE whose suffix says another type. If i32 is "
             "only assumed, a line on standard error says so, the output cannot replace a FILE, "
             "and a FILE that is plainly something else is an error (see the manual page, NOTES). "
             "Floating-point numbers sort by IEEE total order: -NaN, -inf, ..., -0, +0, "
             "..., +inf, +NaN. time64 is i64 with its least number, NumPy's NaT, last. -v "
             "and --explain show the type and where it comes from.",
     .apply =
         [](Options& o, Text v) {
           o.key.type = parse_key_type(v, "--type");
           o.type_source = TypeSource::kOption;
         }},
    {.name = "endian",
     .value_kind = kRequired,
     .value_name = "little|big",
     .group = kOrder,
     .help = "byte order in the files (little)",
     .apply =
         [](Options& o, Text v) {
           o.key.big_endian = parse_choice(v, kEndians, "--endian");
           o.byte_order_is_asked = true;
         }},
    {.name = "reverse",
     .letter = 'r',
     .group = kOrder,
     .common = true,
     .help = "descending order",
     .apply = [](Options& o, Text) { o.key.descending = true; }},
    {.name = "record",
     .value_kind = kRequired,
     .value_name = "SIZE",
     .group = kOrder,
     .help = "sort records of SIZE bytes, by --key",
     .more = "Records are moved whole, and records with equal keys keep the order of the input. "
             "SIZE is at most 16K; a bare number counts bytes. Records of the sort benchmark: "
             "--record=100 --key=0:bytes10.",
     .apply = set_record},
    {.name = "key",
     .letter = 'k',
     .value_kind = kRequired,
     .value_name = "OFFSET[:TYPE][r],...",
     .group = kOrder,
     .help = "positions and types of the keys of a --record",
     .more =
         "TYPE is one of those of --type, which is also the default, or bytesN: N bytes, at most "
         "32, compared as unsigned. r reverses one key, -r all of them. The first key decides; "
         "further keys, of this or of a repeated --key, break its ties: --key=0:u32,4:u32 sorts "
         "pairs. Keys do not overlap. A NumPy "
         "array of records needs no --record: NAME[r] is one of its fields, and without --key all "
         "fields are keys, in their order.",
     .apply = add_record_keys},
    {.name = "unique",
     .letter = 'u',
     .group = kOrder,
     .common = true,
     .help = "one of each key",
     .more =
         "Keys are equal if their bits are: -0 and +0 differ, and so do two NaN with different "
         "bits. The first of several records with equal keys is kept. With -c, no key may repeat.",
     .apply = [](Options& o, Text) { o.unique = true; }},
    {.name = "batch-elements",
     .value_kind = kRequired,
     .value_name = "N",
     .group = kOrder,
     .help = "sort each group of N elements on its own",
     .more = "Many arrays in one file; the last one may be shorter. If several arrays fit in "
             "memory, each core sorts one; larger arrays are sorted one after the other on all "
             "cores. A GPU sorts many at once. Works with --record, on the CPU. The rows of a "
             "two-dimensional .npy array need no such option. With -c, checks each array.",
     .apply = set_batch_elements},
    {.name = "skip",
     .value_kind = kRequired,
     .value_name = "BYTES",
     .group = kOrder,
     .help = "a header of each FILE, before the first key",
     .more = "The output begins with the header of the first FILE, except that a .npy or "
             "SOSD output has its own.",
     .apply = set_skip},

    {.name = "check",
     .letter = 'c',
     .group = kJob,
     .common = true,
     .help = "check whether FILE is sorted; status 1 if not",
     .more = "Prints a summary, or the first element out of order and the wanted order.",
     .apply = [](Options& o, Text) { o.check = CheckMode::kReport; }},
    {.letter = 'C',
     .group = kJob,
     .help = "like -c, without a message",
     .apply = [](Options& o, Text) { o.check = CheckMode::kQuiet; }},
    {.name = "fingerprint",
     .group = kJob,
     .help = "print the fingerprint of all elements",
     .more = "Reads all FILEs and sorts nothing. Elements with the same bytes have the same "
             "fingerprint, in any order and however they are divided into FILEs; other elements "
             "have, but for chance, another one. -c, -v and --stats show it, too. It finds faults; "
             "it is no protection against a person who chooses elements to deceive.",
     .apply = [](Options& o, Text) { o.fingerprint = true; }},
    {.name = "expect",
     .value_kind = kRequired,
     .value_name = "FINGERPRINT",
     .group = kJob,
     .help = "status 1 if the fingerprint is another one",
     .more = "With -c or --fingerprint: the elements read must be those whose FINGERPRINT this is, "
             "as -c, --fingerprint, -v and --stats show it. So you see whether another program has "
             "lost, doubled or changed an element (the manual page has an example).",
     .apply = [](Options& o, Text v) { o.expected = checked_fingerprint(v, "--expect"); }},
    {.name = "merge",
     .letter = 'm',
     .group = kJob,
     .common = true,
     .help = "merge inputs that are already sorted",
     .more = "Every FILE must be in the requested order, which is checked as it is read; keys "
             "may repeat. A FILE that is not sorted is an error that names the first element out "
             "of order; with -o no output appears then, but a pipe may already have received "
             "part of it. Equal records come in the order of the FILEs. If there are more FILEs "
             "than memory has room for, groups of them are merged first.",
     .apply = [](Options& o, Text) { o.merge = true; }},
    {.name = "intersect",
     .group = kJob,
     .help = "with -m: one of each key that is in every FILE",
     .more = "Sorted FILEs are compared as they are read, in one pass and without temporary files. "
             "The output has one of each key, as with -u. Works with all key types, but not with "
             "--record. Always uses the CPU.",
     .apply = [](Options& o, Text) { o.intersect = true; }},
    {.name = "subtract",
     .group = kJob,
     .help = "with -m: one of each key of only the first FILE",
     .more = "One of each key of the first FILE that is in no other FILE. All else is as with "
             "--intersect.",
     .apply = [](Options& o, Text) { o.subtract = true; }},
    {.name = "top",
     .value_kind = kRequired,
     .value_name = "N",
     .group = kJob,
     .common = true,
     .help = "write only the first N elements of the result",
     .more = "With -r the N greatest, with -u the first N distinct keys. If N elements fit in "
             "memory, the input is read once and there are no temporary files. Otherwise, or if N "
             "is more than a quarter of all elements, gsort sorts everything and writes the first "
             "N. Works with --record, too.",
     .apply = set_top},
    {.name = "explain",
     .value_kind = kOptional,
     .value_name = "text|json",
     .implicit_value = "text",
     .group = kJob,
     .common = true,
     .help = "print the plan and stop; status 2 if none works",
     .more = "Shows every size and count of the job, and the free memory and disk space. "
             "Reads only the sizes and the beginnings of the files. Does not work with --check.",
     .apply = [](Options& o, Text v) { o.explain = parse_choice(v, kExplainModes, "--explain"); }},
    {.name = "resume",
     .value_kind = kRequired,
     .value_name = "DIR",
     .group = kJob,
     .help = "keep runs in DIR; the same command resumes",
     .more = "However the sort ends, completed runs stay in DIR, and the same command continues "
             "after the last one. DIR is created if it does not exist; at the end it is empty, "
             "and removed if gsort created it. The FILEs must be regular files. The output and "
             "the resources may differ, but an input or a kind of sort that has changed is an "
             "error. Every run is synced and none stays in memory, so the sort takes longer. If "
             "gsort is killed just after it replaced its input, running it again reports that "
             "the sort is complete.",
     .apply = [](Options& o, Text v) { o.resume = checked_path(v, "--resume"); }},

    {.name = "files0-from",
     .value_kind = kRequired,
     .value_name = "FILE",
     .group = kFiles,
     .help = "read input names from FILE, separated by NUL",
     .more = "As find -print0 writes them, at most 1,048,576; - reads the names from stdin. "
             "Several inputs are sorted as if they were one, in the list as on the command line.",
     .apply = [](Options& o, Text v) { o.files0_from = checked_path(v, "--files0-from"); }},
    {.name = "output",
     .letter = 'o',
     .value_kind = kRequired,
     .value_name = "FILE",
     .group = kFiles,
     .common = true,
     .help = "output, whole or not at all; may be an input",
     .more = "Without it the result goes to stdout, unless that is a terminal; -o - writes to a "
             "terminal, too. FILE may be an input; the file that stdout is redirected to may not.",
     .apply = set_output},
    {.name = "format",
     .value_kind = kRequired,
     .value_name = "FORMAT[:OUT]",
     .choices = "bin|text|npy|sosd",
     .group = kFiles,
     .help = "bin|text|npy|sosd, in and out (by suffix)",
     .more = "Raw keys, decimal numbers one a line, NumPy arrays (of records, too) of one "
             "dimension, or of two, whose rows are each sorted on their own, or SOSD files, which "
             "are raw keys behind their number in 64 bits, little endian. Without it, suffixes "
             "decide (.txt, .npy, else raw), for each FILE and for the output; an output without "
             "such a suffix gets the format of the first FILE. One value is for input and output; "
             "--format=text:bin reads text and writes raw keys. An array's header gives type and "
             "byte order; -t gives the type of a SOSD file. A .npy or SOSD output whose length is "
             "not known in advance (-u; -m and --batch-elements of pipes, text and compressed "
             "inputs) must be a file and not compressed, because its header is written last. In "
             "text, every NaN is nan or -nan, without its payload; -v prints how many payloads "
             "were lost.",
     .apply = set_format},
    {.name = "decompress",
     .value_kind = kRequired,
     .value_name = "CODEC",
     .choices = "auto|none" GSORT_CODECS(GSORT_BAR_AND_NAME),
     .group = kFiles,
     .help = "auto|none" GSORT_CODECS(GSORT_BAR_AND_NAME) ": of inputs (auto)",
     .more =
         "auto looks at the first bytes of each FILE. Data after the last gzip, bzip2, xz or "
         "zstd member is an error, except zeros after gzip and the padding of the xz format. "
         "zstd windows of up to 128 MiB are read; for larger ones use zstd -dc --long=31 "
         "FILE | gsort -t TYPE. A pipe that begins with a skippable zstd frame of 4 KiB or more "
         "needs zstd or none here. The manual page explains how much memory decompression needs.",
     .apply = set_decompress},
    {.name = "compress",
     .value_kind = kRequired,
     .value_name = "CODEC[:LEVEL]",
     .choices = "none" GSORT_CODECS(GSORT_BAR_AND_NAME),
     .group = kFiles,
     .help = "none" GSORT_CODECS(GSORT_BAR_AND_NAME) ": of the output",
     .more = "Without it, the output's suffix decides (.gz, .bz2, .xz, .zst), else none. All cores "
             "compress; the output is a series of members, which every tool reads as one file.",
     .apply = set_compress},
    {.name = "temporary-directory",
     .letter = 'T',
     .value_kind = kRequired,
     .value_name = "DIR",
     .group = kFiles,
     .common = true,
     .in_environment = true,
     .help = "folder for runs; repeat it for more disks",
     .more = "The default is $TMPDIR, else the folder of the output, else /var/tmp.",
     .apply =
         [](Options& o, Text v) {
           o.temporary_directories.push_back(checked_path(v, "--temporary-directory"));
         }},

    {.name = "buffer-size",
     .letter = 'S',
     .value_kind = kRequired,
     .value_name = "SIZE",
     .group = kResources,
     .common = true,
     .in_environment = true,
     .help = "host memory of the whole program",
     .more = "512M, 4G, or 50% of the memory. The default is half of the available memory, "
             "within the container's limits. Below about 48M the program uses up to 12M more "
             "than SIZE. It includes the memory for decompression.",
     .apply = [](Options& o, Text v) { o.buffer_size = checked_size(v, "--buffer-size"); }},
    {.name = "gpu-memory",
     .value_kind = kRequired,
     .value_name = "SIZE",
     .group = kResources,
     .in_environment = true,
     .help = "memory of each device (90% of what is free)",
     .more = "The driver uses more for any process (about 0.5 GiB on an H100).",
     .apply = [](Options& o, Text v) { o.gpu_memory = checked_size(v, "--gpu-memory"); }},
    {.name = "parallel",
     .value_kind = kRequired,
     .value_name = "N",
     .group = kResources,
     .common = true,
     .in_environment = true,
     .help = "cores to use (all)",
     .apply = [](Options& o,
                 Text v) { o.parallel = parse_count(v, 1, kMostThreads, "--parallel"); }},
    {.name = "batch-size",
     .value_kind = kRequired,
     .value_name = "N",
     .group = kResources,
     .in_environment = true,
     .help = "maximum number of runs merged at once",
     .apply = [](Options& o,
                 Text v) { o.batch_size = parse_count(v, 2, kMostFanIn, "--batch-size"); }},
    {.name = "engine",
     .value_kind = kRequired,
     .value_name = "auto|cuda|cpu",
     .group = kResources,
     .common = true,
     .in_environment = true,
     .help = "sorting engine (auto)",
     .more = "auto uses a GPU if there is one and the input is large enough to make up for its "
             "start; -v prints the choice and the reason. cuda without a usable GPU is an error. "
             "8- and 16-bit keys, --intersect, --subtract, and --top if N elements fit in memory, "
             "always use the CPU.",
     .apply = [](Options& o, Text v) { o.engine = parse_choice(v, kEngines, "--engine"); }},
    {.name = "device",
     .value_kind = kRequired,
     .value_name = "N,...",
     .group = kResources,
     .in_environment = true,
     .help = "the GPUs to use, by CUDA device number; or all; or auto (auto)",
     .more =
         "auto uses as many GPUs as make the sort faster: mostly one, more where the runs do not "
         "fit the memory of one. all uses every GPU. An input that fits one GPU is sorted by the "
         "first. A number given twice makes two devices of one GPU, each with half of its "
         "memory.",
     .apply = [](Options& o, Text v) { o.devices = parse_devices(v, "--device"); }},
    {.name = "direct-io",
     .value_kind = kRequired,
     .value_name = "auto|on|off",
     .group = kResources,
     .in_environment = true,
     .help = "bypass the page cache (auto)",
     .apply = [](Options& o, Text v) { o.direct_io = parse_choice(v, kDirectIo, "--direct-io"); }},
    {.name = "pack-runs",
     .value_kind = kRequired,
     .value_name = "auto|on|off",
     .group = kResources,
     .in_environment = true,
     .help = "store runs as packed differences (auto)",
     .more = "auto packs the blocks of runs that become at least 10% smaller; on packs all that "
             "become smaller.",
     .apply = [](Options& o, Text v) { o.packing = parse_choice(v, kPacking, "--pack-runs"); }},

    {.name = "no-verify",
     .group = kReporting,
     .help = "do not verify the result",
     .more = "Without this option, gsort compares a fingerprint of all elements read with that "
             "of all elements written and checks the order. If they differ, the output does not "
             "appear; a pipe may already have received part of it. The number of elements and "
             "their positions are checked in any case.",
     .apply = [](Options& o, Text) { o.verify = false; }},
    {.name = "verify-encoding",
     .group = kReporting,
     .in_environment = true,
     .help = "decode text and compressed output, and compare",
     .more = "Without this option, gsort verifies the result before it is converted to text or "
             "compressed. Decoding takes 11 to 44% more processor time. Of a NaN in text, only the "
             "sign is compared.",
     .apply = [](Options& o, Text) { o.verify_encoding = true; }},
    {.letter = 'q',
     .group = kReporting,
     .in_environment = true,
     .help = "errors only",
     .apply = [](Options& o, Text) { o.verbosity = -1; }},
    {.letter = 'v',
     .group = kReporting,
     .common = true,
     .in_environment = true,
     .help = "say what is done; -vv: explain why",
     .apply = [](Options& o, Text) { o.verbosity = o.verbosity < 0 ? 1 : o.verbosity + 1; }},
    {.name = "progress",
     .value_kind = kRequired,
     .value_name = "auto|always|never|json",
     .group = kReporting,
     .in_environment = true,
     .help = "a status line (auto)",
     .more = "auto: at a terminal, after the first second. always: also elsewhere, one line per "
             "second, the last of which says done. json: the same as JSON, one object per line. "
             "SIGUSR1 always prints a line.",
     .apply = [](Options& o,
                 Text v) { o.progress = parse_choice(v, kProgressModes, "--progress"); }},
    {.name = "stats",
     .value_kind = kRequired,
     .value_name = "FILE",
     .group = kReporting,
     .in_environment = true,
     .help = "a summary of the sort in JSON",
     .more = "Plan, phases, work and waiting time of every stage, bytes, memory, fingerprint.",
     .apply = [](Options& o, Text v) { o.stats = checked_path(v, "--stats"); }},
    {.name = "trace",
     .value_kind = kRequired,
     .value_name = "FILE",
     .group = kReporting,
     .in_environment = true,
     .help = "activity of every thread, for ui.perfetto.dev",
     .more = "In Chrome's trace format. Uses up to 32 MiB of memory beyond -S.",
     .apply = [](Options& o, Text v) { o.trace = checked_path(v, "--trace"); }},
    {.name = "color",
     .value_kind = kRequired,
     .value_name = "auto|always|never",
     .group = kReporting,
     .in_environment = true,
     .help = "color in messages (auto)",
     .more = "auto: at a terminal, unless $NO_COLOR is set or $TERM is dumb.",
     .apply = [](Options& o, Text v) { o.color = parse_choice(v, kColorModes, "--color"); }},
    {.letter = 'h',
     .group = kReporting,
     .common = true,
     .help = "this screen",
     .apply = [](Options& o, Text) { o.show = Show::kHelp; }},
    {.name = "help",
     .group = kReporting,
     .common = true,
     .help = "all options, explained",
     .apply = [](Options& o, Text) { o.show = Show::kFullHelp; }},
    {.name = "version",
     .letter = 'V',
     .group = kReporting,
     .help = "the version",
     .apply = [](Options& o, Text) { o.show = Show::kVersion; }},
    {.name = "generate",
     .value_kind = kRequired,
     .value_name = "man|bash|zsh|fish",
     .group = kReporting,
     .help = "a manual page, or a shell's completion",
     .more =
         "Packages install them. Otherwise, in bash: source <(gsort --generate=bash); zsh: gsort "
         "--generate=zsh > DIR/_gsort, in a DIR of $fpath, before compinit; fish: gsort "
         "--generate=fish > ~/.config/fish/completions/gsort.fish.",
     .apply = [](Options& o, Text v) { o.show = parse_choice(v, kGenerated, "--generate"); }},
});
#undef GSORT_BAR_AND_NAME

}  // namespace

std::span<const OptionSpec> option_table() {
  return kTable;
}

std::string_view title_of(OptionGroup group) {
  switch (group) {
    case kOrder:
      return "Order";
    case kJob:
      return "Job";
    case kFiles:
      return "Files";
    case kResources:
      return "Resources";
    case kReporting:
      break;
  }
  return "Reporting";
}

std::string display_name(const OptionSpec& spec) {
  if (spec.name.empty()) return std::string("-") + spec.letter;
  return "--" + std::string(spec.name);
}

}  // namespace gsort
