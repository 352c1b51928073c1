// Files whose header gives the number of elements: SOSD files here, NumPy arrays in npy.hpp.
//
// The format of SOSD, the benchmark "Search on Sorted Data" (github.com/learnedsystems/SOSD):
//
//   offset  bytes
//   0       8   the number of elements, little endian
//   8           the elements
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "form/byte_stream.hpp"

namespace gsort::io {

inline constexpr std::size_t kSosdHeaderBytes = 8;

// Reads the number of elements. Throws: Error(kInput) if the file is shorter than the header.
[[nodiscard]] std::uint64_t read_sosd_header(ByteStream& from, const std::string& path);

[[nodiscard]] std::vector<std::byte> make_sosd_header(std::uint64_t elements);

// The bytes of the elements that a header promises. Throws: Error(kInput) if no file can be so
// large.
[[nodiscard]] std::uint64_t promised_bytes(const std::string& path, std::uint64_t elements,
                                           std::size_t element_bytes);

// The Error for a file that is longer or shorter than its header says; the header of a .npy file
// says the type, too.
[[nodiscard]] Error wrong_array_size(const std::string& path, std::uint64_t promised_bytes,
                                     std::uint64_t found_bytes, bool type_is_stored);

}  // namespace gsort::io
