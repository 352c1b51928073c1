// The rows of the table of options that say what is to be done: order and job. What they change
// must not come from GSORT_OPTIONS.
#include <array>

#include "options/form_options.hpp"
#include "options/option_spec.hpp"
#include "options/option_values.hpp"
#include "options/record_options.hpp"
#include "options/result_options.hpp"
#include "options/share_options.hpp"

namespace gsort {
namespace {

using enum OptionGroup;
using enum ValueKind;
using Text = std::string_view;

constexpr Choice<bool> kEndians[] = {{"little", false}, {"big", true}};
constexpr Choice<ExplainMode> kExplainModes[] = {{"text", ExplainMode::kText},
                                                 {"json", ExplainMode::kJson}};

constexpr std::string_view kTypeHelp =
#define GSORT_NAME(type, name, ...) " " name
    "key type:" GSORT_KEY_TYPES(GSORT_NAME);
#undef GSORT_NAME

constexpr auto kRows = std::to_array<OptionSpec>({
    {.name = "type",
     .letter = 't',
     .value_kind = kRequired,
     .value_name = "TYPE",
     .choices = kKeyTypeChoices,
     .group = kOrder,
     .common = true,
     .help = kTypeHelp,
     .more = "Without it, the suffix of the first FILE decides (dump.u64), else $GSORT_TYPE, "
             "else i32; a warning names the first FILE whose suffix says another type. If i32 is "
             "only assumed, a line on standard error says so, the output cannot replace a FILE, "
             "and a FILE that is plainly something else is an error (see NOTES in gsort(1)). "
             "uint64, uint64_t, float64, double and NumPy's codes with a byte order ('<u8', '>f8') "
             "are names of types, too, and none depends on case. Floating-point numbers sort by "
             "IEEE total order: -NaN, -inf, ..., -0, +0, "
             "..., +inf, +NaN. time64 is i64 with its least number, NumPy's NaT, last. -v "
             "and --explain show the type and where it comes from.",
     .apply =
         [](Options& o, Text v) {
           set_type(o, v, "--type");
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
    {.name = "count",
     .group = kOrder,
     .help = "with -u: write each key with its count",
     .more = "Each element of the output is a key followed by its count, an unsigned 64-bit "
             "number in the byte order of the keys. A line of text is the count, a tab and the "
             "key; a .npy output has the fields key and count. gsort verifies the counts, too. "
             "Works with all key types, but not with --record or --top. The output cannot be one "
             "of the FILEs.",
     .apply = [](Options& o, Text) { o.count = true; }},
    {.name = "min-count",
     .value_kind = kRequired,
     .value_name = "N",
     .group = kOrder,
     .help = "with --count: keys that occur N times or more",
     .apply = set_min_count},
    {.name = "batch-elements",
     .value_kind = kRequired,
     .value_name = "N",
     .group = kOrder,
     .help = "sort each group of N elements on its own",
     .more = "Many arrays in one file; the last one may be shorter. If several arrays fit in "
             "memory, each core sorts one; larger arrays are sorted one after the other on all "
             "cores. A GPU sorts many at once; arrays of records and of 128-bit keys are sorted on "
             "the CPU. The rows of a two-dimensional .npy array need no such option. With -c, "
             "checks each array.",
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
             "N. So it does with --argsort, and for records that have more than keys.",
     .apply = set_top},
    {.name = "argsort",
     .group = kJob,
     .help = "write the positions of the elements in order",
     .more = "Position 0 is the first element of the first FILE, and all FILEs count as one "
             "sequence. The output has unsigned numbers: 32 bits if the FILEs have at most 2^32 "
             "elements, else 64 bits, in the byte order of the keys; .npy and text outputs "
             "work, too. Equal elements keep the order of the input, also with -r, as with "
             "numpy.argsort(kind=\"stable\"). With --top N, the positions of the first N; with -u, "
             "the position where each key occurs first. A header (--skip) is not copied, and the "
             "output cannot be one of the FILEs.",
     .apply = [](Options& o, Text) { o.argsort = true; }},
    {.name = "each",
     .group = kJob,
     .help = "sort each FILE separately",
     .more = "The result replaces FILE; with -o DIR, an existing folder, it is written there "
             "under the name of FILE. Each output appears whole or not at all. Without -t, the "
             "suffix of each FILE gives its type. If a FILE fails, a message names it, gsort "
             "continues with the next one, and the exit status is 2. With -c, each FILE is "
             "checked, and the exit status is the highest of all.",
     .apply = [](Options& o, Text) { o.each = true; }},
    {.name = "split-output",
     .value_kind = kRequired,
     .value_name = "N",
     .group = kJob,
     .help = "write the result as N files of equal size",
     .more =
         "N is at most 256. "
         "-o gives the names: in part-{}.u64, gsort replaces {} by 0 to N-1, with leading zeros. "
         "The numbers of elements differ by one at most. Raw keys and text: cat part-*.u64 prints "
         "what one output would hold. Each .npy or SOSD file is complete by itself. Either all "
         "files appear or none, unless SIGKILL or a power cut interrupts the last step; a file "
         "that exists already is an error. Works with all formats and compression, but not with "
         "--resume, rows of an array, or an unknown number of elements: -u, --intersect, "
         "--subtract, and -m and --batch-elements of pipes, text and compressed inputs.",
     .apply = [](Options& o,
                 Text v) { o.split_output = parse_count(v, 1, kMostParts, "--split-output"); }},
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
             "the sort is complete. The output cannot replace one of several FILEs.",
     .apply = [](Options& o, Text v) { o.resume = checked_path(v, "--resume"); }},
    {.name = "form",
     .value_kind = kRequired,
     .value_name = "DIR",
     .group = kJob,
     .help = "form the runs of a --share in DIR, and stop",
     .more = "Several processes, on hosts that see the same files, sort together: each forms the "
             "runs of a share, then each takes a part of the output from the runs of all shares "
             "(--take), then one joins the parts (--join). Any scheduler can start the commands, "
             "in this order, and repeat any of them after a failure, even while another process "
             "runs the same one. DIR appears when all its runs are complete. If DIR already "
             "holds this share, nothing is read. The output has the same bytes as that of one "
             "gsort. Remove the folders after the join.",
     .apply = [](Options& o, Text v) { o.form = checked_path(v, "--form"); }},
    {.name = "share",
     .value_kind = kRequired,
     .value_name = "I/P",
     .group = kJob,
     .help = "with --form: share I, from 0, of P of the input",
     .more = "Give every share the same FILEs, type and order. The FILEs are raw, .npy or SOSD, "
             "and not compressed.",
     .apply = set_share},
    {.name = "inputs-here",
     .group = kJob,
     .help = "with --form: the FILEs are this share's alone",
     .more = "FILEs may also be text or compressed, but not pipes. Equal records keep the order of "
             "the shares.",
     .apply = [](Options& o, Text) { o.inputs_here = true; }},
    {.name = "take",
     .value_kind = kRequired,
     .value_name = "I/P",
     .group = kJob,
     .help = "write part I, from 0, of P parts of the output",
     .more = "--from names the folders of all shares; P may differ from their number. Parts have "
             "equal numbers of elements, except that long ones begin at a page of the file. The "
             "part is verified and written to a hidden file beside the output. If -S has no "
             "room to merge all runs at once, some are first merged into temporary runs (-T). The "
             "output is raw, .npy or SOSD, and not compressed. If the name of -o contains {}, as "
             "in part-{}.txt, each part is written to its own file, numbered from 0. Such parts "
             "may also be text or compressed, and -u, --count and --min-count work; with these "
             "three, elements with the same key are all in one part.",
     .apply = set_take},
    {.name = "from",
     .value_kind = kRequired,
     .value_name = "DIR,...",
     .group = kJob,
     .help = "with --take: the folders that --form made",
     .more = "In any order; a repeated --from adds folders.",
     .apply = set_from},
    {.name = "join",
     .value_kind = kRequired,
     .value_name = "P",
     .group = kJob,
     .help = "join P parts that --take has written",
     .more = "Compares what each process verified: together, the parts must hold all elements of "
             "the shares, in order. Otherwise --join fails and the old output stays. If each part "
             "has its own file, all files get their names. A small hidden file stays beside each "
             "output, so that a repeated --join finds the sort complete.",
     .apply = set_join},
});

}  // namespace

std::span<const OptionSpec> order_and_job_rows() {
  return kRows;
}

}  // namespace gsort
