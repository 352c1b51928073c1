// Gives every statistic a number of its own, which shows where each one goes.
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
