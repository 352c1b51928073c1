#include "options/job.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "form/npy.hpp"
#include "options/form_options.hpp"
#include "options/option_rules.hpp"
#include "options/options.hpp"
#include "options/record_options.hpp"

namespace gsort {
namespace {

void adopt_elements(Job& job, const Options& options, const StoredArray& stored) {
  if (stored.empty_rows && !options.key_is_whole && (stored.key || io::holds_texts(stored))) {
    refuse_records_of_keys(options, "the array is a table of 0 columns");
  }
  if (stored.records && options.shuffle) {
    if (stored.key) job.element.key = *stored.key;
    adopt_shuffled_records(job, options, stored);
  } else if (stored.columns > 0) {
    adopt_table(job, options, stored);
  } else if (stored.records) {
    adopt_records(job, options, *stored.records);
  } else {
    refuse_records_of_keys(options);
  }
  if (job.element.records && options.key.float_order == FloatOrder::kTotal) {
    for (KeyField& key : job.element.records->keys) key.float_order = FloatOrder::kTotal;
  }
  job.element = element_of(job.element.key, job.element.records);
  if (!options.argsort) job.element = job.element.as_keys();
  if (!stored.key || stored.columns > 0) return;
  job.element.key = *stored.key;
  job.type_source = TypeSource::kHeader;
}

// The rows of an array are sorted separately.
std::uint64_t array_elements(const Options& options, std::uint64_t row_elements,
                             std::uint64_t element_bytes) {
  const std::uint64_t asked = options.batch_elements.value_or(row_elements);
  if (row_elements != 0 && asked != row_elements) {
    throw Error(ErrorKind::kUsage, fmt::format("--batch-elements '{}'", asked),
                fmt::format("the array has rows of {} elements", row_elements))
        .hint("its rows are sorted on their own without that option");
  }
  return asked == 0 ? 0 : std::min(asked, kMostFileBytes / element_bytes);
}

void refuse_numbers_that_numpy_lacks(const Job& job) {
  const KeyType type = job.element.key.type;
  const bool has_them = bytes_of(type) <= sizeof(std::uint64_t);
  if (job.output_form.format != FileFormat::kNpy || has_them || job.element.records || job.dtype) {
    return;
  }
  throw Error(ErrorKind::kUsage, fmt::format("{} with this output", name_of(type)),
              "NumPy has no integers of 128 bits")
      .hint(
          "write raw keys (--format=IN:bin); numpy.fromfile reads them with the dtype "
          "[('low', '<u8'), ('high', '<u8')]");
}

// Throws if a suffix is that of plain keys: their bytes could be taken for keys with counts.
void refuse_suffix_of_keys(const Options& options) {
  if (options.input_form.format) return;
  for (const std::string& input : options.inputs) {
    const auto type = key_type_of_path(input);
    if (!type || format_of_input(options.input_form, input) != FileFormat::kBinary) continue;
    throw Error(ErrorKind::kUsage, "reading",
                fmt::format("its suffix says {}, but --merge --count reads keys with their counts",
                            name_of(*type)))
        .path(input)
        .hint("-mu --count counts keys; add --format=bin if -u --count wrote it");
  }
}

// An array of counted keys is one of records.
void adopt_counts(Job& job, const Options& options, const StoredArray& stored) {
  if (job.adds_counts() && stored.records) {
    job.element.key.big_endian = stored.records->fields.front().keys.front().big_endian;
  }
  if (job.output_form.format == FileFormat::kSosd) {
    throw Error(ErrorKind::kUsage, "option --count with this output", "SOSD files hold only keys")
        .hint("write raw keys and counts (--format=IN:bin) or text (--format=IN:text)");
  }
  const bool is_stored = job.adds_counts() && job.dtype;
  if (job.output_form.format == FileFormat::kNpy && !is_stored) {
    job.dtype = io::counted_dtype_of(job.element.key, job.dtype);
  }
  if (!job.adds_counts()) return;
  refuse_suffix_of_keys(options);
  // Keys with counts are merged as records. The proof is that of the keys.
  job.shown = job.element;
  const KeyFormat& key = job.element.key;
  const auto bytes = static_cast<std::uint32_t>(job.element.bytes());
  const KeyField number = {0, bytes, key.type, key.big_endian, key.descending, key.float_order};
  const auto strings = job.element.shown_records();
  job.element.records = RecordFormat{static_cast<std::uint32_t>(bytes + kCountBytes),
                                     {strings ? strings->keys.front() : number}};
}

// Elements and positions that together are nothing but keys are sorted as numbers. With -u, the
// first position of each key is wanted, so the position is not a key.
void adopt_numbered_elements(Job& job) {
  constexpr bool kIsKey = true;
  job.element = numbered(*job.numbered, job.numbering(), !kIsKey);
  if (job.is_distinct()) return;
  job.padding_bytes = padding_to_number(*job.numbered, job.numbering());
  const ElementFormat proven = job.proven_element();
  if (!proven.records) job.element = proven;
}

// Throws: Error(kUsage) if elements with their numbers are too long, or too many.
void require_room_for_numbers(const Job& job, std::string_view option,
                              std::optional<std::uint64_t> input_bytes) {
  const std::size_t bytes = job.numbered->bytes();
  const Numbering numbering = job.numbering();
  if (numbering.record_bytes() > RecordFormat::kMostBytes) {
    throw Error(ErrorKind::kUsage, fmt::format("{} of records of {} bytes", option, bytes),
                "with their positions they are too long")
        .hint(fmt::format("records have at most {} bytes, {} of them for the position",
                          RecordFormat::kMostBytes, job.index_bytes));
  }
  if (input_bytes && *input_bytes / bytes > kMostFileBytes / numbering.record_bytes()) {
    throw Error(ErrorKind::kUsage, std::string(option), "the inputs have too many elements")
        .hint("sort parts of them in separate runs");
  }
}

// The order of a shuffle does not depend on whether the size of the input is known.
void adopt_shuffle(Job& job, std::optional<std::uint64_t> input_bytes) {
  job.numbered = job.element;
  job.index_bytes = sizeof(std::uint64_t);
  require_room_for_numbers(job, "--shuffle", input_bytes);
  job.element = numbered(*job.numbered, job.numbering(), true);
}

// The positions of an input whose size is not known may need eight bytes.
void adopt_positions(Job& job, std::optional<std::uint64_t> input_bytes) {
  const ElementFormat input = job.element;
  constexpr std::uint64_t kMost = UINT64_MAX;
  job.index_bytes = index_bytes_for(input_bytes ? *input_bytes / input.bytes() : kMost);
  job.index_may_shrink = !input_bytes;
  job.numbered = input;
  require_room_for_numbers(job, "--argsort", input_bytes);
  adopt_numbered_elements(job);
  job.dtype.reset();
}

}  // namespace

Job make_job(const Options& options, const StoredArray& stored,
             std::optional<std::uint64_t> input_bytes) {
  Job job;
  job.element = {options.key, options.records};
  job.type_source = options.type_source;
  adopt_elements(job, options, stored);
  static_cast<StoredShape&>(job) = stored;
  static_cast<ResultOptions&>(job) = options;
  job.array_elements = array_elements(options, stored.row_elements, job.element.bytes());
  require_rules(RuleSet::kResult, options, stored,
                string_bytes(job.element.key) > 0 && stored.columns == 0);
  job.merged_inputs = options.merge ? options.inputs.size() : 0;
  job.output_form = output_form(options);
  job.output_parts = options.split_output.value_or(1);
  if (!options.argsort) {
    const InputForm& form = options.input_form;
    job.header_bytes = form.skip_bytes.value_or(0) + form.skip_end_bytes;
  }
  if (!options.argsort) refuse_numbers_that_numpy_lacks(job);
  if (job.count) adopt_counts(job, options, stored);
  if (options.argsort) adopt_positions(job, input_bytes);
  if (options.shuffle) adopt_shuffle(job, input_bytes);
  job.resumable = options.resume.has_value();
  job.resources = options;
  job.handling = options;
  return job;
}

}  // namespace gsort
