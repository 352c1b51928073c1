#include "app/shares.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/files.hpp"
#include "app/own_files.hpp"
#include "app/prepared_sort.hpp"
#include "base/checked.hpp"
#include "base/error.hpp"
#include "form/npy.hpp"
#include "io/input/content_stream.hpp"
#include "io/input/input.hpp"
#include "io/output/output_place.hpp"
#include "io/output/shared_file.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/same_file.hpp"
#include "options/form_options.hpp"
#include "options/job.hpp"
#include "options/share_options.hpp"
#include "pipeline/run_folder.hpp"
#include "pipeline/share/form_share.hpp"
#include "pipeline/share/join_parts.hpp"
#include "pipeline/share/part_state.hpp"
#include "pipeline/share/share_range.hpp"
#include "pipeline/share/take_part.hpp"
#include "pipeline/survey.hpp"
#include "plan/make_plan.hpp"

namespace gsort {
namespace {

io::ManifestShare manifest_share(const Options& options, const std::optional<StoredDtype>& dtype) {
  io::ManifestShare share;
  share.number = options.share->number;
  share.shares = options.share->of;
  share.has_own_inputs = options.inputs_here;
  if (dtype) {
    share.dtype_version = static_cast<std::uint32_t>(dtype->version);
    share.dtype = dtype->descr;
  }
  return share;
}

// Restricts the reader to the share's stretch of the inputs.
std::optional<std::uint64_t> hold_to_share(const Options& options, std::uint64_t element_bytes,
                                           io::Reader& reader) {
  const auto bytes = reader.known_size();
  if (options.inputs_here) return bytes;
  if (!bytes) {
    throw Error(ErrorKind::kUsage, "option --share",
                "needs raw, .npy or SOSD inputs that are not compressed")
        .hint(
            options.shuffle
                ? "write them first to a raw file (--format=IN:bin)"
                : "with --inputs-here each share has its own FILEs, also text or compressed ones");
  }
  const OutputRange mine =
      share_of(*bytes / element_bytes, options.share->number, options.share->of);
  reader.begin_at(mine.begin * element_bytes);
  reader.end_at(mine.end * element_bytes);
  return mine.elements() * element_bytes;
}

// A repeated command reads the inputs again.
void require_regular(const io::Reader& reader) {
  for (std::size_t input = 0; input < reader.inputs(); ++input) {
    if (reader.state_of(input)) continue;
    throw Error(ErrorKind::kUsage, "--form of",
                "it is not a regular file, so it cannot be read a second time")
        .path(reader.path_of(input))
        .hint("put it into a file");
  }
}

// The job of the shares of which these options take a part.
Job job_of_part(const Options& options, const FormedShares& shares) {
  Options with_elements = options;
  with_elements.shuffle = seed_in(shares.description());
  const std::uint64_t bytes = bytes_without_number(shares.description(), shares.element_bytes());
  const ElementFormat element = element_of_job(shares.description(), bytes);
  with_elements.key = element.key;
  with_elements.records = element.records;
  with_elements.split_output = std::nullopt;  // each part is one output
  StoredArray stored;
  stored.dtype = shares.dtype();
  Job job = make_job(with_elements, stored);
  job.columns = columns_in(shares.description());
  job.resumable = true;
  job.handling.verify = shares.description().ends_with("; verified");
  return job;
}

// In one file for all parts, the position of each must be known before the others are written.
void refuse_output_form(const Options& options, const Job& job) {
  const OutputForm& form = job.output_form;
  if (!options.split_output && job.needs_order()) {
    throw Error(ErrorKind::kUsage, "--take with this output",
                fmt::format("the positions of {} in one file are not known in advance",
                            job.is_distinct() ? "distinct keys" : "text and compressed data"))
        .hint("write each part to its own file: put {} into the name of -o, as in part-{}.txt");
  }
  const bool has_form_of_keys = has_header(form.format) || form.format == FileFormat::kText;
  const bool has_dtype = form.format == FileFormat::kNpy && job.dtype;
  const bool holds_bytes = string_bytes(job.element.key) > 0 && form.format != FileFormat::kSosd;
  if (job.input_element().shown_records() && !holds_bytes && has_form_of_keys && !has_dtype) {
    throw Error(ErrorKind::kUsage, "--take with this output", "records can only be written raw")
        .hint("give the output a name without that suffix, or add --format=bin");
  }
}

void refuse_replacing_inputs(const std::string& output, FormedShares& shares, const Job& job) {
  for (const io::ResumeFolder& folder : shares.folders()) {
    for (const std::string& file : io::ResumeFolder::files_of(folder.path())) {
      if (!io::same_file(output, file)) continue;
      throw Error(ErrorKind::kUsage, fmt::format("--output '{}'", output), "is a file of --from")
          .hint("name another output, outside the folders of the shares");
    }
    for (const io::ManifestInput& input : folder.found()->inputs) {
      if (!io::same_file(output, input.path)) continue;
      const InputForm form = form_of_job(shares.description());
      io::Input file(input.path);
      io::ContentStream content(file, form);
      refuse_replacing_by_other_elements(
          {output, format_of_input(form, input.path), content.codec()}, job);
    }
  }
}

// The state that the input which the output replaces had when --form read it.
std::optional<io::FileState> replaced_by(const std::string& output, FormedShares& shares) {
  for (const io::ResumeFolder& folder : shares.folders()) {
    for (const io::ManifestInput& input : folder.found()->inputs) {
      if (io::same_file(output, input.path)) return io::FileState{input.bytes, input.changed_ns};
    }
  }
  return std::nullopt;
}

Machine machine_for_part(const Options& options, const FormedShares& shares,
                         const std::string& folder) {
  Machine machine = survey(options.temporary_folders(folder), folder);
  machine.input_bytes = checked_product(shares.elements(), shares.element_bytes());
  machine.resumed = {shares.runs(), shares.elements(), shares.block_elements()};
  machine.names_bytes = io::manifest_memory(shares.manifest_bytes());
  return machine;
}

// The manifest of all inputs. --take may run in another folder, so it has absolute paths.
io::Manifest manifest_of_share(const Options& options, const Job& job, const io::Reader& reader) {
  io::Manifest manifest =
      manifest_of(resumable_job(job, options.input_form), job.element.bytes(), reader);
  for (std::size_t i = 0; i < manifest.inputs.size(); ++i) {
    std::error_code error;  // the working folder may be gone
    std::string path = std::filesystem::absolute(manifest.inputs[i].path, error);
    if (options.inputs.at(i) == "-") {
      path = std::filesystem::read_symlink("/proc/self/fd/0", error);
      if (error || !io::same_file(path, io::kStandardInput)) continue;  // it has no name
    }
    if (!error && path.size() < PATH_MAX) manifest.inputs[i].path = path;
  }
  return manifest;
}

bool wants_report(const Options& options) {
  return options.stats || options.trace;
}

// The outcome of work that an earlier process did: `output` is the fingerprint of the elements that
// came out, `dropped` that of the others.
Outcome outcome_of_before(const Job& job, std::uint64_t elements, Fingerprint output,
                          const Fingerprint& dropped) {
  Outcome outcome;
  outcome.elements = elements;
  outcome.bytes = elements * job.input_bytes();
  outcome.output_elements = output.count;
  outcome.fingerprint = output += dropped;
  outcome.verified = job.handling.verify && outcome.fingerprint.count == elements;
  outcome.notes.emplace_back("complete already");
  return outcome;
}

// Leaves checking the free space to take_part(), which knows how much of the shared file is left to
// write and how much its rounds need. A file in a tmpfs leaves less memory for the sort.
Machine machine_beside(std::uint64_t to_write, Machine machine) {
  if (machine.output->is_memory()) {
    machine.available_bytes -= std::min(machine.available_bytes, to_write);
  }
  return with_room(std::move(machine));
}

ShareDone take_into(const std::string& output, const Options& options, Meter& meter,
                    bool& is_known) {
  FormedShares shares(options.from, io::manifest_limit(memory_of(options)));
  Job job = job_of_part(options, shares);
  refuse_output_form(options, job);
  refuse_replacing_inputs(output, shares, job);
  const io::OutputPlace place = io::place_of_output(output);
  PartRecord part;
  part.part = options.take->number;
  part.parts = options.take->of;
  part.has_own_file = options.split_output.has_value();
  part.replaced = replaced_by(output, shares);
  hold_in_runs(job);
  part = planned_part(part, place, shares, job);
  ShareDone done;
  const bool explains = options.explain != ExplainMode::kNone;
  const auto taken = explains ? std::nullopt : find_taken(place, part);
  is_known = true;
  done.was_there = taken.has_value();
  if (done.was_there && !wants_report(options)) return done;
  if (!done.was_there) io::require_writable(place);
  // An existing part may have been joined, and the input replaced.
  if (!done.was_there && part.replaced) require_unchanged(output, *part.replaced);
  job.part_elements = part.end - part.begin;
  done.machine = machine_for_part(options, shares, place.folder_path());
  look_for_gpus(job, done.machine);
  const auto to_write = [&] { return taken ? 0 : bytes_to_write(place, part); };
  const auto plan = [&] {
    done.plan =
        make_plan(job, part.has_own_file ? done.machine : machine_beside(to_write(), done.machine));
  };
  plan();
  require_temporary_folders(options, done.machine, done.plan);
  if (taken) {
    done.outcome = outcome_of_before(job, taken->end - taken->begin, taken->output, taken->repeats);
  } else if (!explains) {
    SortContext context{.plan = done.plan, .make_engine = make_engine, .meter = &meter};
    plan_without_failed(context, done.machine, plan);
    done.outcome = take_part(context, place, part, shares);
  }
  return done;
}

// An earlier join must not be taken for a join of this job. If both fail, report the
// first error.
void forget_all_joined(const std::string& output) {
  try {
    forget_joined(io::OutputPlace(output), std::nullopt);
  } catch (const Error&) {
  }
}

}  // namespace

ShareDone form(const Options& options, Job job, io::Reader& reader, Meter& meter) {
  if (io::has_rows(reader.first_array())) {
    throw Error(ErrorKind::kUsage, "option --form",
                options.shuffle ? "does not shuffle a table of 0 columns"
                                : "does not sort rows of an array")
        .hint(options.shuffle ? "leave it out: --shuffle alone copies the table"
                              : "save array.ravel() to sort all of it");
  }
  require_regular(reader);
  if (job.numbered) reader.number_elements(job.numbering());
  const std::string above = folder_above(*options.form);
  static_cast<void>(io::open_folder(above, ErrorKind::kTemporary));
  io::refuse_append_only_folder(above, *options.form);
  const std::uint64_t element_bytes = job.element.bytes();
  io::WantedFolder wanted{*options.form, manifest_of_share(options, job, reader),
                          io::manifest_limit(memory_of(options))};
  wanted.manifest.share = manifest_share(options, job.dtype);
  io::require_readable(wanted);
  ShareDone done;
  const bool explains = options.explain != ExplainMode::kNone;
  done.was_there = !explains && is_formed(wanted);
  if (done.was_there && !wants_report(options)) return done;
  const auto bytes = hold_to_share(options, element_bytes, reader);
  hold_in_runs(job);
  job.output_form = {};
  job.resumable = job.forms_share = true;
  done.machine = survey({above}, "", reader);
  done.machine.input_bytes = bytes;
  done.machine.names_bytes += io::manifest_memory(io::encoded_bytes(wanted.manifest));
  look_for_gpus(job, done.machine);
  done.plan = make_plan(job, done.machine);
  if (done.was_there) {
    const io::ResumeFolder formed(wanted.path, io::ResumeAccess::kRead, wanted.most_manifest_bytes);
    const Fingerprint elements = fingerprint_of(formed.found()->runs);
    done.outcome = outcome_of_before(job, elements.count, elements, {});
  } else if (!explains) {
    SortContext context{
        .plan = done.plan, .reader = &reader, .make_engine = make_engine, .meter = &meter};
    plan_without_failed(context, done.machine, [&] {
      (void)hold_to_share(options, element_bytes, reader);
      done.plan = make_plan(job, done.machine);
    });
    done.outcome = form_share(context, wanted);
  }
  return done;
}

ShareDone take(const Options& options, Meter& meter) {
  const bool has_own_file = options.split_output.has_value();
  const std::string output = options.outputs().at(has_own_file ? options.take->number : 0);
  bool is_known = false;  // the job of the part is known
  try {
    return take_into(output, options, meter, is_known);
  } catch (const Error&) {
    if (!is_known && options.explain == ExplainMode::kNone) {
      forget_all_joined(output);
    }
    throw;
  }
}

Fingerprint join(const Options& options) {
  if (!options.split_output) return join_parts(*options.output, *options.join);
  return join_own_parts(*options.output, options.outputs());
}

}  // namespace gsort
