#include "app/own_files.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/runs/resume_folder.hpp"
#include "io/system/same_file.hpp"
#include "options/assumed_type.hpp"
#include "options/result_options.hpp"

namespace gsort {
namespace {

constexpr std::string_view kHintForReports = "give the report a file of its own";

std::string name_of_output(const std::string& path) {
  return path == "-" ? io::kStandardOutput : path;
}

std::string name_of_input(const std::string& path) {
  return path == "-" ? io::kStandardInput : path;
}

// Whether both names lead to one file, FIFO or block device; standard output has names, too.
bool is_one_file(const std::string& a, const std::string& b) {
  return a == b || io::same_file(a, b) || io::same_stream(a, b);
}

// The path of the file that the name leads to, or that would be created by this name.
std::filesystem::path real_path(const std::string& name) {
  std::error_code error;
  const auto path = std::filesystem::absolute(name, error);
  return std::filesystem::weakly_canonical(io::end_of_links(path), error);
}

bool is_of_resume(const FileNames& names, const std::string& name) {
  if (!names.resume) return false;
  return std::ranges::any_of(io::ResumeFolder::files_of(*names.resume),
                             [&](const std::string& kept) { return io::same_file(name, kept); });
}

// A file that does not exist yet could have the name of the folder itself.
bool is_made_by_resume(const FileNames& names, const std::string& name) {
  return is_of_resume(names, name) || (names.resume && io::same_file(name, *names.resume));
}

// `gsort < FILE > FILE`: the shell has emptied it.
bool hold_nothing(const io::Reader& reader) {
  if (reader.known_size() == 0) return true;
  for (std::size_t input = 0; input < reader.inputs(); ++input) {
    const auto state = reader.state_of(input);
    if (!state || state->bytes > 0) return false;
  }
  return true;
}

Error shared(const std::string& what, std::string_view with, std::string_view hint) {
  return Error(ErrorKind::kUsage, what, fmt::format("is also {}", with)).hint(hint);
}

Error irreplaceable(const std::string& input) {
  return Error(ErrorKind::kUsage, fmt::format("operand '{}'", input),
               "is also the output, and not a regular file that can be replaced")
      .hint("name another output, or copy the input to a file first");
}

// `name` is written directly; `what` describes this to the user.
void refuse_inputs_called(const std::string& name, const std::string& what, const FileNames& names,
                          const io::Reader& reader, const char* hint) {
  if (hold_nothing(reader)) return;
  for (std::size_t input = 0; input < names.inputs.size(); ++input) {
    if (!io::same_file(name, name_of_input(names.inputs[input]))) continue;
    throw Error(ErrorKind::kUsage, what, fmt::format("{} is the same file", reader.path_of(input)))
        .hint(hint);
  }
}

// `path` is the value of `option`.
void refuse_shared_report(const FileNames& names, std::string_view option,
                          const std::optional<std::string>& path) {
  if (!path) return;
  const std::string what = fmt::format("{} '{}'", option, *path);
  const std::string name = name_of_output(*path);
  for (const std::string& written : names.outputs()) {
    const std::string output = name_of_output(written);
    if (is_one_file(name, output)) throw shared(what, "the output", kHintForReports);
  }
  for (const std::string& input : names.inputs) {
    const std::string read = name_of_input(input);
    if (io::same_file(name, read) || io::same_stream(name, read)) {  // not /dev/null
      throw shared(what, "an input", kHintForReports);
    }
  }
  if (is_made_by_resume(names, name)) {
    throw shared(what, "a file of --resume", kHintForReports);
  }
}

void refuse_files_of_resume(const FileNames& names) {
  constexpr std::string_view kOfResume = "a file of --resume";
  constexpr std::string_view kHint = "gsort deletes its files there at the end; name another file";
  const std::string output = names.output.value_or("-");
  if (is_made_by_resume(names, name_of_output(output))) {
    throw shared(fmt::format("--output '{}'", output), kOfResume, kHint);
  }
  for (const std::string& input : names.inputs) {
    if (is_of_resume(names, name_of_input(input))) {
      throw shared(fmt::format("operand '{}'", input), kOfResume, kHint);
    }
  }
}

void refuse_writing_into_inputs(const FileNames& names, const io::Output& output,
                                const io::Reader& reader) {
  if (!output.is_stream()) return;
  refuse_inputs_called(
      name_of_output(names.output.value_or("-")), fmt::format("writing to {}", output.path()),
      names, reader,
      "name the file with -o: it may be an input, and is replaced when the result is whole");
}

void refuse_replacing_by_assumption(const FileNames& names, const ElementFormat& assumed,
                                    const io::Output& output, const io::Reader& reader) {
  if (output.is_stream() || hold_nothing(reader)) return;
  for (std::size_t input = 0; input < names.inputs.size(); ++input) {
    if (!io::same_file(*names.output, name_of_input(names.inputs[input]))) continue;
    throw Error(
        ErrorKind::kUsage, fmt::format("replacing {}", reader.path_of(input)),
        fmt::format("no type was given, and {} may be the wrong one", name_of(assumed.key.type)))
        .hint(how_to_give_the_type(assumed));
  }
}

// Says why the same command, repeated after a kill at the end, would make another result; empty if
// it would not: most commands sort the result again, which changes nothing.
std::string harm_of_repeating(const Request& request, const Job& job) {
  const auto harm = [](std::string_view input, std::string_view what) {
    return fmt::format(
        "--resume cannot replace {}: if gsort is killed at the end, the same command would {}",
        input, what);
  };
  if (request.inputs.size() > 1 || request.inputs_here || request.parts) {
    return harm("one of several inputs", "sort the result again, with the other inputs");
  }
  if (job.shuffle) return harm("the input of --shuffle", "shuffle the result again");
  const bool leaves_out = job.top || job.is_distinct();
  if (!request.input_form.elements || !leaves_out) return {};
  return harm("an input of --elements with fewer elements",
              "also sort the bytes behind the result");
}

void refuse_resuming_into_inputs(const Request& request, const Job& job) {
  if (!request.resume) return;
  const std::string harm = harm_of_repeating(request, job);
  if (harm.empty()) return;
  for (const std::string& input : request.inputs) {
    if (!io::same_file(*request.output, name_of_input(input))) continue;
    throw Error(ErrorKind::kUsage, fmt::format("replacing {}", input), harm)
        .hint("name another file with -o, and rename it when the sort is complete");
  }
}

}  // namespace

void refuse_streams_in_place(const FileNames& names) {
  const std::string output = name_of_output(names.output.value_or("-"));
  for (const std::string& input : names.inputs) {
    if (io::same_stream(name_of_input(input), output)) throw irreplaceable(input);
  }
}

void require_replaceable(const std::string& input) {
  std::error_code error;
  const bool is_known = std::filesystem::exists(input, error);  // opening others gives a better
                                                                // message
  if (!is_known || std::filesystem::is_directory(input, error)) return;
  if (!std::filesystem::is_regular_file(input, error)) throw irreplaceable(input);
}

void refuse_files_given_twice(const FileNames& names) {
  std::set<std::filesystem::path> files;
  for (const std::string& input : names.inputs) {
    std::error_code error;
    const auto file = std::filesystem::canonical(input, error);
    if (error || files.insert(file).second) continue;
    throw Error(ErrorKind::kUsage, fmt::format("operand '{}'", input), "is given twice")
        .hint("name each file once: it is replaced, and its result would be sorted again");
  }
}

void refuse_results_over_others(const Request& request) {
  const auto result_of = [&](const std::string& input) {
    return fmt::format("{}/{}", *request.output, name_in_folder(input));
  };
  const auto refuse = [&](const std::string& input, const std::string& other) {
    throw Error(ErrorKind::kUsage, fmt::format("operand '{}'", input),
                fmt::format("its result {} would replace another FILE or its result: {}",
                            result_of(input), other))
        .hint("sort them with separate commands, each with its own folder");
  };
  std::map<std::filesystem::path, const std::string*> owners;
  for (const std::string& input : request.inputs) owners.emplace(real_path(input), &input);
  for (const std::string& input : request.inputs) {
    const std::string result = result_of(input);
    const std::filesystem::path end = real_path(result);
    if (end.empty()) continue;  // it has none; opening it says more
    const auto [place, is_free] = owners.emplace(end, &input);
    if (!is_free && place->second != &input) refuse(input, *place->second);
    std::error_code error;
    const auto links = std::filesystem::hard_link_count(result, error);
    if (!request.writes_into_file || error || links < 2) continue;
    for (const std::string& other : request.inputs) {
      if (&other == &input) continue;
      if (io::same_file(result, other) || io::same_file(result, result_of(other))) {
        refuse(input, other);
      }
    }
  }
}

void refuse_explaining_into_inputs(const FileNames& names, const io::Reader& reader) {
  refuse_inputs_called(io::kStandardOutput, "writing the plan to standard output", names, reader,
                       "the plan is text: send it to a terminal or to a file of its own");
}

void refuse_replacing_by_other_elements(const InputToReplace& input, const Job& job) {
  const OutputForm& form = job.output_form;
  const std::string_view a_file = input.of_each ? "a folder" : "a file";
  const std::string_view another_file = input.of_each ? "another folder" : "another file";
  const auto refuse = [&](std::string reason, std::string hint) {
    throw Error(ErrorKind::kUsage, fmt::format("replacing {}", input.path), std::move(reason))
        .hint(std::move(hint));
  };
  if (job.argsort) {
    refuse("--argsort would write positions over the elements that they refer to",
           fmt::format("give the positions {} of their own with -o", a_file));
  }
  if (job.count && !job.adds_counts()) {
    refuse("--count would write keys with their counts over the keys",
           fmt::format("give the counts {} of their own with -o", a_file));
  }
  if (job.adds_counts() && input.format == FileFormat::kBinary && !input.format_is_given) {
    refuse("it is read as keys with their counts, and may hold keys alone",
           "add --format=bin if -u --count wrote it; -mu --count counts keys");
  }
  if (form.format != input.format) {
    refuse(fmt::format("it is read as {}, and would be written as {}", name_of(input.format),
                       name_of(form.format)),
           fmt::format("name {} with -o", another_file));
  }
  if (form.codec != input.codec) {
    const auto words = [](Codec codec) {
      return codec == Codec::kNone ? std::string("not compressed")
                                   : fmt::format("compressed by {}", name_of(codec));
    };
    refuse(
        fmt::format("it is {}, and would be written {}", words(input.codec), words(form.codec)),
        fmt::format("name {} with -o, or add --compress={}", another_file, name_of(input.codec)));
  }
}

void refuse_losing_inputs(const Request& request, const Job& job, io::Reader& reader) {
  refuse_files_of_resume(request);
  if (!request.output) return;
  refuse_resuming_into_inputs(request, job);
  for (std::size_t input = 0; input < request.inputs.size(); ++input) {
    const std::string& path = request.inputs[input];
    const auto state = reader.state_of(input);
    if (!state || !io::same_file(*request.output, name_of_input(path))) continue;
    reader.set_replaced_by(input, *request.output);
    if (state->bytes == 0) continue;
    const auto need = reader.decoder_need_of(input);
    refuse_replacing_by_other_elements(
        {reader.path_of(input), format_of_input(request.input_form, path),
         need ? need->codec : Codec::kNone, request.each, request.input_form.format.has_value()},
        job);
  }
}

void refuse_losing_inputs(const Request& request, const Job& job, const io::Output& output,
                          const io::Reader& reader) {
  refuse_writing_into_inputs(request, output, reader);
  if (type_is_assumed(request, job)) {
    refuse_replacing_by_assumption(request, job.input_element(), output, reader);
  }
}

void refuse_writing_the_list(const Request& request, const std::string& list) {
  const auto refuse = [&](std::string_view option, const std::string& path, std::string_view hint) {
    if (!io::same_file(name_of_output(path), name_of_input(list))) return;
    throw shared(fmt::format("{} '{}'", option, path), "the list of --files0-from", hint);
  };
  for (const std::string& output : request.outputs()) {
    refuse("--output", output, "name another file with -o");
  }
  if (request.stats) refuse("--stats", *request.stats, kHintForReports);
  if (request.trace) refuse("--trace", *request.trace, kHintForReports);
}

void refuse_messages_in_output(const Request& request, std::string_view note) {
  const bool is_quiet = note.empty() && request.verbosity <= 0 &&
                        request.progress != ProgressMode::kAlways &&
                        request.progress != ProgressMode::kJson;
  if (is_quiet || !is_one_file("/dev/stderr", name_of_output(request.output.value_or("-")))) return;
  throw shared("standard error", "the output",
               "send messages to another file than the output, as in 2> messages");
}

void refuse_shared_reports(const Request& request) {
  refuse_shared_report(request, "--stats", request.stats);
  refuse_shared_report(request, "--trace", request.trace);
  if (!request.stats || !request.trace) return;
  const std::string stats = name_of_output(*request.stats);
  const std::string trace = name_of_output(*request.trace);
  if (is_one_file(stats, trace)) {
    throw shared(fmt::format("--trace '{}'", *request.trace), "the file of --stats",
                 kHintForReports);
  }
}

}  // namespace gsort
