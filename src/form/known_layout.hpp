// Where the elements are in files of forms that gsort does not read, but can sort as raw elements:
// the options that do so, from the headers of the files.
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

// Returns `bytes` bytes of the file from `at` on; fewer if it ends before.
using FileBytes = std::function<std::string(std::uint64_t at, std::size_t bytes)>;

// Whether the file begins as a FITS file.
[[nodiscard]] bool is_fits(std::string_view first_bytes);

struct KnownLayout {
  std::string_view name;  // "a FITS file"
  std::string options;    // "--skip=5760 --record=12 --elements=100 --endian=big --key=0:f64"
};

// The layout of the first table or image of a FITS file, of vectors by the suffix of the name, or
// of a SOSD file. None if the file is none of these, or has no such elements.
[[nodiscard]] std::optional<KnownLayout> layout_of(std::string_view path, std::uint64_t file_bytes,
                                                   const FileBytes& read);

// The bytes of a key if the file is as long as the number in its first 8 bytes says; else none.
[[nodiscard]] std::optional<unsigned> key_bytes_of_sosd(std::string_view first_bytes,
                                                        std::uint64_t file_bytes);

}  // namespace gsort
