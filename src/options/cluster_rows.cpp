// The options of gsort-mpi: those of gsort that act on several machines as on one, and its own. Any
// other option of gsort is an error that says so.
#include <algorithm>
#include <array>

#include "options/option_spec.hpp"
#include "options/option_values.hpp"

namespace gsort {
namespace {

using enum OptionGroup;
using Text = std::string_view;

constexpr unsigned kMostSeconds = 1'000'000;

// By long name, or letter.
constexpr std::string_view kShared[] = {
    "type",        "endian",      "reverse",   "float-order",
    "record",      "key",         "skip",      "skip-end",
    "elements",    "output",      "format",    "temporary-directory",
    "buffer-size", "gpu-memory",  "parallel",  "engine",
    "device",      "direct-io",   "pack-runs", "no-verify",
    "q",           "v",           "color",     "h",
    "help",        "version",     "stats",     "trace",
    "explain",     "resume",      "progress",  "check",
    "C",           "fingerprint", "expect",    "unique",
    "top",         "inputs-here", "compress",  "verify-encoding",
    "shuffle"};

// Texts that differ from the help of gsort, by long name.
struct OwnText {
  Text name;
  Text more;
  Text help = {};  // if that differs, too
};
constexpr OwnText kOwnTexts[] = {
    {"output",
     "A regular file, in a folder that all hosts see under the same path. FILE may be an input. "
     "With --parts, FILE has {rank} in its name."},
    {"format",
     "Raw keys, NumPy arrays (of records, too) of one dimension, or SOSD files, which are raw keys "
     "behind their number in 64 bits, little endian; with --parts the output may be text, decimal "
     "numbers one a line. Without it, suffixes decide (.npy, .txt, else raw), for each FILE and "
     "for the output; an output without such a suffix gets the format of the first FILE. One value "
     "is for input and output; --format=npy:bin reads arrays and writes raw keys. An array's "
     "header gives type and byte order; -t gives the type of a SOSD file. In text, every NaN is "
     "nan or -nan, without its payload; -v prints how many payloads were lost."},
    {"temporary-directory",
     "Name a local disk: each host keeps the runs of its share there. The default is $TMPDIR, "
     "else /var/tmp."},
    {"resume",
     "However the sort ends, completed runs stay in DIR, and the same command continues with them. "
     "Each process uses those in folders that it sees; only runs that no process sees are formed "
     "again. The number of processes and the hosts may differ. DIR is on a local disk of each "
     "host, or on a file system that all hosts see, so that other hosts can use the runs. It is "
     "created if it does not exist; at the end it is empty, and removed if gsort-mpi created it. "
     "The output and the resources may differ, but an input or a kind of sort that has changed is "
     "an error. Every run is synced and none stays in memory, so the sort takes longer. 8- and "
     "16-bit keys have no runs."},
    {"compress",
     "Needs --parts. Without it, the output's suffix decides (.gz, .bz2, .xz, .zst), else none. "
     "Each file is a series of members, which every tool reads as one file."},
    {"progress",
     "Rank 0 shows how far all processes are, and the slowest. auto: if its standard error is a "
     "terminal, after the first second; most launchers make it a pipe. always: also elsewhere, one "
     "line per second, the last of which says done. json: the same as JSON, one object per line."},
    {"stats", "Of each process: runs, bytes, memory, time of each phase, and waiting time."},
    {"trace",
     "One file for all processes, in Chrome's trace format. Each process uses up to 32 MiB of "
     "memory beyond -S."},
    {"buffer-size",
     "Of each process: 512M, 4G, or 50%. The memory of a host is divided equally among its "
     "processes. A percentage is of the part of one process; a size that exceeds this part is an "
     "error. The default is half of an equal part of the available memory, within the container's "
     "limits."},
    {"gpu-memory",
     "Of each GPU that a process uses, for this process. The default is 90% of what is free; if "
     "processes share a GPU, of an equal part of it. The driver uses more for any process (about "
     "0.5 GiB on an H100)."},
    {"engine",
     "auto uses GPUs on hosts that have any, if a process's share is large enough to make up for "
     "their start; --explain shows the choice. cuda without a usable GPU on one of the hosts is an "
     "error. 8- and 16-bit keys always use the CPU. If a GPU fails, the sort ends with an error; "
     "one process without --resume sorts on the CPU instead if auto chose the GPU."},
    {"device",
     "The same numbers for each host. The processes of a host divide these GPUs among them; if "
     "there are more processes than GPUs, those that share one divide its memory. auto uses one "
     "GPU for a process, or more of its GPUs if that is predicted to be faster; all uses every "
     "GPU."},
    {"fingerprint",
     "Reads all FILEs and sorts nothing. It is the fingerprint that gsort prints, and -c shows "
     "it, too."},
    {"expect",
     "With -c or --fingerprint: the elements read must be those whose FINGERPRINT this is, as -c "
     "and --fingerprint show it, of gsort, too."},
    {"top",
     "With -r the N greatest. Each host forms the runs of its whole share; only what is among the "
     "first N crosses the network. With -u, N elements of distinct keys: then all elements cross "
     "the network."},
    {"shuffle",
     "SEED, a number below 2^64, must be given: the order depends only on it and the number of "
     "elements, and is that of gsort. --record needs no --key. Elements are sorted, and cross the "
     "network, with 8 bytes behind each."},
    {"inputs-here",
     "Each process reads the FILEs that its own command names, on its own disks; all other options "
     "must be the same. Elements are sorted, or checked by -c, as if the FILEs of rank 0 came "
     "first, then those of rank 1, and so on: equal records keep this order. -t, or the suffix of "
     "rank 0's first FILE, gives the type.",
     "each host has FILEs of its own"},
    {"unique",
     "Of records, the first one of each key is written. Each process first merges its share into "
     "one more run, of distinct elements, in memory or temporary files; then all write from these "
     "runs. With --parts, but without --top, each writes at once what does not repeat in its "
     "share, so the files differ in length.",
     "one of each key; with -c: no key may repeat"},
};

constexpr auto kOwnRows = std::to_array<OptionSpec>({
    {.name = "parts",
     .group = kFiles,
     .help = "write one file per process",
     .more = "-o gives the names: in sorted-{rank}.u64, gsort-mpi replaces {rank} by the number of "
             "the process, 0 to P-1, with leading zeros. The folders may be local disks. The "
             "files hold consecutive parts of the result, which differ by one element at most. "
             "Joined in the order of their numbers, files of raw keys or text, also compressed, "
             "hold what one output would hold; each .npy or SOSD file is complete by itself. "
             "Either all files appear or none, unless a process is killed in the last step; a file "
             "that exists already is an error.",
     .apply = [](Options& o, Text) { o.parts = true; }},
    {.name = "generate",
     .value_name = "man|bash|zsh|fish",
     .group = kReporting,
     .help = "a manual page, or a shell's completion",
     .apply = [](Options& o, Text v) { o.show = parse_choice(v, kGenerated, "--generate"); }},
    {.name = "peer-timeout",
     .value_name = "SECONDS",
     .group = kReporting,
     .in_environment = true,
     .help = "how long a host may be silent (60)",
     .more = "If a host sends nothing for this long, the sort ends with an error that names the "
             "host. Hosts that work send messages all the time. MPI must also start within this "
             "time, but has at least 10 seconds.",
     .apply =
         [](Options& o, Text v) {
           o.peer_timeout_seconds = parse_count(v, 1, kMostSeconds, "--peer-timeout");
         }},
});

bool is_shared(const OptionSpec& row) {
  const std::string_view letter(&row.letter, 1);
  return std::ranges::find(kShared, row.name.empty() ? letter : row.name) != std::end(kShared);
}

}  // namespace

std::vector<OptionSpec> cluster_rows(std::span<const OptionSpec> rows) {
  std::vector<OptionSpec> shared;
  std::ranges::copy_if(rows, std::back_inserter(shared), is_shared);
  for (OptionSpec& row : shared) {
    const auto own = std::ranges::find(kOwnTexts, row.name, &OwnText::name);
    if (own == std::end(kOwnTexts)) continue;
    row.more = own->more;
    row.rules = {};
    if (!own->help.empty()) row.help = own->help;
  }
  for (const OptionSpec& own : kOwnRows) {  // behind the last one of its group
    shared.insert(std::ranges::upper_bound(shared, own.group, {}, &OptionSpec::group), own);
  }
  return shared;
}

}  // namespace gsort
