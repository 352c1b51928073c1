#include "form/decoding.hpp"

#include <fmt/format.h>

namespace gsort {

std::string_view memory_word(Codec codec) {
  return facts_of(codec).memory_word;
}

std::string decompress_command(Codec codec, std::string_view path) {
  return fmt::format("{} -dc{}{}{}", name_of(codec), facts_of(codec).command_options,
                     path == "standard input" ? "" : " ", path == "standard input" ? "" : path);
}

// A pipe has no name that says its format: an array's header would be taken for keys. Which other
// options were given is not known here.
std::string decompress_pipe(Codec codec, std::string_view path) {
  const auto format = format_of_path(path);
  return fmt::format("{} | gsort {}", decompress_command(codec, path),
                     format == FileFormat::kNpy    ? "--format=npy"
                     : format == FileFormat::kText ? "--format=text -t TYPE"
                                                   : "-t TYPE (and the other options)");
}

}  // namespace gsort
