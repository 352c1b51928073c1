#include "options/record_options.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "options/form_options.hpp"
#include "options/option_values.hpp"
#include "options/record_keys.hpp"

namespace gsort {
namespace {

// Accepts files of raw records and, with `arrays_hold_them`, arrays. Keys of bytes may be in all
// files except SOSD's.
void require_files_of_records(const Options& options, const RecordFormat& records,
                              bool arrays_hold_them) {
  const auto require = [&](const std::string& what, FileFormat format, bool is_input) {
    if (format == FileFormat::kBinary) return;
    if (format != FileFormat::kSosd && are_strings(records)) return;
    if (format == FileFormat::kNpy && arrays_hold_them) return;
    const char* const elements = arrays_hold_them       ? "records"
                                 : are_strings(records) ? "keys of bytes"
                                                        : "--record";
    throw Error(ErrorKind::kUsage, fmt::format("{} with {}", elements, what),
                fmt::format("{} holds no records", name_of(format)))
        .hint(arrays_hold_them ? "--format=npy:bin writes them as raw bytes"
              : is_input && format == FileFormat::kSosd
                  ? "--format=bin --skip=8 leaves the number of keys in place"
                  : "--format=bin takes all files as raw bytes");
  };
  for (const std::string& path : options.inputs)
    require(path, format_of_input(options.input_form, path), true);
  if (!options.argsort) require("this output", output_form(options).format, false);
}

// The name as the user types it for --key.
std::string as_typed(std::string_view name) {
  std::string typed;
  for (const char letter : name) {
    if (letter == ',' || letter == '\\') typed += '\\';
    typed += letter;
  }
  return typed;
}

constexpr const char* kNoOrder =
    "no field has an order: only fields of numbers, times and texts have one";

// A hint that names the fields that have an order.
std::string hint_for_fields(const StoredRecords& records, bool for_option,
                            std::string_view what_to_do = "") {
  std::string names;
  for (const StoredField& field : records.fields) {
    if (field.keys.empty() || field.name.empty()) continue;
    names += (names.empty() ? "" : ", ") + (for_option ? as_typed(field.name) : field.name);
  }
  if (names.empty()) return kNoOrder;
  return fmt::format("{}these can be sorted by: {}", what_to_do, names);
}

// A text is compared as many keys: one for each character (U), or for 32 bytes (S).
void require_comparable(const StoredField& field, bool is_column = false) {
  constexpr std::size_t kMost = RecordFormat::kMostKeys;
  if (field.keys.size() <= kMost) return;
  const bool of_characters = field.keys.front().type.has_value();
  const std::size_t unit_bytes = of_characters ? bytes_of(*field.keys.front().type) : 1;
  const std::size_t most = of_characters ? kMost : kMost * RecordFormat::kMostKeyBytes;
  const std::string_view unit = of_characters ? "characters" : "bytes";
  throw Error(ErrorKind::kUsage,
              fmt::format("sorting by {}texts of {} {}",
                          field.name.empty() ? "" : fmt::format("field '{}', ", field.name),
                          field.bytes / unit_bytes, unit),
              fmt::format("texts of up to {} {} are compared", most, unit))
      .hint(of_characters
                ? "numpy.char.encode(array, 'utf-8') has the same order; of such texts up "
                  "to 1,024 bytes are compared"
            : is_column ? "array.astype('S1024') keeps what can be compared"
                        : "--key=0:bytes32,32:bytes32 and so on compares what decides");
}

void require_room(const RecordFormat& format, const StoredField& field, std::string what) {
  require_comparable(field);
  if (format.keys.size() + field.keys.size() <= RecordFormat::kMostKeys) return;
  throw Error(ErrorKind::kUsage, std::move(what),
              fmt::format("they make more than {} keys", RecordFormat::kMostKeys))
      .hint(
          "name those that decide with --key; a text makes one key for each character (U), or for "
          "32 bytes (S)");
}

// Elements of padding alone, as numpy.save writes those of a dtype without fields, have no keys.
void require_keys(const std::vector<KeyField>& keys, const Options& options) {
  if (!keys.empty()) return;
  throw Error(ErrorKind::kUsage, "sorting", "its elements have no order of their own")
      .path(options.inputs.front())
      .hint(kNoOrder);
}

// All fields in their order, as numpy.sort compares them.
void add_all_fields(RecordFormat& format, const StoredRecords& records, const Options& options) {
  for (const StoredField& field : records.fields) {
    if (field.is_padding) continue;
    if (field.keys.empty()) {
      throw Error(ErrorKind::kUsage, "sorting by all fields",
                  fmt::format("field '{}' has no order of its own", field.name))
          .hint(hint_for_fields(records, true, "name fields with --key; "));
    }
    require_room(format, field, "sorting by all fields");
    for (KeyField key : field.keys) {
      key.descending = options.key.descending;
      add_record_key(format, key, field.name);
    }
  }
  require_keys(format.keys, options);
}

const StoredField* field_named(const StoredRecords& records, std::string_view name) {
  for (const StoredField& field : records.fields) {
    if (field.name == name && !name.empty()) return &field;
  }
  return nullptr;
}

// Whether OFFSET[:TYPE] gives the type of the key.
bool names_its_type(std::string_view key) {
  return key.find(':') != std::string_view::npos;
}

void add_field(RecordFormat& format, const StoredField& field, std::string_view key,
               bool descending) {
  require_room(format, field, "sorting by these fields");
  for (KeyField part : field.keys) {
    part.descending = descending;
    add_record_key(format, part, key);
  }
}

// Adds the key for NAME, NAMEr, or the bytes of the record at OFFSET. Returns whether it gives the
// key its type.
bool add_named_key(RecordFormat& format, const StoredRecords& records, std::string_view key,
                   const Options& options) {
  const StoredField* field = field_named(records, key);
  const bool reversed = field == nullptr && key.ends_with('r');
  if (reversed) field = field_named(records, key.substr(0, key.size() - 1));
  if (field == nullptr) {
    if (!key.empty() && key.front() >= '0' && key.front() <= '9') {
      add_record_key(format, parse_record_key(key, options), key);
      return names_its_type(key);
    }
    throw bad_key(key, "is not a field of the records",
                  hint_for_fields(records, true) + "; or give OFFSET[:TYPE][r]");
  }
  if (field->keys.empty()) {
    throw bad_key(key, "has no order of its own",
                  fmt::format("{}:bytesN compares its bytes as they are", field->offset));
  }
  add_field(format, *field, key, reversed != options.key.descending);
  return true;
}

// Adds NAME, or -NAME for descending order.
void add_ordered_field(RecordFormat& format, const StoredRecords& records, std::string_view name,
                       const Options& options) {
  const StoredField* field = field_named(records, name);
  const bool reversed = field == nullptr && name.starts_with('-');
  if (reversed) field = field_named(records, name.substr(1));
  if (field == nullptr || field->keys.empty()) {
    throw bad_key(name,
                  field == nullptr ? "is not a field of the records" : "has no order of its own",
                  hint_for_fields(records, false));
  }
  add_field(format, *field, name, reversed != options.key.descending);
}

// Converts keys of records ("8:f64r") to columns for --key ("1r"), by their offsets in bytes.
std::string columns_at(const std::vector<std::string>& keys, std::uint32_t column_bytes) {
  std::string columns;
  for (std::string_view rest : keys) {
    const std::uint32_t column = take_number(rest).value_or(0) / column_bytes;
    columns +=
        fmt::format("{}{}{}", columns.empty() ? "" : ",", column, rest.ends_with('r') ? "r" : "");
  }
  return columns.empty() ? "0" : columns;
}

// If every key of the records has a type, none is assumed.
void set_source_of_typed_keys(TypeSource& type_source, TypeSource source) {
  if (type_source == TypeSource::kDefault) type_source = source;
}

}  // namespace

void set_record(Options& options, std::string_view value) {
  const auto bytes = parse_bytes(value, RecordFormat::kMostBytes);
  if (bytes.value_or(0) == 0) {
    throw Error(ErrorKind::kUsage, fmt::format("--record '{}'", value),
                "is not a valid record size")
        .hint(fmt::format("records have 1 to {} bytes", RecordFormat::kMostBytes));
  }
  options.record_bytes = static_cast<std::uint32_t>(*bytes);
}

void add_record_keys(Options& options, std::string_view value) {
  std::string key;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::string_view rest = value.substr(i);
    if (rest.starts_with("\\,") || rest.starts_with("\\\\")) {
      key += value[++i];
    } else if (value[i] == ',') {
      options.record_keys.push_back(std::exchange(key, {}));
    } else {
      key += value[i];
    }
  }
  options.record_keys.push_back(key);
}

