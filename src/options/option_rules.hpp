// The table of options that exclude or need each other. Each row is a rule. Rows are evaluated in
// their order, so the first error does not depend on the order of the words.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "form/stored_array.hpp"
#include "options/options.hpp"

namespace gsort {

// The options, and the facts from the headers of the inputs, if they have been read.
struct Asked {
  const Options& options;
  const StoredArray& stored;
  bool are_of_bytes = false;  // the elements of an array are keys of type bytesN
};

// An option, or a way to use it, as messages name it: "--top", "--batch-elements of 128-bit keys".
struct Term {
  std::string_view name;
  bool (*is_given)(const Asked& asked);
};

enum class Relation : std::uint8_t { kNotWith, kNeeds };

// With the first given term of `one`, no term of `other` may be given (kNotWith), or one must be.
struct OptionRule {
  std::span<const Term> one;
  Relation relation;
  std::span<const Term> other;
  std::string_view why;  // the hint; {0} and {1} stand for the two names
};

// Rows that are evaluated together. Between two sets, the parser checks values.
enum class RuleSet : std::uint8_t {
  kEach,           // --each, before gsort looks at its inputs one by one
  kReports,        // --stats and --trace
  kResult,         // the result; evaluated again when the headers of the inputs are known
  kParts,          // gsort-mpi only
  kShares,         // gsort only: --form, --take and --join
  kOrderOfShares,  // --take and --join, which get the order from --form
  kOutput          // files and devices, after all other sets
};
inline constexpr RuleSet kAllRuleSets[] = {
    RuleSet::kEach,   RuleSet::kReports,       RuleSet::kResult, RuleSet::kParts,
    RuleSet::kShares, RuleSet::kOrderOfShares, RuleSet::kOutput};

[[nodiscard]] std::span<const OptionRule> rules_of(RuleSet set);

// Throws: Error(kUsage) for the first rule that is broken. It says which options GSORT_OPTIONS
// gave: the user does not see them on the command line.
void require_rules(RuleSet set, const Options& options, const StoredArray& stored = {},
                   bool are_of_bytes = false);

}  // namespace gsort
