// The titles of the tables, in the words of gsort.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.hpp"
#include "bench/report.hpp"
#include "element/key.hpp"
#include "gen/generate.hpp"

namespace gsort::bench {

// `what` is, for example, "sort of" or "merge of 2 slices of".
[[nodiscard]] inline Group group_of(const std::string& what, KeyType type,
                                    Distribution distribution, std::uint64_t elements) {
  Group group;
  group.type = name_of(type);
  group.distribution = name_of(distribution);
  group.elements = elements;
  group.title =
      what + " " + format_count(elements) + " " + group.type + " keys, " + group.distribution;
  return group;
}

}  // namespace gsort::bench
