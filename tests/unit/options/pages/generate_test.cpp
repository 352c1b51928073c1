#include "options/pages/generate.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "options/option_spec.hpp"
#include "options/pages/help_texts.hpp"

namespace gsort {
namespace {

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// As roff writes it.
std::string with_minus(std::string_view text) {
  std::string out;
  for (const char letter : text) out += letter == '-' ? "\\-" : std::string(1, letter);
  return out;
}

TEST(ManualPage, ShowsEveryOption) {
  const std::string page = manual_page();
  for (const OptionSpec& spec : option_table()) {
    EXPECT_TRUE(holds(page, "\\fB" + with_minus(display_name(spec)) + "\\fR"))
        << display_name(spec);
    EXPECT_TRUE(holds(page, with_minus(spec.help))) << spec.help;
  }
}

// Removes line ends and roff's escapes.
std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  for (std::size_t at = 0; (at = text.find("\\&", at)) != std::string::npos;) text.erase(at, 2);
  std::erase(text, '\\');
  return text;
}

TEST(ManualPage, HasTheRulesThatTheHelpLeavesOut) {
  const std::string page = in_one_line(manual_page());
  for (const OptionSpec& spec : option_table()) {
    EXPECT_TRUE(holds(page, spec.rules)) << spec.rules;
  }
}

TEST(ManualPage, DoesNotReferToItself) {
  for (const Program program : {Program::kGsort, Program::kCluster}) {
    for (const OptionSpec& spec : option_table(program)) {
      for (const std::string_view text : {spec.more, spec.rules}) {
        EXPECT_FALSE(holds(std::string(text), "gsort(1)")) << text;
        EXPECT_FALSE(holds(std::string(text), "manual page")) << text;
      }
    }
  }
}

TEST(ManualPage, HasAllSections) {
  const std::string page = manual_page();
  for (const char* const title :
       {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "ENVIRONMENT", "FILES", "EXIT STATUS",
        "EXAMPLES", "NOTES", "SEE ALSO", "BUGS"}) {
    EXPECT_TRUE(holds(page, std::string(".SH ") + title + "\n")) << title;
  }
}

TEST(ManualPage, ShowsTheExamplesOfTheHelp) {
  const std::string page = manual_page();
  for (const Example& example : kExamples) {
    EXPECT_TRUE(holds(page, with_minus(example.command))) << example.command;
  }
}

// Removes the characters that shells need quotes for.
std::string bare(std::string text) {
  std::erase_if(text, [](char letter) { return letter == '\\' || letter == '\''; });
  return text;
}

// The words that are offered are tested in the shells themselves: tests/cli/golden/completion.txt.
void expect_every_option_in_completions(Program program) {
  const std::string zsh = bare(zsh_completion(program));
  const std::string fish = bare(fish_completion(program));
  for (const OptionSpec& spec : option_table(program)) {
    const std::string name(spec.name);
    const std::string letter(1, spec.letter);
    const std::string help = bare(std::string(spec.help));
    EXPECT_TRUE(holds(zsh, "[" + help + "]")) << help;
    EXPECT_TRUE(holds(fish, " -d " + help + "\n")) << help;
    if (!name.empty()) {
      EXPECT_TRUE(holds(bash_completion(program), "--" + name)) << name;
      EXPECT_TRUE(holds(zsh_completion(program), "'*--" + name)) << name;
      EXPECT_TRUE(holds(fish_completion(program), " -l " + name + " ")) << name;
    }
    if (spec.letter != '\0') {
      const std::string names = bare(bash_completion(program)) + ' ';
      EXPECT_TRUE(holds(names, "-" + letter + " ") || holds(names, "-" + letter + "\n")) << letter;
      EXPECT_TRUE(holds(zsh_completion(program), "'*-" + letter)) << letter;
      EXPECT_TRUE(holds(fish_completion(program), " -s " + letter + " ")) << letter;
    }
  }
}

TEST(Completions, NameEveryOption) {
  expect_every_option_in_completions(Program::kGsort);
  expect_every_option_in_completions(Program::kCluster);
}

TEST(Completions, AreForTheirProgram) {
  EXPECT_TRUE(bash_completion().ends_with("complete -F _gsort gsort\n"));
  EXPECT_TRUE(bash_completion(Program::kCluster).ends_with("complete -F _gsort-mpi gsort-mpi\n"));
  EXPECT_TRUE(zsh_completion(Program::kCluster).starts_with("#compdef gsort-mpi\n"));
  EXPECT_FALSE(holds(fish_completion(Program::kCluster), "-c gsort "));
}

TEST(Completions, QuoteWhatTheShellsWouldRead) {
  EXPECT_TRUE(holds(fish_completion(), "a shell\\'s completion"));
  EXPECT_TRUE(holds(zsh_completion(), "a shell'\\''s completion"));
  EXPECT_TRUE(holds(zsh_completion(), ":FORMAT\\[\\:OUT\\]:"));
}

}  // namespace
}  // namespace gsort
