// The form of elements in files: raw bytes, raw bytes after a count (SOSD), decimal text or a NumPy
// array; and the codec. The suffixes of a name, upper or lower case, give it, from the end:
// "x.u64.txt.gz" is gzip over text over u64.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "element/key.hpp"
#include "form/codec.hpp"

namespace gsort {

enum class FileFormat : std::uint8_t { kBinary, kText, kNpy, kSosd };

// Whether files begin with a header of the format's own, which says how many elements follow.
[[nodiscard]] constexpr bool has_header(FileFormat format) {
  return format == FileFormat::kNpy || format == FileFormat::kSosd;
}

// The most bytes before the elements, and the most after them: gsort keeps both in memory until it
// writes them.
inline constexpr std::uint64_t kMostSkipBytes = std::uint64_t{16} << 20;

// How inputs are read.
struct InputForm {
  std::optional<FileFormat> format = {};  // none: by the suffix of each name, else raw
  std::optional<Codec> codec = {};        // none: by the first bytes of each input
  // Each input, once decompressed, consists of a header, the elements and a trailer.
  std::optional<std::uint64_t> skip_bytes = {};  // none: 0, unless the first bytes are a header
  std::uint64_t skip_end_bytes = 0;
  std::optional<std::uint64_t> elements = {};  // none: all between header and trailer
};

// How the output is written.
struct OutputForm {
  FileFormat format = FileFormat::kBinary;
  Codec codec = Codec::kNone;
  int level = 0;  // of the codec

  // Whether the bytes of the output are the elements, so that every part has its place in advance.
  [[nodiscard]] bool is_plain() const {
    return format != FileFormat::kText && codec == Codec::kNone;
  }
};

// The encoding of an output that is not plain: its elements are cut into frames, and each frame is
// formatted and compressed separately.
struct Encoding {
  std::uint64_t frame_elements = 1;
  unsigned encoders = 1;   // the most at work at the same time
  bool is_proven = false;  // encoded data is decoded and compared
};

[[nodiscard]] std::string_view name_of(FileFormat format);  // "bin", "text", "npy", "sosd"

// The text after the last dot of the file's name; empty if there is none.
[[nodiscard]] std::string_view suffix_of(std::string_view path);

// The form that the suffixes of a name give; none if they give none. A suffix of a key type, ".bin"
// and ".raw" give kBinary.
[[nodiscard]] std::optional<Codec> codec_of_path(std::string_view path);
[[nodiscard]] std::optional<FileFormat> format_of_path(std::string_view path);

// Whether the input is read without decompressing it, although its name has the suffix of a codec:
// the other suffixes then do not describe its bytes.
[[nodiscard]] bool is_read_compressed(const InputForm& form, std::string_view path);

// How to read the input of this name: by --format, else by the name.
[[nodiscard]] FileFormat format_of_input(const InputForm& form, std::string_view path);

// The name of a file that is compressed twice, after one decompression: "x.gz.zst" -> "x.gz". None
// for other files.
[[nodiscard]] std::optional<std::string_view> once_decompressed(std::string_view path);

// The name without the suffixes of compression and format: "x.u64.txt.gz" -> "x.u64".
[[nodiscard]] std::string_view without_form_suffixes(std::string_view path);

// The type in the name: "dump.f32", "dump.FLOAT32" -> f32; also before suffixes of form:
// "dump.f32.txt.gz".
[[nodiscard]] std::optional<KeyType> key_type_of_path(std::string_view path);

}  // namespace gsort
