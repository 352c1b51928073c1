// The failure of a fuzz target: the fuzzer keeps the input that caused it.
#pragma once

#include <cstdlib>

namespace gsort::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace gsort::fuzz
