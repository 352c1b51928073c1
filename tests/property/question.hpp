// The facts from which random plans are made.
#pragma once

#include <cstdint>

#include <rapidcheck.h>

#include "options/options.hpp"
#include "plan/machine.hpp"

namespace gsort::test {

struct Question {
  Options options;
  Machine machine;
};

// A size between 2^low and 2^high, all magnitudes equally likely.
[[nodiscard]] inline std::uint64_t any_size(unsigned low, unsigned high) {
  const auto bits = *rc::gen::inRange(low, high);
  const auto least = std::uint64_t{1} << bits;
  return least + *rc::gen::inRange<std::uint64_t>(0, least);
}

}  // namespace gsort::test
