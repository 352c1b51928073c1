// The manual page, in the man macros of mandoc and groff. Sections are in the order that mandoc's
// linter expects.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "options/option_spec.hpp"
#include "options/pages/generate.hpp"
#include "options/pages/help_texts.hpp"
#include "options/pages/wrapped.hpp"

namespace gsort {
namespace {

constexpr std::size_t kColumns = 79;

constexpr std::string_view kDescription =
    R"(gsort sorts files of binary integers and floating-point numbers that may be
larger than memory, on NVIDIA GPUs if there are any and they are faster, else on
all cores.
No
.IR FILE ,
or \-, is standard input.
Several inputs are sorted as if they were one, unless
.B \-\-each
is given.
The result goes to standard output, or to the file that
.B \-o
names, which may be an input.
.PP
While reading, gsort computes a fingerprint of all elements; while writing, it
computes it again, and checks the order and that every position is written once.
If anything differs, the output does not appear and the status is 2; a pipe
receives only part of the output.
Text and compressed output are made after this check; only
.B \-\-verify\-encoding
decodes them and compares.
.PP
A
.I SIZE
is 512M, 4G or 50%; K is 1024, and a number without a unit is an error.
An option may repeat: the last one counts, except that
.BR \-k ,
.BR \-T ,
.B \-\-from
and
.B \-v
add up and
.B \-o
is given once.
Long options are not abbreviated.
)";

constexpr Example kMoreExamples[] = {
    {"gsort --argsort a.f32 -o order.u32", "positions, as numpy.argsort gives them"},
    {"gsort --float-order=total a.f32 -o b.f32", "-NaN first, -0 before +0"},
    {"gsort --key=2r,0 a.npy -o b.npy",
     "rows of a table, by column 2 in descending order, then by column 0"},
    {"gsort -t u64 --skip=8 --skip-end=4 ids -o sorted",
     "keys between 8 leading and 4 trailing bytes, which are copied"},
    {"gsort -t bytes32 -u --count hashes -o counted", "SHA-256 sums, each with its count"},
    {"gsort -t u64 -m --count --format=bin day1 day2 -o both",
     "adds up what -u --count counted in two files"},
    {"gsort --record=16 --key=0:u64 --top=10 in -o ten", "the 10 records with the least keys"},
};

constexpr std::string_view kFingerprintExample =
    R"(.PP
Fingerprints show whether another program has lost, doubled or changed an
element:
.PP
.RS 4
.nf
before=$(gsort \-\-fingerprint monday.u64 tuesday.u64)
other\-sort monday.u64 tuesday.u64 > days.u64
gsort \-c \-\-expect=$before days.u64
.fi
.RE
.PP
The status is 0 if days.u64 is sorted and holds the elements of both files.
If a single byte has changed, it is 1, and the message has both counts and both
fingerprints.
)";

constexpr std::string_view kFiles = R"(.TP
\fIDIR\fR of \fB\-T\fR, else $TMPDIR, else the folder of the output, else /var/tmp
Runs that do not fit in memory are written here.
The files have no names, so that nothing is left behind however gsort ends,
even by SIGKILL; only
.BR df (1)
shows the space they use.
.TP
the folder of the output
The output is written there without a name, synced, and put in place by a
rename when it is complete.
If it replaces a file, it has a hidden name, .gsort\- and 16 digits, between a
link and a rename.
Only SIGKILL or a power cut in these microseconds leaves that file, and the next
sort with the same output removes it.
On file systems without unnamed files (NFS, FAT) the output has such a name
while it is written; INT, TERM and HUP remove it.
.IP
With
.BR \-\-replace=write ,
OUTPUT.gsort\- and 8 digits is the complete output, there or in a folder for
runs, while it is written into OUTPUT.
If gsort ends in this step, OUTPUT is partial, and that file stays.
.IP
A new output has the mode and the access list that
.BR open (2)
gives a file in that folder.
An output that replaces a file has that file's mode and access list, but not its
other extended attributes.
.TP
$XDG_CACHE_HOME/gsort/rates.json, else ~/.cache/gsort/rates.json
Sorting rates measured on this machine, if it may have a GPU;
.B \-\-engine auto
uses them to choose.
A sort of 1 GiB or more that is faster than what is known replaces a rate;
.B \-vv
then says which one, and names the file.
You can delete it; sorting works without it, and with GSORT_CACHE=off it is
neither read nor written.
)";

