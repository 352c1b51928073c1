#include "app/files.hpp"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/quoted.hpp"
#include "base/units.hpp"
#include "form/known_layout.hpp"
#include "options/assumed_type.hpp"
#include "options/options.hpp"
#include "options/suffix_warning.hpp"
#include "pipeline/survey.hpp"
#include "plan/budget.hpp"
#include "plan/decoding.hpp"

namespace gsort {

namespace {

// Called before they are opened, because that takes the memory.
void require_memory_for_names(const Request& request) {
  std::uint64_t name_bytes = 0;
  for (const std::string& name : request.inputs) name_bytes += name.size();
  const std::uint64_t needed = names_bytes(request.inputs.size(), name_bytes);
  if (needed == 0) return;
  const std::uint64_t budget = memory_of(request);
  if (needed <= budget / 4 * 3) return;
  throw Error(ErrorKind::kUsage, fmt::format("-S {}", format_bytes(budget)),
              fmt::format("is too small for {} inputs, whose names and states take {}",
                          format_count(request.inputs.size()), format_bytes(needed)))
      .hint(fmt::format("use at least {}M, or concatenate files first",
                        (needed / 3 * 4 + kLeastPromise) / kMiB));
}

// Whether the first input is probably a SOSD file that is read as raw keys. False if it is small: a
// few raw keys may begin with their number by chance.
bool looks_like_sosd(const Options& options, const io::Reader& reader, const Job& job) {
  constexpr std::uint64_t kLeastBytes = 4 * kKiB;
  const auto file = reader.state_of(0);
  const InputForm& form = options.input_form;
  const bool is_raw = format_of_input(form, options.inputs.front()) == FileFormat::kBinary &&
                      !form.skip_bytes && form.skip_end_bytes == 0 && !form.elements;
  const ElementFormat& element = job.input_element();
  const KeyType type = element.key.type;
  const bool is_number = !element.records && !element.key.big_endian &&
                         (type == KeyType::kU32 || type == KeyType::kU64);
  const bool is_key = is_number || string_bytes(element.key) > 0;
  if (!file || !is_raw || !is_key || file->bytes < kLeastBytes) return false;
  std::array<std::byte, sizeof(std::uint64_t)> first{};
  if (reader.sample(first, 0, first.size()) < first.size()) return false;
  const std::string_view bytes(reinterpret_cast<const char*>(first.data()), first.size());
  return key_bytes_of_sosd(bytes, file->bytes) == element.bytes();
}

}  // namespace

std::uint64_t memory_of(const Resources& resources, unsigned processes) {
  Machine machine = survey({}, "");
  divide_memory(machine, processes);
  return host_budget(resources, machine);
}

io::ReaderOptions reader_options(const Options& options) {
  require_memory_for_names(options);
  io::ReaderOptions wanted;
  const ElementFormat element = element_of(options.key, options.records);
  wanted.element_bytes = element.bytes();
  wanted.has_counts = options.adds_counts();
  wanted.way = {options.direct_io, cores_for(options.parallel) == 1};
  wanted.form = options.input_form;
  wanted.key = element.key;
  wanted.type_is_asked =
      options.type_source == TypeSource::kOption || options.type_source == TypeSource::kSuffix;
  wanted.type_is_assumed = options.type_source == TypeSource::kDefault;
  wanted.byte_order_is_asked = options.byte_order_is_asked;
  const bool has_columns =
      options.record_bytes || !options.record_keys.empty() || !options.order.empty();
  if (has_columns) {
    wanted.whole_rows = options.key_is_whole ? io::WholeRows::kOfKeys : io::WholeRows::kOfTexts;
  }
  if (options.shuffle) wanted.whole_rows = io::WholeRows::kOfAll;
  return wanted;
}

Job job_of(const Options& options, const io::Reader& reader) {
  StoredArray stored = reader.first_array();
  stored.key = reader.key_is_stored() ? std::optional(reader.key()) : std::nullopt;
  Job job = make_job(options, stored, reader.known_size());
  job.looks_like_sosd = looks_like_sosd(options, reader, job);
  return job;
}

std::string note_of_types(const Request& request, const Job& job) {
  if (request.verbosity < 0 || request.check == CheckMode::kQuiet) return {};
  const std::string warning = suffix_warning(request, job);  // says where the type is from, too
  const std::string note =
      job.looks_like_sosd
          ? fmt::format(
                "gsort: {} begins with the number of its keys, as SOSD files do; to leave that in "
                "place, use {}\n",
                printable(request.inputs.front()),
                string_bytes(job.input_element().key) > 0 ? "--skip=8" : "--format=sosd")
          : "";
  return note + (warning.empty() ? assumed_type_note(request, job) : warning);
}

void limit_decoders_of_check(const Job& job, io::Reader& reader) {
  std::vector<CompressedInput> compressed = compressed_inputs(reader);
  if (compressed.empty()) return;
  Machine machine = survey({}, "");
  machine.compressed = std::move(compressed);
  require_decoding_memory(job, machine, [](const Resources&) { return true; });
  reader.limit_decoders(plan_decoding(job, machine).limit);
}

}  // namespace gsort
