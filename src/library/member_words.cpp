#include "library/member_words.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "options/option_spec.hpp"

namespace gsort::library {
namespace {

// Members with names that differ from those of their options.
constexpr std::pair<std::string_view, std::string_view> kMembers[] = {
    {"type", "key.type"},
    {"endian", "key.big_endian"},
    {"reverse", "key.descending"},
    {"float-order", "key.float_order"},
    {"record", "record_bytes"},
    {"key", "record_keys"},
    {"skip", "input_form.skip_bytes"},
    {"skip-end", "input_form.skip_end_bytes"},
    {"elements", "input_form.elements"},
    {"decompress", "input_form.codec"},
    {"format", "input_form.format or output_format"},
    {"replace", "writes_into_file"},
    {"expect", "expected"},
    {"temporary-directory", "temporary_directories"},
    {"device", "devices"},
    {"pack-runs", "packing"},
    {"no-verify", "verify"}};

bool is_of_word(char c) {
  return c == '-' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// Returns the member for "-u" or "--unique"; empty for other words.
std::string member_for(std::string_view word) {
  for (const OptionSpec& row : option_table()) {
    const bool is_long = word.starts_with("--") && word.substr(2) == row.name;
    const bool is_short =
        word.size() == 2 && word[0] == '-' && row.letter != '\0' && word[1] == row.letter;
    if (!(is_long || is_short) || row.name.empty()) continue;
    const auto* const known = std::ranges::find(
        kMembers, row.name, &std::pair<std::string_view, std::string_view>::first);
    std::string member(known == std::end(kMembers) ? row.name : known->second);
    std::ranges::replace(member, '-', '_');
    return "Options::" + member;
  }
  return {};
}

// Rewrites one clause, which holds no command.
std::string clause_in_members(std::string_view clause) {
  std::string said;
  bool is_quoted = false;
  for (std::size_t at = 0; at < clause.size();) {
    const bool is_begin = at == 0 || !is_of_word(clause[at - 1]);
    if (clause[at] == '\'' && (is_begin || is_quoted)) is_quoted = !is_quoted;
    const auto* const end = std::find_if_not(clause.begin() + at, clause.end(), is_of_word);
    const std::string_view word(clause.begin() + at, end);
    const std::string member = is_begin && !is_quoted ? member_for(word) : std::string();
    const std::size_t bytes = member.empty() ? 1 : word.size();
    said += member.empty() ? std::string(1, clause[at]) : member;
    at += bytes;
  }
  return said;
}

}  // namespace

std::string in_members(std::string_view text) {
  std::string said;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size() - 1) + 1;
    const std::string_view clause = text.substr(0, end);
    const bool is_command = clause.find_first_of("|<>") != std::string_view::npos;
    said += is_command ? std::string(clause) : clause_in_members(clause);
    text.remove_prefix(end);
  }
  return said;
}

Error in_members(const Error& error) {
  const std::string hint = in_members(error.hint());
  if (error.error_number() != 0) return Error(error).hint(hint);
  Error told = Error(error.kind(), in_members(error.operation()), in_members(error.reason()))
                   .path(error.path())
                   .hint(hint);
  return error.offset_bytes() ? std::move(told).at(*error.offset_bytes()) : told;
}

}  // namespace gsort::library
