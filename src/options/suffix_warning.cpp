#include "options/suffix_warning.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/quoted.hpp"
#include "form/file_form.hpp"

namespace gsort {
namespace {

// Headers of arrays say more than suffixes, and have been compared.
bool is_of_other_type(const InputForm& form, const std::string& input, KeyType type) {
  const auto format = form.format ? form.format : format_of_path(input);
  return format != FileFormat::kNpy && key_type_of_path(input).value_or(type) != type;
}

// `gsort -t i32 data.u32 -o data.u32`: that the name is another matter is known.
bool is_named_like_an_input(const std::vector<std::string>& inputs, KeyType type) {
  return std::ranges::any_of(
      inputs, [type](const std::string& input) { return key_type_of_path(input) == type; });
}

std::string warning(const Job& job, const std::string& path, std::string_view what) {
  return fmt::format("gsort: {} {} {} (type from {}), but its suffix says {}\n", printable(path),
                     what, name_of(job.input_element().key.type), describe(job.type_source),
                     name_of(*key_type_of_path(path)));
}

}  // namespace

std::string suffix_warning(const Options& options, const Job& job) {
  if (job.input_element().shown_records()) return {};
  const KeyType type = job.input_element().key.type;
  const bool is_asked = job.type_source == TypeSource::kOption;
  if (!is_asked) {
    for (const std::string& input : options.inputs) {
      if (is_of_other_type(options.input_form, input, type)) {
        return warning(job, input, "is read as");
      }
    }
  }
  if (!options.output || job.numbered) return {};
  const auto named = key_type_of_path(*options.output);
  const bool is_other = named && *named != type;
  if (!is_other || (is_asked && is_named_like_an_input(options.inputs, *named))) return {};
  return warning(job, *options.output, "will hold");
}

}  // namespace gsort
