#include "report/words.hpp"

#include <array>
#include <variant>

#include <fmt/format.h>

#include "base/quoted.hpp"
#include "base/units.hpp"
#include "element/record_text.hpp"

namespace gsort {
namespace {

// The elements that come out, in words.
std::string elements_words(const Plan& plan) {
  if (plan.job.array_elements > 0) {
    return fmt::format("arrays of {} elements, each sorted on its own",
                       format_count(plan.job.array_elements));
  }
  std::string words = plan.job.argsort ? "positions in the input" : "";
  if (plan.job.is_distinct()) words += plan.job.numbered ? ", one of each key" : "one of each key";
  if (plan.job.count)
    words += plan.job.adds_counts() ? ", with its counts added" : ", with its count";
  if (plan.job.min_count > 1) {
    words +=
        fmt::format(", of those that occur {} times or more", format_count(*plan.job.min_count));
  }
  if (plan.job.intersect) words += " that is in every input";
  if (plan.job.subtract) words += " of only the first input";
  if (plan.job.top) {
    words += fmt::format("{}the first {}", words.empty() ? "" : "; of these ",
                         format_count(*plan.job.top));
  }
  return words;
}

// A part has the type of the shares, which no option gives.
const char* source_of_type(const Job& job) {
  return job.part_elements ? "the shares" : describe(job.type_source);
}

}  // namespace

std::string element_words(const ElementFormat& element) {
  return element.shown_records() && string_bytes(element.key) == 0
             ? fmt::format("records of {} bytes", element.bytes())
             : type_text(element.key);
}

std::string key_words(const Job& job) {
  const ElementFormat& element = job.input_element();
  const KeyFormat& key = element.key;
  const auto records = element.shown_records();
  if (job.shuffle) {
    return fmt::format("{}, in random order (seed {})", element_words(element), *job.shuffle);
  }
  if (string_bytes(key) > 0) {
    return fmt::format("{}, {} (type from {})", type_text(key), order_words(element),
                       source_of_type(job));
  }
  const char* const endian = key.big_endian ? "big" : "little";
  std::string floats = order_of_floats(element);
  if (records) {
    if (!floats.empty()) floats = "; order of floats: " + floats;
    return fmt::format("{}, {} endian: {}{}", element_words(element), endian,
                       describe_keys(*records), floats);
  }
  if (!floats.empty()) floats = ": " + floats;
  return fmt::format("{}, {} endian, {}{} (type from {})", name_of(key.type), endian,
                     key.descending ? "descending" : "ascending", floats, source_of_type(job));
}

std::string result_words(const Plan& plan) {
  std::string words = elements_words(plan);
  if (plan.job.output_parts > 1) {
    words += fmt::format("{}{} parts of equal size", words.empty() ? "" : ", in ",
                         plan.job.output_parts);
  }
  return words;
}

std::string device_words(const Plan& plan) {
  std::string words;
  for (const DevicePlan& device : plan.devices) {
    words +=
        fmt::format("{}device {} ({})", words.empty() ? "" : ", ", device.ordinal, device.name);
  }
  return words;
}

std::string engine_words(const Plan& plan) {
  if (plan.engine == EngineKind::kCuda) {
    return fmt::format("cuda, {}: {}", device_words(plan), plan.engine_reason);
  }
  return fmt::format("cpu, {}: {}", counted(plan.threads, "thread"), plan.engine_reason);
}

std::string_view strategy_name(const Plan& plan) {
  if (plan.is<SetPlan>()) return plan.job.intersect ? "intersect" : "subtract";
  constexpr std::array<std::string_view, std::variant_size_v<Strategy>> kNames = {
      "unknown", "one chunk", "runs", "count", "select", "merge", "compare", "arrays"};
  return kNames[plan.strategy.index()];
}

}  // namespace gsort