constexpr std::string_view kNotes = R"(SIGUSR1 prints a line that says how far the sort is.
If a signal kills gsort, the old output remains, and nothing else.
.PP
In the last line of
.BR \-v ,
the time at best is that of the same sort if no stage had waited for another;
the bottleneck is the stage that takes most of this time.
Packed runs hold differences of keys
.RB ( \-\-pack\-runs ).
.PP
gsort does not write binary output to a terminal unless given
.BR \-o " " \- .
.PP
If neither
.BR \-t ,
a suffix, GSORT_TYPE nor a header gives the type, gsort assumes i32, and says so
on standard error unless
.B \-q
is given.
The assumption may be wrong, and sorting keys by the wrong type scrambles them.
Therefore an output whose type is assumed cannot replace an input,
and an input that is plainly not raw keys is an error:
a FILE with the suffix of a CSV or TSV table, JSON, Parquet, Arrow, HDF5, SQLite
or another format of tables, arrays or programs, of a zip, 7z or tar archive;
a FILE that begins as such a file does;
and text, which is recognized if its first 4096 bytes are printable UTF\-8 and
contain ends of lines.
Shorter text needs 48 bytes, or 13 if it is numbers alone.
The message says how to sort such a file;
with
.BI \-t " TYPE"
its bytes are sorted as they are,
but never the header of a NumPy array or of a FITS file.
Text that is read and written as text needs no type: a line that is not a number
of the type is an error.
.PP
The memory for decompression is part of
.BR \-S :
as much as the first header of each compressed FILE requires; with
.BR \-m ,
the sum of these.
A pipe, and later streams of a FILE, may use an eighth of
.BR \-S ,
at least 10 MiB (or a quarter of
.BR \-S ,
if that is less) and at most 136 MiB; the inputs of
.B \-m
share it.
If a stream needs more, gsort stops with an error that names a sufficient
.BR \-S .
From a pipe, raw keys of 4 or more bytes need
.B \-S
of at least 3M to 7M, depending on type and output, and up to 38M if the output
is compressed at the usual level; high levels of xz and zstd need much more.
If
.B \-S
is too small, the error gives the least size that works.
.PP
Keys are in the order of numpy.sort; equal floats are ordered by their bits.
Structured arrays are sorted by all fields unless
.B \-\-key
names some.
S of up to 1,024 bytes and U of up to 32 characters are sorted; longdouble and
complex arrays are not supported.
.PP
Another program called gsort sorts genomic files, and GNU sort has that name
on some systems.
)";

constexpr std::string_view kSeeAlso = R"(.BR sort (1)
for lines of text,
.BR od (1)
to look into binary files,
.BR zstd (1),
.BR nvidia\-smi (1).
.PP
README.md, in the folder doc/gsort\-binary of the installation.
)";

constexpr std::string_view kBugs = R"(Sorts have been tested with at most four GPUs.
.PP
A report of a bug helps most with the command, its messages with
.BR \-vv ,
and what
.B \-\-version
and
.B \-\-explain
print.
)";

// Roff takes '\\' for an escape, a bare '-' for a hyphen, and '.' or '\'' at the start of a line
// for a request; any word may come to the start of a line.
std::string literal(std::string_view text) {
  std::string out;
  char before = ' ';
  for (const char letter : text) {
    if ((letter == '.' || letter == '\'') && before == ' ') out += "\\&";
    if (letter == '-') out += '\\';
    out += letter == '\\' ? std::string("\\e") : std::string(1, letter);
    before = letter;
  }
  return out;
}

