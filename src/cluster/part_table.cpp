#include "cluster/part_table.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "pipeline/share/share_range.hpp"

namespace gsort::cluster {

namespace {

// Two hosts that write to one page of a network file system may lose data, and on Lustre they wait
// for each other's locks.
constexpr std::uint64_t kBorderBytes = 4 * kMiB;
// Shares that are so much longer than that are still nearly equal when they end there.
constexpr std::uint64_t kBordersInAShare = 16;

// The largest power of two, up to kBorderBytes, for which an element begins at a multiple of it in
// any kBorderBytes of the file; at least a page.
std::uint64_t border_unit(const OneFile& file) {
  const std::uint64_t page = file.is_on_network ? kLargestPageBytes : kMemoryPageBytes;
  std::uint64_t unit = kBorderBytes;
  while (unit > page && std::lcm(unit, file.element_bytes) > kBorderBytes) unit /= 2;
  return unit;
}

// None where no element begins at a multiple of `bytes` of the file.
std::optional<PartSizes> with_borders_at(std::uint64_t bytes, PartSizes sizes,
                                         const OneFile& file) {
  sizes.aligned = bytes / std::gcd(bytes, file.element_bytes);
  for (std::uint64_t first = 0; first < sizes.aligned; ++first) {
    if ((file.header_bytes + first * file.element_bytes) % bytes != 0) continue;
    sizes.shift = (sizes.aligned - first) % sizes.aligned;
    return sizes;
  }
  return std::nullopt;
}

}  // namespace

PartSizes aligned_in_file(const PartSizes& sizes, const OneFile& file) {
  const auto wide = with_borders_at(border_unit(file), sizes, file);
  const std::uint64_t share = sizes.elements / sizes.ranks;
  if (wide && capped_product(wide->aligned, kBordersInAShare) <= share) return *wide;
  if (!file.is_on_network) return sizes;
  if (const auto pages = with_borders_at(kLargestPageBytes, sizes, file)) return *pages;
  throw Error(ErrorKind::kUsage, "writing one file on a network file system",
              fmt::format("after a header of {}, no element of {} begins at a page boundary",
                          format_bytes(file.header_bytes), format_bytes(file.element_bytes)))
      .hint(
          "two hosts must not write to the same page: add --parts, which writes one file for each "
          "process");
}

PartTable::PartTable(const PartSizes& sizes) : borders_{0}, first_{0}, share_(sizes.ranks) {
  std::iota(share_.begin(), share_.end(), 0U);
  for (unsigned share = 1; share <= sizes.ranks; ++share) {
    std::uint64_t end = share_border(sizes.elements, share, sizes.ranks);
    if (share < sizes.ranks) {
      end = std::min(round_up(end + sizes.shift, sizes.aligned) - sizes.shift, sizes.elements);
    }
    while (borders_.back() < end) {
      borders_.push_back(std::min(end, borders_.back() + sizes.part_elements));
    }
    first_.push_back(borders_.size() - 1);
  }
}

}  // namespace gsort::cluster
