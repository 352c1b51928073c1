// What a fuzz target says when something does not hold: the fuzzer keeps the input that did it.
#pragma once

#include <cstdlib>

namespace gsort::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace gsort::fuzz
