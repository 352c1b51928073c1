// The options of gsort-mpi: those of gsort that act on several machines as on one, and its own.
// What is not named here is refused with a message that says so.
#include <algorithm>
#include <array>

#include "options/option_spec.hpp"
#include "options/option_values.hpp"

namespace gsort {
namespace {

using enum OptionGroup;
using enum ValueKind;
using Text = std::string_view;

constexpr unsigned kMostSeconds = 1'000'000;

// By long name, or letter.
constexpr std::string_view kShared[] = {"type",        "endian",    "reverse",
                                        "record",      "key",       "skip",
                                        "output",      "format",    "temporary-directory",
                                        "buffer-size", "parallel",  "direct-io",
                                        "pack-runs",   "no-verify", "q",
                                        "v",           "color",     "h",
                                        "help",        "version",   "stats"};

constexpr Choice<Show> kGenerated[] = {
    {"man", Show::kManual}, {"bash", Show::kBash}, {"zsh", Show::kZsh}, {"fish", Show::kFish}};

constexpr auto kOwnRows = std::to_array<OptionSpec>({
    {.name = "generate",
     .value_kind = kRequired,
     .value_name = "man|bash|zsh|fish",
     .group = kReporting,
     .help = "a manual page, or a shell's completion",
     .apply = [](Options& o, Text v) { o.show = parse_choice(v, kGenerated, "--generate"); }},
    {.name = "peer-timeout",
     .value_kind = kRequired,
     .value_name = "SECONDS",
     .group = kReporting,
     .in_environment = true,
     .help = "how long a host may be silent (60)",
     .more =
         "A host that sends nothing for so long ends the sort with an error that names it. Every "
         "host sends something while it works.",
     .apply =
         [](Options& o, Text v) {
           o.peer_timeout_seconds = parse_count(v, 1, kMostSeconds, "--peer-timeout");
         }},
});

bool is_shared(const OptionSpec& row) {
  const std::string_view letter(&row.letter, 1);
  return std::ranges::find(kShared, row.name.empty() ? letter : row.name) != std::end(kShared);
}

}  // namespace

std::vector<OptionSpec> cluster_rows(std::span<const OptionSpec> rows) {
  std::vector<OptionSpec> shared;
  std::ranges::copy_if(rows, std::back_inserter(shared), is_shared);
  shared.insert(shared.end(), kOwnRows.begin(), kOwnRows.end());
  return shared;
}

}  // namespace gsort
