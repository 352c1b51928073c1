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

}  // namespace gsort