void resolve_records(Options& options) {
  const bool header_decides =
      format_of_input(options.input_form, options.inputs.front()) == FileFormat::kNpy ||
      options.take || options.join;
  if (options.type_source == TypeSource::kEnvironment && header_decides) options.key.tuple = {};
  const std::uint32_t string = string_bytes(options.key);
  if (string > 0 && !options.record_bytes && options.record_keys.empty()) {
    options.record_bytes = string;
    options.key_is_whole = true;
    if (!options.shuffle) options.record_keys.emplace_back("0");
  }
  if (!options.record_bytes && options.record_keys.empty()) return;
  if (format_of_input(options.input_form, options.inputs.front()) == FileFormat::kNpy) return;
  if (!options.record_bytes) {
    throw Error(ErrorKind::kUsage, "option --key", "needs --record")
        .hint("--record=SIZE says how many bytes a record has");
  }
  const bool compares_keys = !options.shuffle || !options.record_keys.empty();
  if (compares_keys && options.record_keys.empty()) {
    throw Error(ErrorKind::kUsage, "option --record", "needs --key")
        .hint(fmt::format("--key says where the keys are: {}", kKeyForm));
  }
  RecordFormat format;
  format.bytes = *options.record_bytes;
  if (!compares_keys) format.keys = {{0, string == format.bytes ? string : 1, std::nullopt}};
  for (const std::string& key : options.record_keys) {
    add_record_key(format, parse_record_key(key, options), key);
  }
  require_files_of_records(options, format, false);
  if (std::ranges::all_of(options.record_keys, names_its_type)) {
    set_source_of_typed_keys(options.type_source, TypeSource::kRecordKeys);
  }
  options.records = std::move(format);
}

