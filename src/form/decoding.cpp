#include "form/decoding.hpp"

#include <fmt/format.h>

#include "base/quoted.hpp"

namespace gsort {
namespace {

std::string command_of(Codec codec) {
  return fmt::format("{} -dc{}", name_of(codec), facts_of(codec).command_options);
}

std::string with_file(std::string_view command, std::string_view path) {
  return path == "standard input" ? std::string(command)
                                  : fmt::format("{} {}", command, shell_word(path));
}

}  // namespace

std::string_view memory_word(Codec codec) {
  return facts_of(codec).memory_word;
}

std::string decompress_command(Codec codec, std::string_view path) {
  return with_file(command_of(codec), path);
}

std::string form_words(std::string_view path) {
  const auto format = format_of_path(path);
  const auto type = key_type_of_path(path);
  const std::string_view type_word = type ? name_of(*type) : "TYPE";
  if (format == FileFormat::kNpy) return "--format=npy";
  return fmt::format("{}-t {}", format == FileFormat::kText ? "--format=text " : "", type_word);
}

// A pipe has no name that gives its format: an array's header would be taken for keys. Other
// options are not known here.
std::string decompress_pipe(std::string_view command, std::string_view path) {
  const auto format = format_of_path(path);
  const bool is_plain = format != FileFormat::kNpy && format != FileFormat::kText;
  return fmt::format("{} | gsort {}{}", with_file(command, path), form_words(path),
                     is_plain ? ", with the other options" : "");
}

std::string decompress_pipe(Codec codec, std::string_view path) {
  return decompress_pipe(command_of(codec), path);
}

}  // namespace gsort
