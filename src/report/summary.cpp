#include "report/summary.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/quoted.hpp"
#include "base/units.hpp"
#include "element/fingerprint.hpp"
#include "element/record_text.hpp"
#include "plan/disk_space.hpp"
#include "plan/rates.hpp"
#include "report/busiest.hpp"
#include "report/words.hpp"

namespace gsort {

namespace {

// "read in 0.61 s, written in 1.02 s, synced in 0.10 s"
std::string phase_words(const Outcome& outcome) {
  constexpr std::array<const char*, kPhases> kVerbs = {"read", "merged", "merged", "written",
                                                       "synced"};
  std::string words;
  for (const PhaseRecord& phase : outcome.phases) {
    words += fmt::format("{}{} in {:.2f} s", words.empty() ? "" : ", ",
                         kVerbs[static_cast<std::size_t>(phase.phase)],
                         static_cast<double>(phase.end_ns - phase.begin_ns) * 1e-9);
  }
  return words;
}

// The bytes of runs that this process made, in any tier.
std::uint64_t stored_bytes(const Outcome& outcome) {
  return outcome.device_bytes + outcome.kept_bytes + outcome.spilled_bytes;
}

bool is_packed(const Outcome& outcome) {
  return stored_bytes(outcome) < outcome.run_key_bytes;
}

// "24.8 MiB in all, packed to 12.1 MiB", "24.8 MiB in all, with headers 24.9 MiB"
std::string stored_words(const Outcome& outcome) {
  const std::string keys = format_bytes(outcome.run_key_bytes);
  const std::string stored = format_bytes(stored_bytes(outcome));
  if (stored == keys) return keys + " in all";
  return fmt::format("{} in all, {} {}", keys, is_packed(outcome) ? "packed to" : "with headers",
                     stored);
}

// "7 runs, 24.8 MiB in all", "7 runs (2 resumed; the others: 24.8 MiB in all)"
std::string run_words(const Outcome& outcome) {
  const std::string stored = stored_words(outcome);
  return outcome.resumed_runs > 0
             ? fmt::format("{} ({} resumed; the others: {})", counted(outcome.runs, "run"),
                           outcome.resumed_runs, stored)
             : fmt::format("{}, {}", counted(outcome.runs, "run"), stored);
}

const char* again_words(DoneAgain again) {
  constexpr const char* kWords[] = {"sorted again", "sorted again", "sorted chunks again",
                                    "merged parts again"};
  return kWords[static_cast<std::size_t>(again)];
}

// The sum over all phases.
std::uint64_t bytes_of_device(const Outcome& outcome, int ordinal, Stage stage) {
  std::uint64_t sum = 0;
  for (const PhaseRecord& phase : outcome.phases) {
    for (const DeviceTotals& totals : phase.devices) {
      if (totals.device == ordinal) sum += totals.stages[stage].bytes;
    }
  }
  return sum;
}

// The work of each of several devices: "gsort: device 1 (NAME): 1.5 GiB read, 1.4 GiB merged", or
// "1.5 GiB copied in" for a chunk that all hold together.
std::string device_lines(const Outcome& outcome, const Plan& plan) {
  std::map<int, std::string> names;
  for (const DevicePlan& device : plan.devices) names.emplace(device.ordinal, device.name);
  if (names.size() < 2) return "";
  std::string text;
  for (const auto& [ordinal, name] : names) {
    const auto bytes = [&, device = ordinal](Stage stage) {
      return format_bytes(bytes_of_device(outcome, device, stage));
    };
    text += fmt::format(
        "gsort: device {} ({}): {}\n", ordinal, printable(name),
        plan.chunk.is_shared
            ? bytes(Stage::kCopyIn) + " copied in"
            : fmt::format("{} read, {} merged", bytes(Stage::kRead), bytes(Stage::kMerge)));
  }
  return text;
}

std::string speed_words(const Outcome& outcome, const Plan& plan) {
  std::string words = rate_words(static_cast<double>(outcome.bytes) / outcome.seconds);
  if (const auto busiest = busiest_of(outcome, plan.threads)) {
    words += busiest->stage ? fmt::format("; bottleneck: {} ({:.1f} s at best)",
                                          words_for(*busiest->stage), busiest->seconds)
                            : fmt::format("; busiest stages {:.1f} s at best", busiest->seconds);
  }
  return words;
}

}  // namespace

std::string summary_line(const Outcome& outcome, const Plan& plan) {
  const double seconds = outcome.seconds;
  std::string text =
      fmt::format("sorted {} of {} in {:.{}f} s", format_bytes(outcome.bytes),
                  element_words(plan.job.input_element()), seconds, seconds < 10 ? 2 : 1);
  if (seconds > 0) text += fmt::format(" ({})", speed_words(outcome, plan));
  if (outcome.runs > 0) {
    text += fmt::format(", {} {}runs, {} in temporary files", outcome.runs,
                        is_packed(outcome) ? "packed " : "", format_bytes(outcome.spilled_bytes));
  }
  return text + (outcome.verified ? ", verified\n" : ", not verified\n");
}

std::string phase_lines(const Outcome& outcome, const Plan& plan, bool decisions) {
  std::string text;
  text += fmt::format("gsort: keys: {}\n", key_words(plan.job));
  text += fmt::format("gsort: engine: {}\n", engine_words(plan));
  text +=
      fmt::format("gsort: {}; {}\n", counted(outcome.elements, "element"), phase_words(outcome));
  if (outcome.output_elements != outcome.elements) {
    const bool leaves_out = !plan.job.count && outcome.output_elements < outcome.elements;
    text += fmt::format(
        "gsort: {} written{}\n", counted(outcome.output_elements, "element"),
        leaves_out
            ? fmt::format(", {} left out", format_count(outcome.elements - outcome.output_elements))
            : "");
  }
  if (outcome.runs > 0) {
    text += fmt::format(
        "gsort: {}: {}{} in memory, {} in temporary files (at most {} at a time)\n",
        run_words(outcome),
        outcome.device_bytes > 0 ? format_bytes(outcome.device_bytes) + " on the device, " : "",
        format_bytes(outcome.kept_bytes), format_bytes(outcome.spilled_bytes),
        format_bytes(outcome.peak_spilled_bytes));
  }
  text += device_lines(outcome, plan);
  if (outcome.verified) {
    text += fmt::format("gsort: fingerprint {}\n", to_string(outcome.fingerprint));
  }
  text += statistic_lines("gsort", outcome);
  if (decisions) {
    for (const std::string& note : outcome.notes) {
      text += fmt::format("gsort: {}\n", printable(note));
    }
  }
  return text;
}

std::string memory_files_line(const Plan& plan, const Machine& machine) {
  const std::uint64_t bytes = files_in_memory(plan, machine);
  if (bytes == 0) return "";
  return fmt::format("gsort: files in memory ({}): up to {}\n",
                     folders_in_memory(plan, machine).kinds, format_bytes(bytes));
}

std::string statistic_lines(std::string_view program, const Statistics& statistics) {
  std::string text;
  for_each_statistic([&](const StatisticRow& row, auto member) {
    const auto value = statistics.*member;
    if (row.line.empty() || value == 0) return;
    const auto count = static_cast<std::uint64_t>(value);
    const std::string words = row.unit == Unit::kSeconds ? fmt::format("{:.2f} s", double(value))
                              : row.unit == Unit::kBytes ? format_bytes(count)
                                                         : format_count(count);
    text += fmt::format("{}: {}\n", program, fmt::format(fmt::runtime(row.line), words));
  });
  return text;
}

std::string lost_device_lines(std::span<const LostDevice> lost_devices) {
  std::string text;
  for (const LostDevice& lost : lost_devices) {
    const bool is_used = lost.again == DoneAgain::kSortWithLess;
    text += fmt::format("gsort: {} {} {}: {}\n", again_words(lost.again),
                        is_used ? "with less memory on" : "without",
                        lost.ordinal ? fmt::format("device {}", *lost.ordinal) : "a GPU",
                        printable(lost.failure));
  }
  return text;
}

std::string sort_lines(const Outcome& outcome, const Plan& plan, int verbosity, bool at_terminal) {
  if (verbosity < 0) return "";
  std::string text = lost_device_lines(outcome.lost_devices);
  if (verbosity > 0) text += phase_lines(outcome, plan, verbosity > 1);
  if (verbosity > 0 || at_terminal) text += summary_line(outcome, plan);
  return text;
}

std::string lines_about(const std::string& file, std::string_view lines) {
  constexpr std::string_view kProgram = "gsort: ";
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
    const std::size_t begin = lines.starts_with(kProgram) ? kProgram.size() : 0;
    text += fmt::format("{}{}: {}", lines.substr(0, begin), printable(file),
                        lines.substr(begin, end - begin));
    lines.remove_prefix(end);
  }
  return text;
}

