#include "options/record_keys.hpp"

#include <charconv>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "form/type_name.hpp"
#include "form/valid_format.hpp"

namespace gsort {
namespace {

constexpr std::string_view kBytes = "bytes";

std::uint32_t bytes_named(std::string_view name, std::string_view key) {
  if (const auto bytes = string_named(name)) return *bytes;
  if (name.size() == kBytes.size() ||
      name.find_first_not_of("0123456789", kBytes.size()) != name.npos) {
    throw bad_key(key, fmt::format("'{}' is not a type", name));
  }
  throw bad_key(key, fmt::format("a key has 1 to {} bytes", RecordFormat::kMostKeyBytes),
                "use adjacent keys for a longer one");
}

NamedType type_of_key(std::string_view name, std::string_view key) {
  if (const auto type = type_named(name)) return *type;
  throw bad_key(key, fmt::format("'{}' is not a type", name), hint_for_type(name));
}

}  // namespace

Error bad_key(std::string_view key, std::string reason, std::string_view hint) {
  return Error(ErrorKind::kUsage, fmt::format("--key '{}'", key), std::move(reason)).hint(hint);
}

std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

KeyField parse_record_key(std::string_view key, const Options& options) {
  std::string_view rest = key;
  const auto offset = take_number(rest);
  if (!offset && key.find_first_of("0123456789") == 0) {
    throw bad_key(key, "the offset is too large",
                  fmt::format("records have at most {} bytes", RecordFormat::kMostBytes));
  }
  if (!offset) throw bad_key(key, "does not begin with an offset");
  const bool reversed = rest.ends_with('r');
  if (reversed) rest.remove_suffix(1);
  const bool descending = reversed != options.key.descending;
  if (rest.starts_with(':')) {
    rest.remove_prefix(1);
    if (lower_case(rest).starts_with(kBytes)) {
      return {*offset, bytes_named(rest, key), std::nullopt, options.key.big_endian, descending};
    }
  } else if (!rest.empty()) {
    throw bad_key(key, fmt::format("'{}' is not ':TYPE'", rest));
  }
  const bool has_type = key.find(':') != std::string_view::npos;
  if (const std::uint32_t bytes = string_bytes(options.key); bytes > 0 && !has_type) {
    return {*offset, bytes, std::nullopt, options.key.big_endian, descending};
  }
  const NamedType named = has_type ? type_of_key(rest, key) : NamedType{options.key.type, {}};
  const auto bytes = static_cast<std::uint32_t>(bytes_of(named.type));
  return {*offset, bytes, named.type, named.big_endian.value_or(options.key.big_endian),
          descending};
}

void add_record_key(RecordFormat& format, const KeyField& field, std::string_view key) {
  switch (problem_of_key(format, field)) {
    case KeyProblem::kNone:
      return format.keys.push_back(field);
    case KeyProblem::kBytes:
      throw bad_key(key, fmt::format("has {} bytes", field.bytes),
                    fmt::format("a key has the bytes of its type, or 1 to {} bytes",
                                RecordFormat::kMostKeyBytes));
    case KeyProblem::kBeyondRecord:
      throw bad_key(key,
                    fmt::format("ends at byte {} of records of {}",
                                std::uint64_t{field.offset} + field.bytes, format.bytes),
                    "offsets count from 0");
    case KeyProblem::kOverlap:
      throw bad_key(key,
                    fmt::format("overlaps the key at {}", overlapped_key(format, field)->offset),
                    "a byte can be part of one key only");
    case KeyProblem::kTooMany:
      break;
  }
  throw bad_key(key, "is one key too many",
                fmt::format("a record has at most {}", RecordFormat::kMostKeys));
}

}  // namespace gsort
