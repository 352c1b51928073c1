#include "cluster/part_table.hpp"

#include <algorithm>

#include "base/units.hpp"

namespace gsort::cluster {

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
