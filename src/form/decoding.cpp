#include "form/decoding.hpp"

#include <fmt/format.h>

namespace gsort {

std::string_view memory_word(Codec codec) {
  return codec == Codec::kXz ? "dictionary" : codec == Codec::kBzip2 ? "block" : "window";
}

std::string decompress_command(Codec codec, std::string_view path) {
  return fmt::format("{} -dc{}{}{}", name_of(codec), codec == Codec::kZstd ? " --long=31" : "",
                     path == "standard input" ? "" : " ", path == "standard input" ? "" : path);
}

// A pipe has no name that says its format: an array's header would be taken for keys.
std::string decompress_pipe(Codec codec, std::string_view path) {
  const auto format = format_of_path(path);
  return fmt::format("{} | gsort {}", decompress_command(codec, path),
                     format == FileFormat::kNpy    ? "--format=npy"
                     : format == FileFormat::kText ? "--format=text -t TYPE"
                                                   : "-t TYPE");
}

}  // namespace gsort
