// Known layouts: files that gsort can sort as raw elements, if options say where these are. The
// functions below find the options from the header of a file.
//
//   FITS             blocks of 2,880 bytes: cards of 80 characters up to END, then big-endian data
//                    (a binary table, or an image), then the next header
//   fvecs, ivecs,    vectors of float32, int32, uint8: before each, its length as an int32
//   bvecs
//   SOSD             the number of keys in 64 bits, then the keys (counted_file.hpp)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gsort {

// Returns `bytes` bytes of the file from offset `at` on; fewer if the file ends first.
using FileBytes = std::function<std::string(std::uint64_t at, std::size_t bytes)>;

// Whether a file with these first bytes is a FITS file.
[[nodiscard]] bool is_fits(std::string_view first_bytes);

struct KnownLayout {
  std::string_view name;  // "a FITS file"
  std::string options;    // "--skip=5760 --record=12 --elements=100 --endian=big --key=0:f64"
};

// Returns the layout of a FITS file (its first table or image), of vectors (by the suffix), or of a
// SOSD file. None for other files, and if no options describe the elements.
[[nodiscard]] std::optional<KnownLayout> layout_of(std::string_view path, std::uint64_t file_bytes,
                                                   const FileBytes& read);

// The bytes of a key (8 or 4), if the first 8 bytes hold the number of keys in the file; else none.
[[nodiscard]] std::optional<unsigned> key_bytes_of_sosd(std::string_view first_bytes,
                                                        std::uint64_t file_bytes);

}  // namespace gsort