std::string check_lines(const CheckOutcome& outcome, const Job& job, const std::string& name) {
  const std::string shown = printable(name);
  if (!outcome.in_order) {
    const std::string floats = order_of_floats(job.element);
    return fmt::format("gsort: {}: {}\n{}", shown,
                       disorder_words(job.element, job.is_distinct(), outcome.disorder_element,
                                      outcome.value, outcome.value_before),
                       floats.empty() ? ""
                                      : fmt::format("  the order of floats is {}; gsort sorts them "
                                                    "so\n",
                                                    floats));
  }
  return fmt::format("{}: {}, {}, sorted {}\ndistinct {}\nfingerprint {}\n", shown,
                     counted(outcome.elements, "element"), element_words(job.element),
                     order_words(job.element), format_count(outcome.distinct),
                     to_string(outcome.fingerprint));
}

std::string difference_line(const Fingerprint& found, const std::string& expected,
                            const std::vector<std::string>& inputs) {
  const std::string name =
      inputs.size() == 1 ? printable(inputs.front()) : fmt::format("{} inputs", inputs.size());
  return fmt::format("gsort: {}: {} with fingerprint {}, expected {} with {}\n", name,
                     counted(found.count, "element"), to_string(found),
                     format_count(parse_fingerprint(expected).value().count), expected);
}

}  // namespace gsort
