// Gives every statistic a different number, so that mixed-up statistics are found.
#pragma once

#include <cstdint>
#include <type_traits>

#include "plan/outcome.hpp"

namespace gsort::test {

// In the order of the table: `first`, `first` + 1, ...
inline void set_each(Statistics& statistics, std::uint64_t first) {
  for_each_statistic([&](const StatisticRow&, auto member) {
    statistics.*member = std::remove_reference_t<decltype(statistics.*member)>(first++);
  });
}

}  // namespace gsort::test