static Error no_bytes(const Options& options, const std::string& reason) {
  return Error(ErrorKind::kUsage, fmt::format("--type 'bytes{}'", string_bytes(options.key)),
               reason)
      .hint("its header says so; leave out --type");
}

static void require_record_bytes(const Options& options, const StoredRecords& records) {
  if (options.record_bytes.value_or(records.bytes) != records.bytes) {
    const bool is_typed = string_bytes(options.key) == options.record_bytes;
    throw Error(ErrorKind::kUsage,
                fmt::format("--{} '{}{}'", is_typed ? "type" : "record", is_typed ? "bytes" : "",
                            *options.record_bytes),
                fmt::format("the array has records of {} bytes", records.bytes))
        .hint(fmt::format("its header says so; leave out {}", is_typed ? "--type" : "--record"));
  }
}

void adopt_shuffled_records(Job& job, const Options& options, const StoredArray& stored) {
  const StoredRecords& records = *stored.records;
  const bool has_rows_of_records = stored.columns > 0 && !stored.key;
  const auto columns = static_cast<std::uint32_t>(has_rows_of_records ? stored.columns : 1);
  require_record_bytes(options, {records.bytes / columns, {}});
  const bool is_alone = records.fields.size() == 1 && stored.columns == 0;
  const StoredField* const only = is_alone ? &records.fields.front() : nullptr;
  RecordFormat format{records.bytes, {{0, 1, std::nullopt}}};
  if (only != nullptr && only->keys.size() == 1) format.keys = only->keys;
  require_files_of_records(options, format, true);
  set_source_of_typed_keys(job.type_source, TypeSource::kHeader);
  job.element.records = std::move(format);
}