// Sentences, each on a new line, so that roff spaces them; empty for an empty text.
std::string sentences(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t end = text.find(". ");
    end = end == std::string_view::npos ? text.size() : end + 1;
    out += wrapped(literal(text.substr(0, end)), kColumns);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string section(std::string_view title) {
  return fmt::format(".SH {}\n", title);
}

// "\fB-S\fR, \fB--buffer-size\fR=\fISIZE\fR"
std::string term_of(const OptionSpec& spec) {
  std::string term;
  if (spec.letter != '\0') term = fmt::format(R"(\fB\-{}\fR)", spec.letter);
  if (!spec.name.empty()) {
    term += fmt::format(R"({}\fB\-\-{}\fR)", term.empty() ? "" : ", ", literal(spec.name));
  }
  const std::string value = fmt::format("\\fI{}\\fR", literal(spec.value_name));
  if (!spec.takes_value()) return term;
  if (spec.value_is_optional()) return term + fmt::format("[={}]", value);
  return term + (spec.name.empty() ? " " : "=") + value;
}

std::string options_section(Program program = Program::kGsort) {
  std::string text = section("OPTIONS");
  for (const OptionGroup group : kAllOptionGroups) {
    std::string rows;
    for (const OptionSpec& spec : option_table(program)) {
      if (spec.group != group) continue;
      const std::string alias =
          spec.alias.empty() ? "" : fmt::format("--{} is another name.", spec.alias);
      const std::string more = sentences(spec.more) + sentences(spec.rules) + sentences(alias);
      const char* const stop = spec.help.ends_with('.') || more.empty() ? "" : ".";
      rows += fmt::format(".TP\n{}\n{}{}\n{}", term_of(spec), literal(spec.help), stop, more);
    }
    if (!rows.empty()) text += fmt::format(".SS {}\n{}", title_of(group), rows);
  }
  return text;
}

template <std::size_t kCount>
std::string described_section(std::string_view title, const Described (&rows)[kCount]) {
  std::string text = section(title);
  for (const Described& row : rows) {
    text += fmt::format(".TP\n\\fB{}\\fR\n{}{}\n{}", literal(row.name), literal(row.brief),
                        row.more.empty() ? "" : ".", sentences(row.more));
  }
  return text;
}

// Ends the section of the environment.
std::string options_of_the_environment() {
  std::string names;
  for (const OptionSpec& spec : option_table()) {
    if (!spec.in_environment) continue;
    names += (names.empty() ? "" : ", ") + display_name(spec);
  }
  return ".PP\n" + sentences("GSORT_OPTIONS takes " + names + ".");
}

template <std::size_t kCount>
std::string examples(const Example (&rows)[kCount]) {
  std::string text;
  for (const Example& example : rows) {
    text +=
        fmt::format(".TP\n\\fB{}\\fR\n{}\n", literal(example.command), literal(example.meaning));
  }
  return text;
}

}  // namespace

std::string manual_page() {
  std::string text =
      ".\\\" Made by gsort --generate=man from the table of options.\n"
      ".TH GSORT 1 " GSORT_PAGES_DATE " \"gsort " GSORT_VERSION "\"\n";
  text += section("NAME") + "gsort \\- sort files of binary numbers of any size\n";
  text += section("SYNOPSIS") + ".B gsort\n.RI [ OPTION ]...\n.RI [ FILE ]...\n";
  text += section("DESCRIPTION") + std::string(kDescription);
  text += options_section();
  text += described_section("ENVIRONMENT", kVariables) + options_of_the_environment();
  text += section("FILES") + std::string(kFiles);
  text += described_section("EXIT STATUS", kExitStatuses);
  text += section("EXAMPLES") + examples(kExamples) + examples(kMoreExamples);
  text += std::string(kFingerprintExample);
  text += section("NOTES") + std::string(kNotes);
  text += section("SEE ALSO") + std::string(kSeeAlso);
  return text + section("BUGS") + std::string(kBugs);
}

std::string cluster_manual_page() {
  std::string text =
      ".\\\" Made by gsort-mpi --generate=man from the table of options.\n"
      ".TH GSORT\\-MPI 1 " GSORT_PAGES_DATE " \"gsort " GSORT_VERSION "\"\n";
  text += section("NAME") + "gsort\\-mpi \\- sort files of binary numbers on several machines\n";
  text += section("SYNOPSIS") +
          ".B mpirun\n.RI [ OPTION ]...\n.B gsort\\-mpi\n.RI [ OPTION ]...\n"
          ".IR FILE ...\n.B \\-o\n.I OUTPUT\n";
  text += section("DESCRIPTION") + sentences(kClusterNotes);
  text += options_section(Program::kCluster);
  text += described_section("ENVIRONMENT", kClusterVariables);
  text += described_section("EXIT STATUS", kClusterExitStatuses);
  text += section("EXAMPLES") + examples(kClusterExamples);
  return text + section("SEE ALSO") + ".BR gsort (1),\n.BR mpirun (1),\n.BR srun (1).\n";
}

}  // namespace gsort
