// Which options exclude or need each other: a table whose rows are evaluated in their order, so
// that the first error does not depend on the order of the words. A rule is one row.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "form/stored_array.hpp"
#include "options/options.hpp"

namespace gsort {

// The options, and what the headers of the inputs say, if they have been read.
struct Asked {
  const Options& options;
  const StoredArray& stored;
};

// An option, or a way to use it, as messages name it: "--top", "--batch-elements of 128-bit keys".
struct Term {
  std::string_view name;
  bool (*is_given)(const Asked& asked);
};

enum class Relation : std::uint8_t { kNotWith, kNeeds };

// Holds for the first term of `one` that is given: none of `other` may be given, or one must be.
struct OptionRule {
  std::span<const Term> one;
  Relation relation;
  std::span<const Term> other;
  std::string_view why;  // the hint; {0} and {1} stand for the two names
};

// The rows that are evaluated together; checks of values are between them.
enum class RuleSet : std::uint8_t {
  kEach,           // of --each, before its inputs are looked at one by one
  kReports,        // of --stats and --trace
  kResult,         // of what comes out; evaluated again when the headers of the inputs are known
  kParts,          // of gsort-mpi
  kShares,         // of gsort: --form, --take and --join
  kOrderOfShares,  // of --take and --join, which get the order from --form
  kOutput          // of what all of these leave
};
inline constexpr RuleSet kAllRuleSets[] = {
    RuleSet::kEach,   RuleSet::kReports,       RuleSet::kResult, RuleSet::kParts,
    RuleSet::kShares, RuleSet::kOrderOfShares, RuleSet::kOutput};

[[nodiscard]] std::span<const OptionRule> rules_of(RuleSet set);

// Throws: Error(kUsage) for the first rule that is broken. Options that GSORT_OPTIONS gave are
// named with it: they are not on the command line that the user sees.
void require_rules(RuleSet set, const Options& options, const StoredArray& stored = {});

}  // namespace gsort
