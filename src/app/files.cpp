#include "app/files.hpp"

#include "io/system/host_facts.hpp"
#include "options/form_options.hpp"
#include "options/record_options.hpp"
#include "options/result_options.hpp"
#include "pipeline/survey.hpp"
#include "plan/budget.hpp"
#include "plan/decoding.hpp"

namespace gsort {

io::ReaderOptions reader_options(const Options& options) {
  io::ReaderOptions wanted;
  wanted.element_bytes = element_bytes(options);
  wanted.direct_io = options.direct_io;
  wanted.form = options.input_form;
  wanted.key = options.key;
  wanted.type_is_asked =
      options.type_source == TypeSource::kOption || options.type_source == TypeSource::kSuffix;
  wanted.type_is_assumed = options.type_source == TypeSource::kDefault;
  wanted.byte_order_is_asked = options.byte_order_is_asked;
  return wanted;
}

void adopt_stored_key(Options& options, const io::Reader& reader) {
  options.stored_dtype = reader.stored_dtype();
  if (reader.stored_records()) {
    adopt_records(options, *reader.stored_records());
  } else {
    refuse_records_of_keys(options);
  }
  if (reader.row_elements() > 0) adopt_rows(options, reader.row_elements());
  if (!reader.key_is_stored()) return;
  options.key = reader.key();
  options.type_source = TypeSource::kHeader;
}

void limit_decoders_of_check(const Options& options, io::Reader& reader) {
  Machine machine;
  machine.compressed = compressed_inputs(reader);
  if (machine.compressed.empty()) return;
  const io::HostFacts host = io::host_facts();
  machine.memory_bytes = host.memory_bytes;
  machine.available_bytes = host.available_bytes;
  require_decoding_memory(options, machine, [](const Options&) { return true; });
  reader.limit_decoders(plan_decoding(options, machine, host_budget(options, machine)).limit);
}

std::optional<io::Output> open_output(const Options& options) {
  const bool stream = options.output.value_or("-") == "-";
  if (options.explain != ExplainMode::kNone && stream) return std::nullopt;
  const OutputForm form = output_form(options);
  // Text is for people: a terminal may show it unasked.
  const bool readable = form.format == FileFormat::kText && form.codec == Codec::kNone;
  return io::Output(options.output.value_or(readable ? "-" : ""), {options.direct_io});
}

}  // namespace gsort
