#include "options/suffix_warning.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/quoted.hpp"
#include "form/file_form.hpp"

namespace gsort {
namespace {

// Headers of arrays say more than suffixes, and have been compared.
bool is_of_other_type(const Options& options, const std::string& input) {
  const auto format = options.input_form.format ? options.input_form.format : format_of_path(input);
  return format != FileFormat::kNpy &&
         key_type_of_path(input).value_or(options.key.type) != options.key.type;
}

// `gsort -t i32 data.u32 -o data.u32`: that the name is another matter is known.
bool is_named_like_an_input(const Options& options, KeyType type) {
  return options.type_source == TypeSource::kOption &&
         std::ranges::any_of(options.inputs, [type](const std::string& input) {
           return key_type_of_path(input) == type;
         });
}

std::string warning(const Options& options, const std::string& path, std::string_view what) {
  return fmt::format("gsort: {} {} {} (type from {}), but its suffix says {}\n", printable(path),
                     what, name_of(options.key.type), describe(options.type_source),
                     name_of(*key_type_of_path(path)));
}

}  // namespace

std::string suffix_warning(const Options& options) {
  if (options.records) return {};
  if (options.type_source != TypeSource::kOption) {
    for (const std::string& input : options.inputs) {
      if (is_of_other_type(options, input)) return warning(options, input, "is read as");
    }
  }
  if (!options.output) return {};
  const auto named = key_type_of_path(*options.output);
  const bool is_other = named && *named != options.key.type;
  if (!is_other || is_named_like_an_input(options, *named)) return {};
  return warning(options, *options.output, "will hold");
}

}  // namespace gsort
