// Which elements a share or a part has: floor(N * I / P) to floor(N * (I + 1) / P) of N elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>

#include "pipeline/part_queue.hpp"

namespace gsort {

[[nodiscard]] inline std::uint64_t share_border(std::uint64_t elements, std::uint64_t number,
                                                std::uint64_t of) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{elements} * number / of);
}

// Share `number`, from 0.
[[nodiscard]] inline OutputRange share_of(std::uint64_t elements, std::uint64_t number,
                                          std::uint64_t of) {
  return {share_border(elements, number, of), share_border(elements, number + 1, of)};
}

// The largest page of memory of any Linux kernel (ARM64); all hosts must use one number.
inline constexpr std::uint64_t kLargestPageBytes = 65536;

// As many elements as there are from one that begins at a page to the next one that does.
[[nodiscard]] constexpr std::uint64_t elements_between_pages(std::uint64_t element_bytes) {
  return kLargestPageBytes / std::gcd(kLargestPageBytes, element_bytes);
}

// Whether parts would be unequal if they began at pages.
[[nodiscard]] constexpr bool are_short_parts(std::uint64_t elements, std::uint64_t of,
                                             std::uint64_t element_bytes) {
  constexpr std::uint64_t kLeastSteps = 16;  // of a part
  return elements / of < kLeastSteps * elements_between_pages(element_bytes);
}

// Where part `number` begins in a file that several hosts write: not within a page where elements
// allow that and parts are long, since two hosts that write into one page of a network file system
// may lose data. `header_bytes` come before the first element.
[[nodiscard]] inline std::uint64_t part_border(std::uint64_t elements, std::uint64_t number,
                                               std::uint64_t of, std::uint64_t element_bytes,
                                               std::uint64_t header_bytes) {
  const std::uint64_t border = share_border(elements, number, of);
  const std::uint64_t step = elements_between_pages(element_bytes);
  if (border == elements || are_short_parts(elements, of, element_bytes)) return border;
  for (std::uint64_t back = 0; back < std::min(step, border); ++back) {
    if ((header_bytes + (border - back) * element_bytes) % kLargestPageBytes == 0) {
      return border - back;
    }
  }
  return border;
}

// The same on a network file system, where short parts begin at pages, too: behind equal shares, so
// that part 0, which writes the header, has what follows it. None where no element begins at a
// page.
[[nodiscard]] inline std::optional<std::uint64_t> part_border_on_network(
    std::uint64_t elements, std::uint64_t number, std::uint64_t of, std::uint64_t element_bytes,
    std::uint64_t header_bytes) {
  const std::uint64_t border = part_border(elements, number, of, element_bytes, header_bytes);
  if (border == 0 && number == 0) return 0;
  if (border == elements) return elements;
  for (std::uint64_t on = 0; on < elements_between_pages(element_bytes); ++on) {
    if ((header_bytes + (border + on) * element_bytes) % kLargestPageBytes == 0) {
      return std::min(border + on, elements);
    }
  }
  return std::nullopt;
}

}  // namespace gsort
