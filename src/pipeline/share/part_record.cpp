#include "pipeline/share/part_record.hpp"

#include <charconv>
#include <limits>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <xxhash.h>

#include "form/valid_format.hpp"

namespace gsort {
namespace {

constexpr std::string_view kMagic = "gsort-part";
// The kinds of hidden names.
constexpr std::string_view kRecord = "part-";
constexpr std::string_view kShared = "parts-";
constexpr std::string_view kOwn = "own-";
constexpr std::string_view kMark = "mark-";
constexpr std::string_view kJoined = "joined";

// Calls visit(FIELD...) with the fields of a record's line in their order, a few at a time.
template <class Record, class Visit>
void visit_fields(Record& record, const Visit& visit) {
  visit(record.job, record.part, record.parts, record.elements, record.file_bytes, record.mark,
        record.verified, record.has_own_file, record.is_distinct);
  for (auto* sum : {&record.input, &record.output, &record.repeats}) {
    visit(sum->count, sum->first, sum->second);
  }
  visit(record.begin, record.end, record.content.first, record.content.second, record.began_ns,
        record.ended_ns, record.hints.number, record.hints.written_ns, record.hints.changed_ns,
        record.replaced, record.first, record.last);
}

template <class Number>
std::string text_of(const Number& number) {
  return fmt::format("{:d}", number);
}

template <class Number>
void read(std::istream& words, Number& number) {
  words >> number;
}

std::string text_of(const std::string& key) {
  std::string digits = ".";
  for (const char byte : key) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

std::string key_of(std::string_view digits) {
  constexpr int kHexadecimal = 16;
  std::string key;
  for (std::size_t at = 1; at + 2 <= digits.size(); at += 2) {
    unsigned byte = 0;
    std::from_chars(digits.data() + at, digits.data() + at + 2, byte, kHexadecimal);
    key += static_cast<char>(byte);
  }
  return key;
}

void read(std::istream& words, std::string& key) {
  std::string digits;
  words >> digits;
  key = key_of(digits);
}

std::string text_of(const std::optional<io::FileState>& replaced) {
  const io::FileState state = replaced.value_or(io::FileState{});
  return fmt::format("{:d} {} {}", replaced.has_value(), state.bytes, state.changed_ns);
}

void read(std::istream& words, std::optional<io::FileState>& replaced) {
  bool replaces = false;
  io::FileState state;
  words >> replaces >> state.bytes >> state.changed_ns;
  if (replaces) replaced = state;
}

// Whether all numbers are possible for a part; then their sums do not wrap.
bool can_be(const PartRecord& record) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  return record.part < record.parts && record.parts <= kMostShares && record.elements <= kMost &&
         record.file_bytes <= kMost && record.begin <= record.end &&
         record.end <= record.elements && record.input.count <= kMost &&
         record.output.count <= record.elements && record.repeats.count <= record.elements;
}

}  // namespace

std::string encode_part(const PartRecord& record) {
  std::string text = fmt::format("{} 5 ", kMagic);
  visit_fields(record, [&](const auto&... fields) { ((text += text_of(fields) + " "), ...); });
  return text + fmt::format("{}\n", XXH3_64bits(text.data(), text.size()));
}

std::optional<PartRecord> parse_part(const std::string& text) {
  std::istringstream words(text);
  std::string magic;
  unsigned version = 0;
  words >> magic >> version;
  PartRecord record;
  visit_fields(record, [&](auto&... fields) { (read(words, fields), ...); });
  // A text that encode_part() would not write is no record.
  return can_be(record) && encode_part(record) == text ? std::optional(record) : std::nullopt;
}

std::optional<PartRecord> read_part(const io::OutputPlace& place, const std::string& name) {
  const auto text = io::read_record(place, name);
  return text ? parse_part(*text) : std::nullopt;
}

std::string hidden_prefix(const std::string& name) {
  return fmt::format(".{}.gsort-", name);
}

// A name of another output, such as NAME.gsort-part, contains ".gsort-" once more.
bool is_hidden_name(const std::string& name, std::string_view hidden) {
  const std::string prefix = hidden_prefix(name);
  if (!hidden.starts_with(prefix)) return false;
  hidden.remove_prefix(prefix.size());
  if (io::is_on_its_way(fmt::format("{}{}", prefix, hidden))) {
    hidden = hidden.substr(0, hidden.rfind('.'));
  }
  if (hidden == kJoined) return true;
  const auto of_kind = [&](std::string_view kind) {
    return hidden.starts_with(kind) &&
           hidden.substr(kind.size()).find_first_not_of("0123456789abcdef-o") == hidden.npos;
  };
  return of_kind(kRecord) || of_kind(kShared) || of_kind(kOwn) || of_kind(kMark);
}

std::string file_prefix(const std::string& name, const PartRecord& record) {
  return fmt::format("{}{}{:016x}-", hidden_prefix(name), record.has_own_file ? kOwn : kShared,
                     record.job);
}

std::string file_name(const std::string& name, const PartRecord& record) {
  return fmt::format("{}{:016x}", file_prefix(name, record), record.mark);
}

std::string own_prefix(const std::string& name) {
  return fmt::format("{}{}", hidden_prefix(name), kOwn);
}

std::string record_prefix(const std::string& name) {
  return fmt::format("{}{}", hidden_prefix(name), kRecord);
}

std::string record_name(const std::string& name, const PartRecord& record) {
  return fmt::format("{}{:016x}-{}-of-{}", record_prefix(name), record.job, record.part,
                     record.parts);
}

std::string mark_prefix(const std::string& name, const PartRecord& record) {
  return fmt::format("{}{}{:016x}", hidden_prefix(name), kMark, record.job);
}

std::string mark_name(const std::string& name, const PartRecord& record,
                      std::optional<std::uint64_t> lost) {
  const std::string first = mark_prefix(name, record);
  return lost ? fmt::format("{}-{:016x}", first, *lost) : first;
}

std::string joined_name(const std::string& name) {
  return fmt::format("{}{}", hidden_prefix(name), kJoined);
}

}  // namespace gsort
