#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "options/job.hpp"

namespace gsort {
namespace {

// Between the keys of the elements and the seed of a shuffle.
constexpr std::string_view kColumns = " in columns: ";

std::string_view order_name(bool descending) {
  return descending ? "descending" : "ascending";
}

std::string_view endian_name(bool big_endian) {
  return big_endian ? "big" : "little";
}

// Empty for keys that are not floats, and for total order, the only one of earlier versions: these
// reject the word.
std::string_view float_order_name(std::optional<KeyType> type, FloatOrder order) {
  return type && is_float(*type) && order != FloatOrder::kTotal ? " numeric" : "";
}

std::string element_text(const ElementFormat& element) {
  const auto records = element.shown_records();
  const KeyFormat& whole = element.key;
  if (!records) {
    return fmt::format("{}{} {} endian {}", name_of(whole.type),
                       float_order_name(whole.type, whole.float_order),
                       endian_name(whole.big_endian), order_name(whole.descending));
  }
  std::string text = fmt::format("records of {} bytes", records->bytes);
  for (const KeyField& key : records->keys) {
    text += fmt::format(", {} of {} at {}{} {} endian {}", key.type ? name_of(*key.type) : "bytes",
                        key.bytes, key.offset, float_order_name(key.type, key.float_order),
                        endian_name(key.big_endian), order_name(key.descending));
  }
  return text;
}

std::string columns_text(std::uint64_t columns) {
  return columns > 0 ? fmt::format("{}{}", kColumns, columns) : "";
}

// Runs hold numbers in another form than records.
std::string positions_text(const Job& job) {
  if (!job.numbered) return "";
  if (job.shuffle) return shuffle_words(*job.shuffle);
  // The text of records does not contain the byte order of positions.
  const bool big_endian = job.numbered->shown_records() && job.numbered->key.big_endian;
  return fmt::format(" with positions{}{}", job.element.records ? "" : ", as numbers",
                     big_endian ? ", big endian" : "");
}

// Empty without --skip-end and --elements, so the text is then that of earlier versions.
std::string end_text(const InputForm& form) {
  return (form.skip_end_bytes > 0 ? fmt::format(" and {} at the end", form.skip_end_bytes) : "") +
         (form.elements ? fmt::format(", {} elements", *form.elements) : "");
}

}  // namespace

std::uint64_t columns_in(std::string_view description) {
  const std::size_t found = description.substr(0, description.find(';')).find(kColumns);
  std::uint64_t columns = 0;
  if (found == description.npos) return columns;
  const char* const begin = description.data() + found + kColumns.size();
  std::from_chars(begin, description.data() + description.size(), columns);
  return columns;
}

std::string resumable_job(const Job& job, const InputForm& form) {
  return fmt::format("{}{}{}; input as {}, {}; skip {}{}; {}", element_text(job.input_element()),
                     columns_text(job.columns), positions_text(job),
                     form.format ? name_of(*form.format) : "its name says",
                     form.codec ? name_of(*form.codec) : "its bytes say",
                     form.skip_bytes.value_or(0), end_text(form),
                     job.handling.verify ? "verified" : "not verified");
}

}  // namespace gsort
