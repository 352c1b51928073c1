#include "options/help.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "options/option_spec.hpp"

namespace gsort {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kTermColumns = 32;  // "  -T, --temporary-directory=DIR" and no more
constexpr std::size_t kMoreIndent = 6;

constexpr std::string_view kUsage =
    "Usage: gsort [OPTION]... [FILE]...     no FILE, or -, is stdin\n";

constexpr std::string_view kExamples = R"(Examples:
  gsort input.bin -o output.bin        signed 32-bit integers, file to file
  gsort -t u64 ids.bin -o ids.bin      in place, as far as anyone can see
  producer | gsort -t f64 > out.f64    from and to pipes
  gsort -r dump.u32 -o top.u32         the type from the suffix, largest first
  gsort -c out.f64                     is it sorted?
  gsort --explain -S 1G big.u64        what would happen with 1 GiB of memory
)";

constexpr std::string_view kEpilogue =
    R"(SIZE: 512M, 4G, 50%; K is 1024; a number without a unit is refused.
An option may repeat: the last wins. Long options are not abbreviated.

Environment:
  GSORT_OPTIONS         options put before those of the command line
  GSORT_TYPE            the type where neither -t nor a suffix gives one
  TMPDIR                where runs are spilled where -T does not say
  CUDA_VISIBLE_DEVICES  which GPUs there are, as for every CUDA program

Exit status: 0 done; 1 --check found disorder; 2 any trouble. When it is not 0,
no output has appeared and the inputs are as they were.
)";

std::string_view title_of(OptionGroup group) {
  switch (group) {
    case OptionGroup::kOrder:
      return "Order";
    case OptionGroup::kJob:
      return "Job";
    case OptionGroup::kFiles:
      return "Files";
    case OptionGroup::kResources:
      return "Resources";
    case OptionGroup::kReporting:
      break;
  }
  return "Reporting";
}

// "  -S, --buffer-size=SIZE", "      --explain[=text|json]", "  -C".
std::string term_of(const OptionSpec& spec) {
  std::string term = spec.letter == '\0' ? "      " : fmt::format("  -{}", spec.letter);
  if (!spec.name.empty()) {
    term += fmt::format("{}--{}", spec.letter == '\0' ? "" : ", ", spec.name);
  }
  switch (spec.value_kind) {
    case ValueKind::kNone:
      break;
    case ValueKind::kRequired:
      term += fmt::format("{}{}", spec.name.empty() ? " " : "=", spec.value_name);
      break;
    case ValueKind::kOptional:
      term += fmt::format("[={}]", spec.value_name);
      break;
  }
  return term;
}

std::string line_of(const OptionSpec& spec) {
  return fmt::format("{:<{}} {}\n", term_of(spec), kTermColumns, spec.help);
}

// The words of `text` in lines of kColumns, each indented.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column != 0 && column + 1 + word.size() > kColumns) {
      out += '\n';
      column = 0;
    }
    out += column == 0 ? std::string(indent, ' ') : " ";
    column = (column == 0 ? indent : column + 1) + word.size();
    out += word;
  }
  return out.empty() ? out : out + '\n';
}

}  // namespace

std::string short_help() {
  std::string text = "gsort sorts files of binary numbers of any size.\n\n";
  text += fmt::format("{}\n{}\nCommon options:\n", kUsage, kExamples);
  for (const OptionSpec& spec : option_table()) {
    if (spec.common) text += line_of(spec);
  }
  return text;
}

std::string full_help() {
  std::string text =
      "gsort sorts files of binary numbers of any size, on a GPU where there is one.\n";
  text += fmt::format("\n{}\n{}", kUsage, kExamples);
  for (const OptionGroup group : kAllOptionGroups) {
    text += fmt::format("\n{}:\n", title_of(group));
    for (const OptionSpec& spec : option_table()) {
      if (spec.group == group) text += line_of(spec) + wrapped(spec.more, kMoreIndent);
    }
  }
  return text + fmt::format("\n{}", kEpilogue);
}

std::string version_text() {
  return "gsort " GSORT_VERSION "\n";
}

std::string text_of(Show show) {
  switch (show) {
    case Show::kHelp:
      return short_help();
    case Show::kFullHelp:
      return full_help();
    default:
      return version_text();
  }
}

}  // namespace gsort
