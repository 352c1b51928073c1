// Files whose header says how many elements follow: those of SOSD here, NumPy arrays in npy.hpp.
//
// SOSD, the benchmark "Search on Sorted Data" (github.com/learnedsystems/SOSD), keeps its keys so:
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

// The number of elements that follow. Throws: Error(kInput) for less than a header.
[[nodiscard]] std::uint64_t read_sosd_header(ByteStream& from, const std::string& path);

[[nodiscard]] std::vector<std::byte> make_sosd_header(std::uint64_t elements);

// The bytes of the elements that a header promises. Throws: Error(kInput) where no file is as
// large.
[[nodiscard]] std::uint64_t promised_bytes(const std::string& path, std::uint64_t elements,
                                           std::size_t element_bytes);

// The Error for a file that holds more or less than its header says; the header of a .npy file says
// the type, too.
[[nodiscard]] Error wrong_array_size(const std::string& path, std::uint64_t promised_bytes,
                                     std::uint64_t found_bytes, bool type_is_stored);

}  // namespace gsort::io