void adopt_records(Job& job, const Options& options, const StoredRecords& records) {
  require_record_bytes(options, records);
  RecordFormat format;
  format.bytes = records.bytes;
  if (options.key_is_whole) {
    add_all_fields(format, records, options);
    if (!are_strings(format)) throw no_bytes(options, "the array has records with other keys");
    format.keys.clear();
  }
  if (options.record_keys.empty() && options.order.empty()) {
    add_all_fields(format, records, options);
  }
  for (const std::string& name : options.order) {
    add_ordered_field(format, records, name, options);
  }
  bool all_have_types = true;
  for (const std::string& key : options.record_keys) {
    if (!add_named_key(format, records, key, options)) all_have_types = false;
  }
  require_files_of_records(options, format, true);
  if (all_have_types) set_source_of_typed_keys(job.type_source, TypeSource::kHeader);
  job.element.records = std::move(format);
}

// The key that orders the column at the front of a table.
static StoredField first_column(const StoredArray& table, std::uint32_t bytes) {
  if (!table.key) return table.records->fields.front();
  return {"", 0, bytes, {{0, bytes, table.key->type, table.key->big_endian}}};
}

void adopt_table(Job& job, const Options& options, const StoredArray& table) {
  const KeyFormat key = table.key.value_or(job.element.key);
  const auto bytes = static_cast<std::uint32_t>(table.records->bytes / table.columns);
  const bool has_offsets = !std::ranges::all_of(
      options.record_keys, [](const std::string& word) { return !names_its_type(word); });
  const StoredField first = first_column(table, bytes);
  if (const std::uint32_t string = string_bytes(options.key)) {
    const bool has_strings = are_strings({bytes, first.keys}) && bytes == string;
    if (!options.key_is_whole && !has_strings) {
      throw no_bytes(options, fmt::format("the array is a table of {} columns", table.columns));
    }
  }
  if (options.key_is_whole) {
    const KeyField row{0, table.records->bytes, std::nullopt, false, options.key.descending};
    job.element = {key, RecordFormat{table.records->bytes, {row}}};
    return;
  }
  require_keys(first.keys, options);
  require_comparable(first, true);
  if (options.record_bytes || has_offsets) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} with {}", options.record_bytes ? "--record" : "--key",
                            options.inputs.front()),
                fmt::format("the array is a table of {} columns", table.columns))
        .hint(fmt::format("its rows are sorted by the numbers of columns: leave out --record, and "
                          "give --key={}",
                          columns_at(options.record_keys, bytes)));
  }
  RecordFormat format;
  format.bytes = table.records->bytes;
  require_files_of_records(options, format, true);
  const auto add = [&](std::string_view column, bool reversed, std::string_view typed) {
    std::string_view rest = column;
    const auto number = take_number(rest);
    if (!number || !rest.empty() || *number >= table.columns) {
      throw bad_key(typed, "is not a column of the table",
                    fmt::format("columns have the numbers 0 to {}", table.columns - 1));
    }
    require_room(format, first, "sorting by these columns");
    for (KeyField part : first.keys) {
      part.offset += *number * bytes;
      part.descending = reversed != options.key.descending;
      add_record_key(format, part, typed);
    }
  };
  for (const std::string_view word : options.order) {
    const bool reversed = word.starts_with('-');
    add(word.substr(reversed ? 1 : 0), reversed, word);
  }
  for (const std::string_view word : options.record_keys) {
    const bool reversed = word.ends_with('r');
    add(word.substr(0, word.size() - (reversed ? 1 : 0)), reversed, word);
  }
  job.element = {key, std::move(format)};
  job.type_source = TypeSource::kHeader;
}

void refuse_records_of_keys(const Options& options, std::optional<std::string> reason) {
  if (!options.record_bytes && options.record_keys.empty() && options.order.empty()) return;
  if (options.records) return;
  if (!options.order.empty()) {
    throw Error(ErrorKind::kUsage, "order of", reason.value_or("the elements are not records"))
        .path(options.inputs.front())
        .hint("leave out order, or give a dtype with fields");
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("{} with {}", options.record_bytes ? "--record" : "--key",
                          options.inputs.front()),
              reason.value_or("the array holds keys, not records"))
      .hint("leave out --record and --key: the keys of the array are sorted");
}

}  // namespace gsort
