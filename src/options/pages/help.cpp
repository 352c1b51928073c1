#include "options/pages/help.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "options/option_spec.hpp"
#include "options/pages/generate.hpp"
#include "options/pages/help_texts.hpp"
#include "options/pages/wrapped.hpp"

namespace gsort {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kTermColumns = 32;  // " -T, --temporary-directory=DIR"
constexpr std::size_t kMoreIndent = 6;

constexpr std::string_view kUsage =
    "Usage: gsort [OPTION]... [FILE]...     no FILE, or -, is stdin\n";

constexpr std::string_view kSizes =
    R"(SIZE: 512M, 4G, 50%; K is 1024; a number without a unit is an error.
An option may repeat: the last wins, but -k, -T, --from and -v add up.
Long options are not abbreviated. Exceptions and details: man gsort, or
gsort --generate=man | man -l -
)";

// "  -S, --buffer-size=SIZE", "      --explain[=text|json]", "  -C".
std::string term_of(const OptionSpec& spec) {
  std::string term = spec.letter == '\0' ? "      " : fmt::format("  -{}", spec.letter);
  if (!spec.name.empty()) {
    term += fmt::format("{}--{}", spec.letter == '\0' ? "" : ", ", spec.name);
  }
  if (!spec.takes_value()) return term;
  if (spec.value_is_optional()) return term + fmt::format("[={}]", spec.value_name);
  return term + fmt::format("{}{}", spec.name.empty() ? " " : "=", spec.value_name);
}

// Puts all lines of the help next to the term, or below it if there is no room.
std::string line_of(const OptionSpec& spec) {
  const std::string term = term_of(spec);
  if (term.size() > kTermColumns && term.size() + 2 + spec.help.size() <= kColumns) {
    return fmt::format("{}  {}\n", term, spec.help);
  }
  std::string help = wrapped(spec.help, kColumns, kTermColumns + 1);
  if (term.size() > kTermColumns) return term + '\n' + help;
  return help.replace(0, term.size(), term);
}

template <std::size_t kCount>
std::string examples(const Example (&rows)[kCount]) {
  std::size_t width = 36;
  for (const Example& example : rows) width = std::max(width, example.command.size());
  std::string text = "Examples:\n";
  for (const Example& example : rows) {
    text += fmt::format("  {:<{}} {}\n", example.command, width, example.meaning);
  }
  return text;
}

template <std::size_t kCount>
std::string described(std::string_view title, const Described (&rows)[kCount], int columns) {
  std::string text = fmt::format("\n{}:\n", title);
  for (const Described& row : rows)
    text += fmt::format("  {:<{}} {}\n", row.name, columns, row.brief);
  return text;
}

std::string all_options(Program program) {
  std::string text;
  for (const OptionGroup group : kAllOptionGroups) {
    std::string rows;
    for (const OptionSpec& spec : option_table(program)) {
      if (spec.group == group) rows += line_of(spec) + wrapped(spec.more, kColumns, kMoreIndent);
    }
    if (!rows.empty()) text += fmt::format("\n{}:\n{}", title_of(group), rows);
  }
  return text;
}

// One screen, examples first.
std::string short_help() {
  std::string text = "gsort sorts files of binary numbers of any size.\n\n";
  text += fmt::format("{}\n{}\nCommon options:\n", kUsage, examples(kExamples));
  for (const OptionSpec& spec : option_table()) {
    if (spec.common) text += line_of(spec);
  }
  return text;
}

// Every option by group, sizes, environment, status.
std::string full_help() {
  std::string text =
      "gsort sorts files of binary numbers of any size, on a GPU where there is one.\n";
  text += fmt::format("\n{}\n{}", kUsage, examples(kExamples));
  text += all_options(Program::kGsort);
  text += fmt::format("\n{}", kSizes);
  return text + described("Environment", kVariables, 21) +
         described("Exit status", kExitStatuses, 2);
}

std::string cluster_help() {
  return "gsort-mpi sorts files of binary numbers on several machines.\n\n" +
         std::string(kClusterUsage) + "\n" + examples(kClusterExamples) + "\n" +
         wrapped(kClusterNotes, kColumns) + all_options(Program::kCluster) +
         described("Environment", kClusterVariables, 21) +
         described("Exit status", kClusterExitStatuses, 2);
}

}  // namespace

std::string_view name_of(Program program) {
  return program == Program::kGsort ? "gsort" : "gsort-mpi";
}

std::string version_text(Program program) {
  return fmt::format("{} " GSORT_VERSION " (engines: " GSORT_ENGINES ")", name_of(program));
}

std::string text_of(Show show, Program program) {
  const bool is_cluster = program == Program::kCluster;
  switch (show) {
    case Show::kHelp:
      return is_cluster ? cluster_help() : short_help();
    case Show::kFullHelp:
      return is_cluster ? cluster_help() : full_help();
    case Show::kManual:
      return is_cluster ? cluster_manual_page() : manual_page();
    case Show::kBash:
      return bash_completion(program);
    case Show::kZsh:
      return zsh_completion(program);
    case Show::kFish:
      return fish_completion(program);
    default:
      return version_text(program) + "\n";
  }
}

}  // namespace gsort
