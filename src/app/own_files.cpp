#include "app/own_files.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/runs/resume_folder.hpp"
#include "io/system/same_file.hpp"
#include "options/assumed_type.hpp"

namespace gsort {
namespace {

std::string name_of_output(const std::string& path) {
  return path == "-" ? io::kStandardOutput : path;
}

std::string name_of_input(const std::string& path) {
  return path == "-" ? io::kStandardInput : path;
}

bool is_of_resume(const Options& options, const std::string& name) {
  if (!options.resume) return false;
  return std::ranges::any_of(io::ResumeFolder::files_of(*options.resume),
                             [&](const std::string& kept) { return io::same_file(name, kept); });
}

// A file that is yet to be made could be meant to have the name of the folder itself.
bool is_made_by_resume(const Options& options, const std::string& name) {
  return is_of_resume(options, name) || (options.resume && io::same_file(name, *options.resume));
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

// `name` is written through, `what` says that to the user.
void refuse_inputs_called(const std::string& name, const std::string& what, const Options& options,
                          const io::Reader& reader, const char* hint) {
  if (hold_nothing(reader)) return;
  for (std::size_t input = 0; input < options.inputs.size(); ++input) {
    if (!io::same_file(name, name_of_input(options.inputs[input]))) continue;
    throw Error(ErrorKind::kUsage, what, fmt::format("{} is the same file", reader.path_of(input)))
        .hint(hint);
  }
}

}  // namespace

void refuse_files_of_resume(const Options& options) {
  constexpr std::string_view kOfResume = "a file of --resume";
  constexpr std::string_view kHint = "gsort deletes its files there at the end; name another file";
  const std::string output = options.output.value_or("-");
  if (is_made_by_resume(options, name_of_output(output))) {
    throw shared(fmt::format("--output '{}'", output), kOfResume, kHint);
  }
  for (const std::string& input : options.inputs) {
    if (is_of_resume(options, name_of_input(input))) {
      throw shared(fmt::format("operand '{}'", input), kOfResume, kHint);
    }
  }
}

void refuse_writing_into_inputs(const Options& options, const io::Output& output,
                                const io::Reader& reader) {
  if (!output.is_stream()) return;
  refuse_inputs_called(
      name_of_output(options.output.value_or("-")), fmt::format("writing to {}", output.path()),
      options, reader,
      "name the file with -o: it may be an input, and is replaced when the result is whole");
}

void refuse_explaining_into_inputs(const Options& options, const io::Reader& reader) {
  refuse_inputs_called(io::kStandardOutput, "writing the plan to standard output", options, reader,
                       "the plan is text: send it to a terminal or to a file of its own");
}

void refuse_replacing_by_assumption(const Options& options, const io::Output& output,
                                    const io::Reader& reader) {
  if (output.is_stream() || !type_is_assumed(options) || hold_nothing(reader)) return;
  for (std::size_t input = 0; input < options.inputs.size(); ++input) {
    if (!io::same_file(*options.output, name_of_input(options.inputs[input]))) continue;
    throw Error(
        ErrorKind::kUsage, fmt::format("replacing {}", reader.path_of(input)),
        fmt::format("no type was given, and {} may be the wrong one", name_of(options.key.type)))
        .hint(how_to_give_the_type(options));
  }
}

void refuse_shared_report(const Options& options, std::string_view option,
                          const std::string& path) {
  constexpr std::string_view kHint = "give the report a file of its own";
  const std::string what = fmt::format("{} '{}'", option, path);
  const std::string name = name_of_output(path);
  const std::string output = name_of_output(options.output.value_or("-"));
  if (name == output || io::same_file(name, output)) throw shared(what, "the output", kHint);
  for (const std::string& input : options.inputs) {
    if (io::same_file(name, name_of_input(input))) throw shared(what, "an input", kHint);
  }
  if (is_made_by_resume(options, name)) throw shared(what, "a file of --resume", kHint);
}

}  // namespace gsort
