// The table of options, in the order of the help text: first the rows of order_and_job_rows.cpp.
// -k, -T, --from, -v and FILE add up; for other options, the last value counts.
#include <vector>

#include "base/error.hpp"
#include "base/made_once.hpp"
#include "options/form_options.hpp"
#include "options/option_spec.hpp"
#include "options/option_values.hpp"

namespace gsort {
namespace {

using Text = std::string_view;

constexpr Choice<EngineChoice> kEngines[] = {
    {"auto", EngineChoice::kAuto}, {"cuda", EngineChoice::kCuda}, {"cpu", EngineChoice::kCpu}};
constexpr Choice<DirectIo> kDirectIo[] = {
    {"auto", DirectIo::kAuto}, {"on", DirectIo::kOn}, {"off", DirectIo::kOff}};
constexpr Choice<bool> kReplacing[] = {{"rename", false}, {"write", true}};
constexpr Choice<Packing> kPacking[] = {
    {"auto", Packing::kAuto}, {"on", Packing::kOn}, {"off", Packing::kOff}};

constexpr Choice<ProgressMode> kProgressModes[] = {{"auto", ProgressMode::kAuto},
                                                   {"always", ProgressMode::kAlways},
                                                   {"never", ProgressMode::kNever},
                                                   {"json", ProgressMode::kJson}};
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
constexpr OptionSpec kFileRows[] = {
    {.name = "files0-from",
     .value_name = "FILE",
     .help = "read input names from FILE, separated by NUL",
     .more = "As find -print0 writes them, at most 1,048,576; -: names from stdin.",
     .rules = "Several inputs are sorted as if they were one, in the list as on the command line.",
     .apply = [](Options& o, Text v) { o.files0_from = checked_path(v, "--files0-from"); }},
    {.name = "output",
     .letter = 'o',
     .value_name = "FILE",
     .common = true,
     .help = "output, whole or not at all; may be an input",
     .more = "Without it: stdout, unless that is a terminal; -o - writes there, too.",
     .rules = "FILE may be an input; the file that stdout is redirected to may not.",
     .apply = set_output},
    {.name = "replace",
     .value_name = "HOW",
     .choices = "rename|write",
     .help = "how to replace an output: rename|write",
     .more =
         "rename (default): the output is the old file or the whole new one, whatever happens. "
         "write: gsort writes a verified copy, then writes into the file itself; for mount points, "
         "another user's file in a sticky folder, hard links. If gsort is killed in this last "
         "step, the output is partial and the copy, OUTPUT.gsort- and 8 digits, stays.",
     .rules = "The copy is a temporary file, beside the output or in a folder of -T, and complete "
              "before its bytes are written into the existing file. Use write where no file can be "
              "renamed to the output, or to keep its hard links. It needs room for both files. "
              "After a failure of the disk, too, the copy is complete and kept.",
     .apply = [](Options& o,
                 Text v) { o.writes_into_file = parse_choice(v, kReplacing, "--replace"); }},
    {.name = "format",
     .value_name = "FORMAT[:OUT]",
     .choices = "bin|text|npy|sosd",
     .help = "file formats: bin|text|npy|sosd (by suffix)",
     .more =
         "bin: raw keys. text: decimal lines. npy: NumPy arrays, also of records; of two "
         "dimensions, each row is sorted. sosd: the number of keys, then the keys. By default "
         "suffixes decide, for each FILE and the output (.txt, .npy, else raw); an output without "
         "one gets the format of the first FILE. --format=text:bin reads text and writes raw keys. "
         "A .npy or SOSD output of unknown length must be a file, not compressed. SOSD needs -t.",
     .rules =
         "In text, blanks around a number and CR LF are read. An array has one or two dimensions; "
         "its header gives type and byte order. The number of keys in a SOSD file has 64 bits, "
         "little endian. One value is for input and output. An output with a suffix that gsort "
         "does not write, as .csv or .lz4, needs --format. The length is not known in advance with "
         "-u, and with -m and --batch-elements of pipes, text and compressed inputs; then the "
         "header is written last. In text, every NaN is nan or -nan, without its payload; -v "
         "prints how many payloads were lost.",
     .apply = set_format},
    {.name = "decompress",
     .value_name = "CODEC",
     .choices = "auto|none" GSORT_CODECS(GSORT_BAR_AND_NAME),
     .help = "decompress inputs: auto|none" GSORT_CODECS(GSORT_BAR_AND_NAME),
     .more = "auto (default): by the first bytes of each FILE. zstd windows of up to 128 MiB; "
             "others: zstd -dc --long=31 FILE | gsort -t TYPE.",
     .rules =
         "Data after the last gzip, bzip2, xz or zstd member is an error, except zeros after gzip "
         "and the padding of the xz format. A pipe that begins with a skippable zstd frame of 4 "
         "KiB or more needs zstd or none here. NOTES explains how much memory decompression needs.",
     .apply = set_decompress},
    {.name = "compress",
     .value_name = "CODEC[:LEVEL]",
     .choices = "none" GSORT_CODECS(GSORT_BAR_AND_NAME),
     .help = "compress the output: none" GSORT_CODECS(GSORT_BAR_AND_NAME),
     .more = "By default the output's suffix decides: .gz, .bz2, .xz, .zst.",
     .rules = "All cores compress; the output is a series of members, which every tool reads as "
              "one file.",
     .apply = set_compress},
    {.name = "temporary-directory",
     .letter = 'T',
     .value_name = "DIR",
     .common = true,
     .in_environment = true,
     .help = "folder for runs; repeat it for more disks",
     .more = "The default is $TMPDIR, else the folder of the output, else /var/tmp.",
     .rules = "Runs go to the folders in turn; if one is full, to the others. Their size has no "
              "limit of its own: to bound it, use a file system with a quota, or a larger -S, with "
              "which more stays in memory. They take up to 1.1 times the elements, or twice that "
              "if -S is so small that they are merged in rounds; --explain shows how much. If the "
              "sizes of the inputs are known, and the folders together have less free space, gsort "
              "stops with an error before it reads the inputs.",
     .apply =
         [](Options& o, Text v) {
           o.temporary_directories.push_back(checked_path(v, "--temporary-directory"));
         }},
};

constexpr OptionSpec kResourceRows[] = {
    {.name = "buffer-size",
     .alias = "memory",
     .letter = 'S',
     .value_name = "SIZE",
     .common = true,
     .in_environment = true,
     .help = "host memory of the whole program",
     .more = "Default: half of what is available, within the container's limits. The peak of "
             "resident memory is at most SIZE, or 24M if SIZE is less. Files in a tmpfs, --trace "
             "and a GPU's driver take more.",
     .rules = "SIZE is 512M, 4G, or 50% of the memory.",
     .apply = [](Options& o, Text v) { o.buffer_size = checked_size(v, "--buffer-size"); }},
    {.name = "gpu-memory",
     .value_name = "SIZE",
     .in_environment = true,
     .help = "memory of each device (90% of what is free)",
     .rules = "The driver uses more for any process (about 0.5 GiB on an H100).",
     .apply = [](Options& o, Text v) { o.gpu_memory = checked_size(v, "--gpu-memory"); }},
    {.name = "parallel",
     .alias = "threads",
     .value_name = "N",
     .common = true,
     .in_environment = true,
     .help = "cores to use (all)",
     .apply = [](Options& o,
                 Text v) { o.parallel = parse_count(v, 1, kMostThreads, "--parallel"); }},
    {.name = "batch-size",
     .value_name = "N",
     .in_environment = true,
     .help = "maximum number of runs merged at once",
     .apply =
         [](Options& o, Text v) {
           o.batch_size = parse_count(v, kLeastFanIn, kMostFanIn, "--batch-size");
         }},
    {.name = "engine",
     .value_name = "auto|cuda|cpu",
     .common = true,
     .in_environment = true,
     .help = "sorting engine (auto)",
     .more = "auto: a GPU if the input is large enough; -v prints the reason. cuda without a "
             "usable GPU is an error.",
     .rules = "8- and 16-bit keys, --intersect, --subtract, --top if N elements fit in "
              "memory, and --batch-elements of records and of 128-bit keys always use the CPU.",
     .apply = [](Options& o, Text v) { o.engine = parse_choice(v, kEngines, "--engine"); }},
    {.name = "device",
     .value_name = "N,...",
     .in_environment = true,
     .help = "GPUs to use: CUDA numbers, all or auto (auto)",
     .more = "auto: one GPU, or more if that is predicted to be faster. all: every GPU. A number "
             "given twice: two devices, each with half of its memory.",
     .rules = "An input that fits in the memory of one GPU is sorted on one, whatever the list; a "
              "larger one on all GPUs of the list. --engine=auto may choose the CPU all the same.",
     .apply = [](Options& o, Text v) { o.devices = parse_devices(v, "--device"); }},
    {.name = "direct-io",
     .value_name = "auto|on|off",
     .in_environment = true,
     .help = "bypass the page cache (auto)",
     .apply = [](Options& o, Text v) { o.direct_io = parse_choice(v, kDirectIo, "--direct-io"); }},
    {.name = "pack-runs",
     .value_name = "auto|on|off",
     .in_environment = true,
     .help = "store runs as packed differences (auto)",
     .more = "auto packs blocks that become at least 10% smaller; on: all that shrink.",
     .apply = [](Options& o, Text v) { o.packing = parse_choice(v, kPacking, "--pack-runs"); }},
};

constexpr OptionSpec kReportingRows[] = {
    {.name = "no-verify",
     .help = "do not verify the result",
     .more = "By default gsort compares count, fingerprint, order and positions of input and "
             "output; a difference is an error. This leaves count and positions.",
     .rules =
         "After such an error no output appears, but a pipe may already have received part of it.",
     .apply = [](Options& o, Text) { o.verify = false; }},
    {.name = "verify-encoding",
     .in_environment = true,
     .help = "decode text and compressed output, and compare",
     .more = "By default only the elements are verified, before they become text or compressed. "
             "Decoding takes 11 to 44% more processor time.",
     .rules = "For a NaN in text, only the sign is compared.",
     .apply = [](Options& o, Text) { o.verify_encoding = true; }},
    {.letter = 'q',
     .in_environment = true,
     .help = "errors only",
     .apply = [](Options& o, Text) { o.verbosity = -1; }},
    {.letter = 'v',
     .common = true,
     .in_environment = true,
     .help = "say what is done; -vv: explain why",
     .apply = [](Options& o, Text) { o.verbosity = o.verbosity < 0 ? 1 : o.verbosity + 1; }},
    {.name = "progress",
     .value_name = "auto|always|never|json",
     .in_environment = true,
     .help = "a status line (auto)",
     .more =
         "auto: at a terminal, after a second. always: also elsewhere, a line per second. json: "
         "the same, an object per line. SIGUSR1 always prints a line.",
     .rules =
         "The last line says done. A sort of less than a second prints no status line; of json, "
         "the last object is always printed.",
     .apply = [](Options& o,
                 Text v) { o.progress = parse_choice(v, kProgressModes, "--progress"); }},
    {.name = "stats",
     .value_name = "FILE",
     .in_environment = true,
     .help = "a summary of the sort in JSON",
     .more = "Plan, phases, work and waiting of stages, bytes, memory, fingerprint.",
     .rules = "Work and waiting time are those of every stage.",
     .apply = [](Options& o, Text v) { o.stats = checked_path(v, "--stats"); }},
    {.name = "trace",
     .value_name = "FILE",
     .in_environment = true,
     .help = "what threads do, for gsort-plot or Perfetto",
     .more = "In Chrome's trace format. Uses up to 32 MiB of memory beyond -S.",
     .apply = [](Options& o, Text v) { o.trace = checked_path(v, "--trace"); }},
    {.name = "color",
     .value_name = "auto|always|never",
     .in_environment = true,
     .help = "color in messages (auto)",
     .more = "auto: at a terminal, unless $NO_COLOR is set or $TERM is dumb.",
     .apply = [](Options& o, Text v) { o.color = parse_choice(v, kColorModes, "--color"); }},
    {.letter = 'h',
     .common = true,
     .help = "the common options",
     .apply = [](Options& o, Text) { o.show = Show::kHelp; }},
    {.name = "help",
     .common = true,
     .help = "all options, explained",
     .apply = [](Options& o, Text) { o.show = Show::kFullHelp; }},
    {.name = "version",
     .letter = 'V',
     .help = "the version, and the engines in this build",
     .apply = [](Options& o, Text) { o.show = Show::kVersion; }},
    {.name = "generate",
     .value_name = "man|bash|zsh|fish",
     .help = "a manual page, or a shell's completion",
     .more = "bash: source <(gsort --generate=bash); zsh: gsort --generate=zsh > DIR/_gsort, in a "
             "DIR of $fpath, before compinit; fish: gsort --generate=fish > "
             "~/.config/fish/completions/gsort.fish.",
     .rules = "Packages install them.",
     .apply = [](Options& o, Text v) { o.show = parse_choice(v, kGenerated, "--generate"); }},
};
#undef GSORT_BAR_AND_NAME

}  // namespace

std::span<const OptionSpec> option_table(Program program) {
  if (program != Program::kGsort) {
    return made_once([] { return cluster_rows(option_table(Program::kGsort)); });
  }
  return made_once([] {
    const std::span<const OptionSpec> groups[] = {order_rows(), job_rows(), kFileRows,
                                                  kResourceRows, kReportingRows};
    std::vector<OptionSpec> all;
    for (const OptionGroup group : kAllOptionGroups) {
      for (OptionSpec row : groups[static_cast<std::size_t>(group)]) {
        row.group = group;
        all.push_back(row);
      }
    }
    return all;
  });
}

std::string_view title_of(OptionGroup group) {
  constexpr std::string_view kTitles[] = {"Order", "Job", "Files", "Resources", "Reporting"};
  return kTitles[static_cast<std::size_t>(group)];
}

std::string display_name(const OptionSpec& spec) {
  if (spec.name.empty()) return std::string("-") + spec.letter;
  return "--" + std::string(spec.name);
}

}  // namespace gsort
