#include "form/counted_lines.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "element/counted_keys.hpp"
#include "element/record_format.hpp"

namespace gsort {
namespace {

// Removes the first line of the text, with its end, and returns it.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
  text.remove_prefix(line.size());
  return line;
}

}  // namespace

std::optional<BadLine> parse_counted_lines(std::string_view text, const KeyFormat& format,
                                           std::span<std::byte> raw_pairs) {
  const std::size_t key_bytes = bytes_of(format);
  const std::string_view all = text;
  for (std::size_t number = 0; !text.empty(); ++number) {
    const BadLine here{number, all.size() - text.size()};
    std::string_view line = take_line(text);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    std::uint64_t count = 0;
    const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), count);
    if (problem != std::errc() || (*end != ' ' && *end != '\t')) return here;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    const auto pair = raw_pairs.subspan(number * (key_bytes + kCountBytes));
    std::array<std::byte, RecordFormat::kMostKeyBytes> key{};
    if (parse_lines(line, format, std::span(key).first(key_bytes))) return here;
    join_counts({std::span(key).first(key_bytes), key_bytes, {&count, 1}}, format.big_endian,
                pair.data());
  }
  return std::nullopt;
}

std::size_t put_counts_in_front(std::span<const std::uint64_t> counts, std::string_view key_lines,
                                char* out) {
  char* at = out;
  for (const std::uint64_t count : counts) {
    at = std::to_chars(at, at + kMostCountBytes, count).ptr;
    *at++ = '\t';
    at = std::ranges::copy(take_line(key_lines), at).out;
  }
  return static_cast<std::size_t>(at - out);
}

bool has_counts_in_front(std::string_view text, std::span<const std::uint64_t> counts,
                         std::string_view key_lines) {
  for (const std::uint64_t count : counts) {
    if (text.empty() || key_lines.empty()) return false;
    const std::string_view line = take_line(text);
    std::uint64_t read = 0;
    const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), read);
    const auto digits = static_cast<std::size_t>(end - line.data());
    const bool is_right = problem == std::errc() && read == count && line[digits] == '\t' &&
                          line.substr(digits + 1) == take_line(key_lines);
    if (!is_right) return false;
  }
  return text.empty() && key_lines.empty();
}

}  // namespace gsort
