// Memory for decompressing an input: the size that its first header asks for, and the limit of a
// decoder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/units.hpp"
#include "form/file_form.hpp"

namespace gsort {

// The largest window of zstd that gsort reads: the default limit of the zstd command.
inline constexpr std::uint64_t kMostZstdWindow = 128 * kMiB;

// The memory of a decoder with such a window.
inline constexpr std::uint64_t kMostDecoderShare = 136 * kMiB;

// The memory that one input asks for.
struct DecoderNeed {
  Codec codec = Codec::kNone;  // kNone: a stream that has not been read yet
  std::uint64_t bytes = 0;     // according to its first header; 0: unknown

  friend bool operator==(const DecoderNeed&, const DecoderNeed&) = default;
};

// The limit of a decoder: `share_bytes`, or the size that its input's first header asks for, if
// that is more and was planned for.
struct DecoderLimit {
  std::uint64_t share_bytes = UINT64_MAX;
  // For messages: -S must be this many times the share, and cannot be more than the machine has.
  std::uint64_t budget_factor = 0;  // 0: there is no plan
  std::uint64_t most_budget_bytes = 0;
};

// The use of a decoder's memory: "dictionary", "window", "block".
[[nodiscard]] std::string_view memory_word(Codec codec);

// The command that decompresses a file without gsort: "xz -dc in.xz".
[[nodiscard]] std::string decompress_command(Codec codec, std::string_view path);

// The options with the meaning of the suffixes before a codec's: "--format=text -t TYPE".
[[nodiscard]] std::string form_words(std::string_view path);

// The command, and how gsort sorts the result: "xz -dc in.npy.xz | gsort --format=npy". `command`
// lacks the file's name.
[[nodiscard]] std::string decompress_pipe(Codec codec, std::string_view path);
[[nodiscard]] std::string decompress_pipe(std::string_view command, std::string_view path);

}  // namespace gsort
