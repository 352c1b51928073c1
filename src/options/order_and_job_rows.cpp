// The rows of the table of options for order and job. They change the result, so they must not come
// from GSORT_OPTIONS.
#include "form/valid_format.hpp"
#include "options/form_options.hpp"
#include "options/option_spec.hpp"
#include "options/option_values.hpp"
#include "options/record_options.hpp"
#include "options/result_options.hpp"
#include "options/share_options.hpp"

namespace gsort {
namespace {

using Text = std::string_view;

constexpr Choice<bool> kEndians[] = {{"little", false}, {"big", true}};
constexpr Choice<FloatOrder> kFloatOrders[] = {{"numeric", FloatOrder::kNumeric},
                                               {"total", FloatOrder::kTotal}};
constexpr Choice<ExplainMode> kExplainModes[] = {{"text", ExplainMode::kText},
                                                 {"json", ExplainMode::kJson}};

constexpr std::string_view kTypeHelp =
#define GSORT_NAME(type, name, ...) " " name
    "type:" GSORT_KEY_TYPES(GSORT_NAME) " bytesN";
#undef GSORT_NAME

constexpr OptionSpec kOrderRows[] = {
    {.name = "type",
     .letter = 't',
     .value_name = "TYPE",
     .choices = kKeyTypeChoices,
     .common = true,
     .help = kTypeHelp,
     .more = "Without it, the suffix of the first FILE decides (dump.u64), else $GSORT_TYPE, else "
             "i32; an output of that assumed type cannot replace a FILE. uint64, float64, double "
             "and '<u8' are names of types, too. time64 is i64 with its least number, NumPy's NaT, "
             "last. bytesN: N bytes, at most 32.",
     .rules =
         "bytesN compares bytes as unsigned numbers; in text, a key is 2N hexadecimal digits. No "
         "name depends on case; uint64_t and all of NumPy's codes with a byte order are names. "
         "Without -t, a warning names the first FILE whose suffix says another type. If i32 is "
         "only assumed, a line on standard error says so, and a FILE that is plainly something "
         "else is an error (see NOTES). -v and --explain show the type and where it comes from.",
     .apply =
         [](Options& o, Text v) {
           set_type(o, v, "--type");
           o.type_source = TypeSource::kOption;
         }},
    {.name = "endian",
     .value_name = "little|big",
     .help = "byte order in the files (little)",
     .apply =
         [](Options& o, Text v) {
           o.key.big_endian = parse_choice(v, kEndians, "--endian");
           o.byte_order_is_asked = true;
         }},
    {.name = "reverse",
     .alias = "descending",
     .letter = 'r',
     .common = true,
     .help = "descending order",
     .apply = [](Options& o, Text) { o.key.descending = true; }},
    {.name = "float-order",
     .value_name = "numeric|total",
     .help = "order of floats (numeric)",
     .more =
         "numeric: -0 equals +0; NaN are equal, last, with -r first; -m writes equal ones in any "
         "order. total: IEEE 754's, -NaN, ..., -0, +0, ..., +NaN.",
     .rules =
         "Equal floats keep their order in records and positions. Keys alone are ordered by "
         "their bits, except by --merge. --check and --merge accept equal floats in any order.",
     .apply =
         [](Options& o, Text v) {
           o.key.float_order = parse_choice(v, kFloatOrders, "--float-order");
           o.float_order_is_asked = true;
         }},
    {.name = "record",
     .value_name = "SIZE",
     .help = "sort records of SIZE bytes, by --key",
     .more = "Records with equal keys keep their order. SIZE is at most 16K; a number without a "
             "unit is in bytes. Sort benchmark: --record=100 --key=0:bytes10.",
     .rules = "A record moves as a whole.",
     .apply = set_record},
    {.name = "key",
     .letter = 'k',
     .value_name = "OFFSET[:TYPE][r],...",
     .help = "positions and types of the keys of a --record",
     .more = "TYPE is one of --type's, which is also the default. r reverses one key, -r all. "
             "Further keys break ties: --key=0:u32,4:u32 sorts pairs. In a .npy FILE, NAME[r] is a "
             "field, N[r] a column of its rows; omit --record.",
     .rules = "A repeated --key adds keys. Keys do not overlap. Type a backslash before a comma or "
              "a backslash in NAME. Without --key, all fields of a NumPy array of records are "
              "keys, in their order. Columns count from 0. --key=2r,0 sorts whole rows of a .npy "
              "array of two dimensions; a row has at most 16 KiB, and -u keeps the first of rows "
              "with equal keys. Without --key, gsort sorts each row by itself. An array in Fortran "
              "order must be in an uncompressed file; the output is in C order.",
     .apply = add_record_keys},
    {.name = "unique",
     .letter = 'u',
     .common = true,
     .help = "one of each key",
     .more = "Keeps the first element of each key. With -c, no key may repeat.",
     .rules = "For floats, see --float-order; --count, --intersect and --subtract write equal "
              "floats as 0 or NaN without a sign.",
     .apply = [](Options& o, Text) { o.unique = true; }},
    {.name = "count",
     .help = "with -u: count each key; with -m: add counts",
     .more = "In raw output the count, unsigned 64-bit, follows the key; in text: count, tab, "
             "key; .npy: fields key and count. Not with --top or records (except bytesN).",
     .rules = "The count has the byte order of the keys. gsort verifies the counts, too. Works "
              "with all key types. With -u the output cannot be one of the FILEs. With -m, but "
              "without -u, FILEs hold keys with counts, and the counts of equal keys are added; "
              "a key that repeats in a FILE, and sums of more than 64 bits, are errors. "
              "--format=bin is needed to replace such a raw FILE, and to read one whose suffix is "
              "that of a key type. The fingerprint is that of the counted keys.",
     .apply = [](Options& o, Text) { o.count = true; }},
    {.name = "min-count",
     .value_name = "N",
     .help = "with --count: keys that occur N times or more",
     .apply = set_min_count},
    {.name = "batch-elements",
     .value_name = "N",
     .help = "sort each group of N elements on its own",
     .more = "Many arrays in one file; the last may be shorter. -c checks each array.",
     .rules =
         "If several arrays fit in memory, each core sorts one; larger arrays are sorted one after "
         "the other on all cores. A GPU sorts many at once; arrays of records and of 128-bit keys "
         "are sorted on the CPU. The rows of a two-dimensional .npy array need no such option.",
     .apply = set_batch_elements},
    {.name = "skip",
     .value_name = "BYTES",
     .help = "a header of each FILE, before the first key",
     .rules = "With --skip=0, gsort also sorts raw data that begins like a .npy or FITS file.",
     .apply = set_skip},
    {.name = "skip-end",
     .value_name = "BYTES",
     .help = "the end of each FILE, after the last key",
     .apply = set_skip_end},
    {.name = "elements",
     .value_name = "N",
     .help = "sort N elements of each FILE; bytes may follow",
     .more = "The output begins and ends like the first FILE, unless it is .npy or SOSD.",
     .rules = "If --skip-end is given, too, exactly N elements must be between header and end; "
              "else at most 16 MiB may follow them. --split-output writes the header to the first "
              "file, the end to the last. --elements cannot sort text; a .npy or SOSD file has its "
              "own header and takes none of --skip, --skip-end, --elements. For a FITS file, or "
              "without a type for a file of vectors (.fvecs) or a SOSD file, an error names the "
              "options: --skip=5760 --record=24 --elements=1000 --endian=big --key=0:f64.",
     .apply = [](Options& o, Text v) { o.input_form.elements = parse_elements(v, "--elements"); }},
};

constexpr OptionSpec kJobRows[] = {
    {.name = "check",
     .letter = 'c',
     .common = true,
     .help = "check whether FILE is sorted; status 1 if not",
     .more = "Prints a summary, or the first element out of order and the wanted order.",
     .rules =
         "Several FILEs are checked one after the other, as with --each. Messages count elements "
         "from 0, and lines of text from 1.",
     .apply = [](Options& o, Text) { o.check = CheckMode::kReport; }},
    {.letter = 'C',
     .help = "like -c, without a message",
     .apply = [](Options& o, Text) { o.check = CheckMode::kQuiet; }},
    {.name = "fingerprint",
     .help = "print the fingerprint of all elements",
     .more = "Sorts nothing. The fingerprint is the same for the same elements, in any order and "
             "in any division into FILEs. -c, -v and --stats show it, too.",
     .rules = "Other elements almost certainly have another fingerprint. It detects faults; it "
              "does not protect against a person who chooses elements to deceive.",
     .apply = [](Options& o, Text) { o.fingerprint = true; }},
    {.name = "expect",
     .value_name = "FINGERPRINT",
     .help = "status 1 if the fingerprint is another one",
     .rules = "With -c or --fingerprint: has another program lost or changed an element? "
              "FINGERPRINT is that of the elements that gsort must read, as -c, --fingerprint, -v "
              "and --stats print it. EXAMPLES has an example.",
     .apply = [](Options& o, Text v) { o.expected = checked_fingerprint(v, "--expect"); }},
    {.name = "merge",
     .letter = 'm',
     .common = true,
     .help = "merge inputs that are already sorted",
     .more = "A FILE that is not sorted is an error; no output appears, but a pipe may have "
             "received part of it. Equal records come in the order of the FILEs.",
     .rules = "Every FILE must be in the requested order, which is checked as it is read; keys may "
              "repeat. The error names the first element out of order. If there are more FILEs "
              "than memory has room for, groups of them are merged first.",
     .apply = [](Options& o, Text) { o.merge = true; }},
    {.name = "intersect",
     .help = "with -m: one of each key that is in every FILE",
     .rules = "In one pass, on the CPU, without temporary files. The output has one of each key, "
              "as with "
              "-u; with records, the first one in the first FILE. Works with all key types.",
     .apply = [](Options& o, Text) { o.intersect = true; }},
    {.name = "subtract",
     .help = "with -m: one of each key of only the first FILE",
     .rules = "One of each key of the first FILE that is in no other FILE. All else is as with "
              "--intersect.",
     .apply = [](Options& o, Text) { o.subtract = true; }},
    {.name = "top",
     .value_name = "N",
     .common = true,
     .help = "write only the first N elements of the result",
     .more = "With -r the N greatest, with -u the first N distinct keys. Reads once, without "
             "temporary files, if N elements fit in memory.",
     .rules = "If they do not fit, or if N is more than a quarter of all elements, gsort sorts "
              "everything and writes the first N.",
     .apply = [](Options& o, Text v) { o.top = parse_elements(v, "--top"); }},
    {.name = "argsort",
     .help = "write the positions of the elements in order",
     .more = "Positions count from 0 over all FILEs: unsigned 32-bit, or 64-bit above 2^32 "
             "elements. Equal elements keep their order, also with -r, as with "
             "numpy.argsort(kind=\"stable\"). With -u: where each key occurs first.",
     .rules =
         "Position 0 is the first element of the first FILE. The numbers have the byte order of "
         "the keys; .npy and text outputs work, too. With --top N, the positions of the first N. A "
         "header (--skip) is not copied, and the output cannot be one of the FILEs.",
     .apply = [](Options& o, Text) { o.argsort = true; }},
    {.name = "shuffle",
     .value_name = "SEED",
     .implicit_value = "random",
     .help = "write the elements in a random order",
     .more = "The same SEED gives the same order. With --top=N: a sample.",
     .rules =
         "The order is pseudorandom. It depends only on SEED, a number below 2^64, and the number "
         "of elements, not on memory or threads. Without SEED, gsort draws one, which -v and "
         "--stats show. --record needs no --key; the rows of a .npy FILE stay whole. gsort appends "
         "8 bytes to each element and sorts by them: they take memory and temporary space, and the "
         "fingerprint that -v shows includes them.",
     .apply = set_shuffle},
    {.name = "each",
     .help = "sort each FILE separately",
     .more = "The result replaces FILE, or appears in -o DIR, an existing folder, under its name. "
             "If one fails, gsort continues and ends with status 2.",
     .rules = "Each output appears whole or not at all. Without -t, the suffix of each FILE gives "
              "its type. A message names a FILE that fails. With -c, each FILE is checked, and the "
              "exit status is the highest of all.",
     .apply = [](Options& o, Text) { o.each = true; }},
    {.name = "split-output",
     .value_name = "N",
     .help = "write the result as N files of equal size",
     .more = "In -o part-{}.u64, {} becomes 0 to N-1, with leading zeros. N is at most 256. All "
             "files appear or none; a file that exists already is an error. Not with --resume, -u "
             "or other unknown numbers of elements.",
     .rules = "The numbers of elements differ by one at most. Raw keys and text: cat part-*.u64 "
              "prints what one output would hold. Each .npy or SOSD file is complete by itself. "
              "SIGKILL or a power cut in the last step may leave some of the files. Works with all "
              "formats and compression, but not with rows of an array. The number of elements is "
              "unknown with -u, --intersect, --subtract, and with -m and --batch-elements of "
              "pipes, text and compressed inputs.",
     .apply = [](Options& o,
                 Text v) { o.split_output = parse_count(v, 1, kMostParts, "--split-output"); }},
    {.name = "explain",
     .value_name = "text|json",
     .implicit_value = "text",
     .common = true,
     .help = "print the plan and stop; status 2 if none works",
     .rules = "Reads sizes and beginnings of files. Shows every size and count of the job, and the "
              "free memory and disk space. Does not "
              "work with --check.",
     .apply = [](Options& o, Text v) { o.explain = parse_choice(v, kExplainModes, "--explain"); }},
    {.name = "resume",
     .value_name = "DIR",
     .help = "keep runs in DIR; the same command resumes",
     .more = "Completed runs stay in DIR however the sort ends. FILEs are regular files and may "
             "not change; output and resources may. At the end DIR is empty, and removed if gsort "
             "created it.",
     .rules = "The same command continues after the last completed run. Every run is synced, so "
              "the sort takes longer. DIR is created if it does not exist. A kind of sort that has "
              "changed is an error, too. No run stays in memory. If gsort is killed just after it "
              "replaced its input, running it again reports that the sort is complete. The output "
              "cannot replace one of several FILEs, the FILE of --shuffle, or that of --elements "
              "with --top or -u.",
     .apply = [](Options& o, Text v) { o.resume = checked_path(v, "--resume"); }},
    {.name = "form",
     .value_name = "DIR",
     .help = "form the runs of a --share in DIR, and stop",
     .more = "Processes on hosts that see the same files sort together: each forms the runs of a "
             "share and takes a part of the output (--take); one joins the parts (--join). Repeat "
             "failed commands; remove the folders at the end.",
     .rules = "Any scheduler can start the commands, in this order, and repeat any of them, even "
              "while another process runs the same one. DIR appears when all its runs are "
              "complete. If DIR already holds this share, nothing is read. The output has the same "
              "bytes as that of one gsort.",
     .apply = [](Options& o, Text v) { o.form = checked_path(v, "--form"); }},
    {.name = "share",
     .value_name = "I/P",
     .help = "with --form: share I, from 0, of P of the input",
     .more = "All shares have the same FILEs: raw, .npy or SOSD, and not compressed.",
     .rules = "Give every share the same FILEs, type and order.",
     .apply = [](Options& o, Text v) { o.share = parse_number_of(v, "--share"); }},
    {.name = "inputs-here",
     .help = "with --form: FILEs of this share only",
     .more = "FILEs may also be text or compressed, but not pipes.",
     .rules = "Equal records keep the order of the shares.",
     .apply = [](Options& o, Text) { o.inputs_here = true; }},
    {.name = "take",
     .value_name = "I/P",
     .help = "write part I, from 0, of P parts of the output",
     .more = "The part is verified and written to a hidden file beside the output. If -o has {}, "
             "as in part-{}.txt, each part has its own file, which may be text or compressed, and "
             "-u, --count and --min-count work.",
     .rules = "--from names the folders of all shares; P may differ from their number. Parts have "
              "equal numbers of elements, except that long ones begin at a page of the file. If -S "
              "has no room to merge all runs at once, some are first merged into temporary runs "
              "(-T). An output of all parts is raw, .npy or SOSD, and not compressed. Parts with "
              "files of their own are numbered from 0; with -u, --count and --min-count, elements "
              "with the same key are all in one part.",
     .apply = [](Options& o, Text v) { o.take = parse_number_of(v, "--take"); }},
    {.name = "from",
     .value_name = "DIR,...",
     .help = "with --take: the folders that --form made",
     .rules = "In any order; a repeated --from adds folders.",
     .apply = set_from},
    {.name = "join",
     .value_name = "P",
     .help = "join P parts that --take has written",
     .more = "Fails if the parts do not hold all elements of the shares in order; then the old "
             "output stays. Leaves a small hidden file beside each output.",
     .rules = "Compares what each process verified. If each part has its own file, all files get "
              "their names. With the hidden file a repeated --join finds the sort complete.",
     .apply = [](Options& o, Text v) { o.join = parse_count(v, 1, kMostShares, "--join"); }},
};

}  // namespace

std::span<const OptionSpec> order_rows() {
  return kOrderRows;
}

std::span<const OptionSpec> job_rows() {
  return kJobRows;
}

}  // namespace gsort
