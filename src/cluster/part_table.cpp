#include "cluster/part_table.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/units.hpp"

namespace gsort::cluster {

namespace {

// Two hosts that write to one page of a network file system may lose data, and on Lustre they wait
// for each other's locks.
constexpr std::uint64_t kBorderBytes = 4 * kMiB;
// Shares that are so much longer than that are still nearly equal when they end there.
constexpr std::uint64_t kBordersInAShare = 16;

}  // namespace

PartSizes aligned_in_file(PartSizes sizes, std::uint64_t element_bytes,
                          std::uint64_t header_bytes) {
  const std::uint64_t aligned = std::lcm(kBorderBytes, element_bytes) / element_bytes;
  const bool fits = capped_product(aligned, kBordersInAShare) <= sizes.elements / sizes.ranks;
  if (!fits || header_bytes % element_bytes != 0) return sizes;
  sizes.aligned = aligned;
  sizes.shift = header_bytes / element_bytes;
  return sizes;
}

std::uint64_t share_begin(std::uint64_t elements, unsigned rank, unsigned ranks) {
  return elements / ranks * rank + elements % ranks * rank / ranks;
}

PartTable::PartTable(const PartSizes& sizes) : borders_{0}, first_{0} {
  for (unsigned rank = 1; rank <= sizes.ranks; ++rank) {
    std::uint64_t end = share_begin(sizes.elements, rank, sizes.ranks);
    if (rank < sizes.ranks) {
      const std::uint64_t border = round_down(end + sizes.shift, sizes.aligned);
      end = border - std::min(border, sizes.shift);
    }
    while (borders_.back() < end) {
      borders_.push_back(std::min(end, borders_.back() + sizes.part_elements));
    }
    first_.push_back(borders_.size() - 1);
  }
}

}  // namespace gsort::cluster
