#include "options/record_options.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "options/form_options.hpp"

namespace gsort {
namespace {

constexpr std::string_view kBytes = "bytes";
constexpr std::string_view kForm = "OFFSET[:TYPE][r], as 0:u64 or 4:bytes10r,0:i32";

Error bad_key(std::string_view key, std::string reason, std::string_view hint = kForm) {
  return Error(ErrorKind::kUsage, fmt::format("--key '{}'", key), std::move(reason)).hint(hint);
}

// Takes the number at the start of `text`, if there is one.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::uint32_t bytes_named(std::string_view name, std::string_view key) {
  std::string_view rest = name.substr(kBytes.size());
  const auto bytes = take_number(rest);
  if (!bytes || !rest.empty()) throw bad_key(key, fmt::format("'{}' is no type", name));
  if (*bytes == 0 || *bytes > RecordFormat::kMostKeyBytes) {
    throw bad_key(key, fmt::format("a key has 1 to {} bytes", RecordFormat::kMostKeyBytes),
                  "several keys, one behind the other, make a longer one");
  }
  return *bytes;
}

KeyType type_named(std::string_view name, std::string_view key) {
  if (const auto type = key_type_named(name)) return *type;
  throw bad_key(key, fmt::format("'{}' is no type", name),
                "u8 i8 u16 i16 u32 i32 u64 i64 f32 f64, or bytesN");
}

KeyField parse_key(std::string_view key, const Options& options) {
  std::string_view rest = key;
  const auto offset = take_number(rest);
  if (!offset) throw bad_key(key, "does not begin with an offset");
  const bool reversed = rest.ends_with('r');
  if (reversed) rest.remove_suffix(1);
  const bool descending = reversed != options.key.descending;
  if (rest.starts_with(':')) {
    rest.remove_prefix(1);
    if (rest.starts_with(kBytes)) {
      return {*offset, bytes_named(rest, key), std::nullopt, false, descending};
    }
  } else if (!rest.empty()) {
    throw bad_key(key, fmt::format("'{}' is not ':TYPE'", rest));
  }
  const KeyType type =
      key.find(':') == std::string_view::npos ? options.key.type : type_named(rest, key);
  const auto bytes = static_cast<std::uint32_t>(bytes_of(type));
  return {*offset, bytes, type, options.key.big_endian, descending};
}

void require_fit(const KeyField& field, std::string_view key, const RecordFormat& format) {
  if (std::uint64_t{field.offset} + field.bytes > format.bytes) {
    throw bad_key(key,
                  fmt::format("ends at byte {} of records of {}",
                              std::uint64_t{field.offset} + field.bytes, format.bytes),
                  "offsets count from 0");
  }
  for (const KeyField& other : format.keys) {
    if (field.offset < other.offset + other.bytes && other.offset < field.offset + field.bytes) {
      throw bad_key(key, fmt::format("overlaps the key at {}", other.offset),
                    "a byte can be part of one key only");
    }
  }
}

// Whether files hold raw records is seen from --format and from their names.
void require_raw_files(const Options& options) {
  const auto refuse = [](const std::string& what, FileFormat format) {
    if (format == FileFormat::kBinary) return;
    throw Error(ErrorKind::kUsage, fmt::format("--record with {}", what),
                fmt::format("{} holds no records", name_of(format)))
        .hint("--format=bin takes all files as raw bytes");
  };
  for (const std::string& path : options.inputs) {
    refuse(path,
           options.input_form.format.value_or(format_of_path(path).value_or(FileFormat::kBinary)));
  }
  refuse("this output", output_form(options).format);
}

}  // namespace

void set_record(Options& options, std::string_view value) {
  std::string_view rest = value;
  // Here a bare number can only mean one thing.
  const auto number = take_number(rest);
  const std::uint64_t bytes = number && rest.empty() ? *number : parse_size(value, 0, "--record");
  if (bytes == 0 || bytes > RecordFormat::kMostBytes) {
    throw Error(ErrorKind::kUsage, fmt::format("--record '{}'", value), "is no size of a record")
        .hint(fmt::format("records have 1 to {} bytes", RecordFormat::kMostBytes));
  }
  options.record_bytes = static_cast<std::uint32_t>(bytes);
}

void add_record_keys(Options& options, std::string_view value) {
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    options.record_keys.emplace_back(value.substr(begin, end - begin));
    begin = end + 1;
  }
}

void resolve_records(Options& options) {
  if (!options.record_bytes && options.record_keys.empty()) return;
  if (!options.record_bytes) {
    throw Error(ErrorKind::kUsage, "option --key", "needs --record")
        .hint("--record=SIZE says how many bytes a record has");
  }
  if (options.record_keys.empty()) {
    throw Error(ErrorKind::kUsage, "option --record", "needs --key")
        .hint(fmt::format("--key says where the keys are: {}", kForm));
  }
  if (options.record_keys.size() > RecordFormat::kMostKeys) {
    throw Error(ErrorKind::kUsage, "option --key", "names too many keys")
        .hint(fmt::format("a record has at most {}", RecordFormat::kMostKeys));
  }
  require_raw_files(options);
  RecordFormat format;
  format.bytes = *options.record_bytes;
  for (const std::string& key : options.record_keys) {
    const KeyField field = parse_key(key, options);
    require_fit(field, key, format);
    format.keys.push_back(field);
  }
  options.records = std::move(format);
}

}  // namespace gsort
