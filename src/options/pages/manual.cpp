// The manual page, in the man macros that mandoc and groff know. Sections stand in the order that
// mandoc's linter expects.
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

// When the page's own words below were last changed.
constexpr std::string_view kDate = "2026-11-24";

constexpr std::size_t kColumns = 79;

constexpr std::string_view kDescription =
    R"(gsort sorts files of binary integers and floating-point numbers that may be
larger than memory, on an NVIDIA GPU where there is one and it pays, on all
cores otherwise.
No
.IR FILE ,
or \-, is standard input.
Several inputs are sorted as if they were one.
The result goes to standard output, or to the file that
.B \-o
names, which may be an input.
.PP
While it reads, gsort adds up a fingerprint of all elements; while it writes,
it does so again, and checks the order.
If they differ, the output does not appear, and the status is 2;
what goes through a pipe then lacks its end.
.PP
A
.I SIZE
is 512M, 4G or 50%; K is 1024, and a number without a unit is refused.
An option may repeat: the last wins, except that
.B \-T
and
.B \-v
add up and
.B \-o
is given once.
Long options are not abbreviated.
)";

constexpr std::string_view kFiles = R"(.TP
.IR DIR ,
else $TMPDIR, else the folder of the output, else /var/tmp
Where runs are spilled that do not fit in memory, with
.BI \-T " DIR"
the first.
The files have no names, so that nothing is left behind whatever ends gsort,
even SIGKILL; the space they take is seen by
.BR df (1)
only.
Their need is compared with what is free before anything is sorted.
.TP
the folder of the output
The output is written there without a name, synced, and put in place by a
rename when it is whole.
.TP
$XDG_CACHE_HOME/gsort/rates.json, else ~/.cache/gsort/rates.json
How fast this machine has been seen to sort, on machines that may have a GPU:
.B \-\-engine auto
predicts by it.
It may be deleted, and nothing is lost where it cannot be written.
)";

constexpr std::string_view kNotes = R"(SIGUSR1 prints a line that says how far the sort is.
Killed by a signal, gsort leaves the old output and nothing else.
.PP
Binary output is not written to a terminal, unless
.B \-o \-
says so.
.PP
A type that is assumed, since neither
.BR \-t ,
a suffix nor GSORT_TYPE gives one, may be the wrong one, and what is sorted by a
wrong type is scrambled.
It is therefore not used to replace an input by its sorted self, nor for what is
plainly something else than raw keys:
a FILE with the suffix of a CSV or TSV table, JSON, Parquet, Arrow, HDF5, a zip,
7z or tar archive, or of lz4, Brotli or lzma data;
one that begins as such a file does, or as a NumPy array;
and text, that is, a beginning of 4096 bytes, or at least 48, all of which are
printable UTF\-8 with ends of lines among them (13 bytes suffice for numbers
alone).
Such a file is an error that names the way to sort what it holds;
with
.BI \-t " TYPE"
its bytes are sorted as they are.
Text that is read as text needs no type: a line that is no number of the type is
an error.
.PP
Another program called gsort sorts genomic files, and GNU sort has that name
on some systems.
)";

// Roff takes '\\' for an escape, a bare '-' for a hyphen, and '.' or '\'' at the start of a line,
// which any word may come to, for a request.
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

// Sentences, each begun on a line of its own, so that roff spaces them; empty for nothing.
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
  switch (spec.value_kind) {
    case ValueKind::kNone:
      break;
    case ValueKind::kRequired:
      term += (spec.name.empty() ? " " : "=") + value;
      break;
    case ValueKind::kOptional:
      term += fmt::format("[={}]", value);
      break;
  }
  return term;
}

std::string options_section() {
  std::string text = section("OPTIONS");
  for (const OptionGroup group : kAllOptionGroups) {
    text += fmt::format(".SS {}\n", title_of(group));
    for (const OptionSpec& spec : option_table()) {
      if (spec.group != group) continue;
      const char* const stop = spec.help.ends_with('.') || spec.more.empty() ? "" : ".";
      text += fmt::format(".TP\n{}\n{}{}\n{}", term_of(spec), literal(spec.help), stop,
                          sentences(spec.more));
    }
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

std::string examples_section() {
  std::string text = section("EXAMPLES");
  for (const Example& example : kExamples) {
    text +=
        fmt::format(".TP\n\\fB{}\\fR\n{}\n", literal(example.command), literal(example.meaning));
  }
  return text;
}

}  // namespace

std::string manual_page() {
  std::string text = fmt::format(
      ".\\\" Made by gsort --generate=man from the table of options.\n"
      ".TH GSORT 1 {} \"gsort " GSORT_VERSION "\"\n",
      kDate);
  text += section("NAME") + "gsort \\- sort files of binary numbers of any size\n";
  text += section("SYNOPSIS") + ".B gsort\n.RI [ OPTION ]...\n.RI [ FILE ]...\n";
  text += section("DESCRIPTION") + std::string(kDescription);
  text += options_section();
  text += described_section("ENVIRONMENT", kVariables);
  text += section("FILES") + std::string(kFiles);
  text += described_section("EXIT STATUS", kExitStatuses);
  text += examples_section();
  return text + section("NOTES") + std::string(kNotes);
}

}  // namespace gsort
