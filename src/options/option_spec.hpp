// One row of the option table, and the table. The parser, -h, --help, the manual page and the shell
// completions read only this table, so a new option is one field in Options and one row in
// option_table.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/options.hpp"

namespace gsort {

enum class OptionGroup : std::uint8_t { kOrder, kJob, kFiles, kResources, kReporting };

inline constexpr OptionGroup kAllOptionGroups[] = {OptionGroup::kOrder, OptionGroup::kJob,
                                                   OptionGroup::kFiles, OptionGroup::kResources,
                                                   OptionGroup::kReporting};

struct OptionSpec {
  std::string_view name = {};   // long name without dashes; empty: a letter only
  std::string_view alias = {};  // another long name, that of Python's argument; no list shows it
  char letter = '\0';           // short name; '\0': a long name only
  std::string_view value_name = {};      // "SIZE", "auto|cuda|cpu"; empty for a switch
  std::string_view choices = {};         // "bin|text|npy": values for completions that value_name
                                         // lacks
  std::string_view implicit_value = {};  // of --name alone; such a row must have no letter
  OptionGroup group = OptionGroup::kReporting;  // set by option_table()
  bool common = false;                          // shown by -h, which must stay on one screen
  bool in_environment = false;                  // allowed in GSORT_OPTIONS: no result depends on it
  std::string_view help = {};   // a few words: one line of 47 characters, or two for a list
  std::string_view more = {};   // whole sentences that add to `help`
  std::string_view rules = {};  // for the manual page only: further sentences, exceptions

  // Puts the value into the options. Throws: Error(kUsage) for an invalid value.
  void (*apply)(Options& options, std::string_view value) = nullptr;

  // --name=VALUE, --name VALUE, -nVALUE, -n VALUE; if the value is optional, only --name=VALUE.
  [[nodiscard]] bool takes_value() const { return !value_name.empty(); }
  [[nodiscard]] bool value_is_optional() const { return !implicit_value.empty(); }
};

// All options of a program, in the order in which help shows them; groups are contiguous.
[[nodiscard]] std::span<const OptionSpec> option_table(Program program = Program::kGsort);

// The rows of gsort-mpi: some of gsort's `rows`, and its own.
[[nodiscard]] std::vector<OptionSpec> cluster_rows(std::span<const OptionSpec> rows);

// The rows of the first two groups.
[[nodiscard]] std::span<const OptionSpec> order_rows();
[[nodiscard]] std::span<const OptionSpec> job_rows();

// "Files": the heading of a group.
[[nodiscard]] std::string_view title_of(OptionGroup group);

// "--buffer-size", or "-C" for a row without a long name: how messages name the option.
[[nodiscard]] std::string display_name(const OptionSpec& spec);

// The arguments that are options or their values, not operands. Throws: Error(kUsage) as
// parse_options does.
[[nodiscard]] std::vector<std::string> option_words(const std::vector<std::string>& arguments,
                                                    Program program);

}  // namespace gsort
