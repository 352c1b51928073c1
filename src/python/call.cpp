#include "python/call.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/files.hpp"
#include "app/own_files.hpp"
#include "app/prepared_sort.hpp"
#include "base/checked.hpp"
#include "base/error.hpp"
#include "element/fingerprint.hpp"
#include "element/record_text.hpp"
#include "form/npy.hpp"
#include "io/system/same_file.hpp"
#include "options/assumed_type.hpp"
#include "options/suffix_warning.hpp"
#include "pipeline/check_order.hpp"
#include "report/busiest.hpp"

namespace gsort::python {
namespace {

const char* allowed_variable(const char* name) {
  const std::string_view wanted = name;
  return wanted == "GSORT_CACHE" || wanted == "TMPDIR" ? std::getenv(name) : nullptr;
}

// The parser takes strings that end with a null byte.
const char* whole_word(const std::string& word) {
  if (word.find('\0') == std::string::npos) return word.c_str();
  throw Error(ErrorKind::kUsage, "argument '" + word + "'", "has a null byte")
      .hint("remove it, and what follows it");
}

Options parsed(const std::vector<std::string>& words, const std::vector<std::string>& order) {
  std::vector<const char*> arguments = {"gsort"};
  for (const std::string& word : words) arguments.push_back(whole_word(word));
  Options options =
      parse_options(static_cast<int>(arguments.size()), arguments.data(), allowed_variable);
  options.order = order;
  return options;
}

io::ReaderOptions opened_with(const Options& options, std::vector<io::MemoryInput> arrays) {
  if (options.output) refuse_streams_in_place(options);
  io::ReaderOptions wanted = reader_options(options);
  wanted.memory = std::move(arrays);
  return wanted;
}

void require_type(const Options& options, const Job& job) {
  if (!type_is_assumed(options, job)) return;
  throw Error(ErrorKind::kUsage, "reading", "no type was given")
      .path(options.inputs.front())
      .hint("give the dtype, or name the file by its type, as in dump.u64");
}

// A type that is not given explicitly is a guess. One in a header is that of the keys.
void require_one_type(const Options& options, const Job& job, bool is_stored) {
  if (options.type_source == TypeSource::kOption) {
    if (is_stored || !job.input_element().shown_records()) return;
    throw Error(ErrorKind::kUsage, "reading",
                fmt::format("holds records or texts, not {}", type_text(options.key)))
        .path(options.inputs.front())
        .hint("leave out dtype; order names the fields to sort by");
  }
  const auto input = input_of_other_type(options, job);
  if (!input) return;
  throw Error(ErrorKind::kUsage, "reading",
              fmt::format("its suffix says {}, but the type is {} (from {})",
                          name_of(*key_type_of_path(*input)), type_text(job.input_element().key),
                          describe(job.type_source)))
      .path(*input)
      .hint("give the dtype");
}

}  // namespace

Call::Call(const std::vector<std::string>& words, std::vector<io::MemoryInput> arrays,
           const std::vector<std::string>& order,
           std::vector<std::shared_ptr<const io::Input>> mapped)
    : options_(parsed(words, order)),
      mapped_(std::move(mapped)),
      reader_(options_.inputs, opened_with(options_, std::move(arrays))),
      job_(job_of(options_, reader_)) {
  require_type(options_, job_);
  require_one_type(options_, job_, reader_.key_is_stored());
  const bool has_dtype =
      job_.output_form.format == FileFormat::kNpy || (job_.adds_counts() && job_.dtype);
  if (job_.count && !has_dtype) {
    job_.dtype = io::counted_dtype_of(job_.element.key, job_.dtype);
  }
  if (const auto size = reader_.known_size()) {
    const std::uint64_t elements = *size / job_.input_bytes();
    bytes_ = checked_product(std::min(elements, job_.top.value_or(elements)), job_.result_bytes());
  }
}

std::uint64_t Call::memory_bytes() const {
  return memory_of(options_);
}

std::string Call::dtype() const {
  if (job_.argsort) return io::npy_dtype_of(job_.result_key()).descr;
  if (job_.dtype) return job_.dtype->descr;
  const ElementFormat& element = job_.input_element();
  if (element.shown_records()) return "'|V" + std::to_string(element.bytes()) + "'";
  return io::npy_dtype_of(job_.element.key).descr;
}

std::string Call::warning() const {
  const auto input = input_of_other_type(options_, job_);
  return input ? input_warning(job_, *input) : suffix_warning(options_, job_);
}

void Call::use() {
  if (!std::exchange(used_, true)) return;
  throw Error(ErrorKind::kUsage, "calling gsort", "this call has read its inputs already")
      .hint("make a new one");
}

Report Call::sort(std::optional<io::MemoryResult> memory, Meter& meter,
                  const std::function<void()>& before_name) {
  use();
  if (memory) {
    job_.output_form = {};
    return run(io::Output(std::move(*memory)), meter);
  }
  for (const auto& file : mapped_) {
    if (!io::same_file(*options_.output, file->path())) continue;
    constexpr bool kFormatIsGiven = true;  // the format of the mapped array does not count
    const OutputForm& form = job_.output_form;
    refuse_replacing_by_other_elements(
        {file->path(), form.format, form.codec, false, kFormatIsGiven}, job_);
  }
  return run(io::Output(options_.output.value(), output_options(options_, bytes_.value_or(0))),
             meter, [&] {
               if (before_name) before_name();
               for (const auto& file : mapped_) {
                 if (!io::same_file(*options_.output, file->path())) continue;
                 file->check_replaceable(*options_.output);
               }
             });
}

Report Call::sort_into(int descriptor, const std::string& place, Meter& meter) {
  use();
  job_.output_form = {};
  const std::string name = fmt::format("/proc/self/fd/{}", descriptor);
  options_.output = name;
  try {
    return run(io::Output(name), meter);
  } catch (const Error& error) {
    if (error.path() != name) throw;
    throw Error(error).path(place);
  }
}

Report Call::run(io::Output output, Meter& meter, const std::function<void()>& before_name) {
  std::vector<io::Output> outputs;
  outputs.push_back(std::move(output));
  PreparedSort prepared(options_, job_, reader_, std::move(outputs));
  Outcome outcome = prepared.run(&meter, before_name);
  prepared.remember_rates(outcome);
  if (job_.argsort) job_.index_bytes = index_bytes_for(outcome.elements);
  Report report;
  copy_statistics(outcome, report);
  report.output_bytes = outcome.output_elements * job_.result_bytes();
  if (const auto busiest = busiest_of(outcome, prepared.plan().threads)) {
    report.bound_seconds = busiest->seconds;
  }
  report.fingerprint = to_string(outcome.fingerprint);
  report.engine = prepared.plan().engine == EngineKind::kCuda ? "cuda" : "cpu";
  return report;
}

CheckOutcome Call::check(Meter& meter) {
  use();
  limit_decoders_of_check(job_, reader_);
  return check_order(job_, reader_, &meter);
}

}  // namespace gsort::python
