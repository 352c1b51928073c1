// The seams, which ask the liar at each event. The seams of engines and of a device's memory are
// test doubles. The seams of concrete classes are functions with which the linker replaces gsort's
// own (--wrap, see CMakeLists.txt) and which call these, before or after the lie.
#pragma once

#include <memory>

#include "base/tier_memory.hpp"
#include "support/engine_wrap.hpp"

// Spans of bytes in names of the linker.
#define GSORT_BYTES "St4spanISt4byteLm18446744073709551615EE"
#define GSORT_CONST_BYTES "St4spanIKSt4byteLm18446744073709551615EE"

// A function of gsort under the name that its calls get, and the one that calls it. A member
// function takes its object as its first argument, as in the ABI.
#define GSORT_REAL(symbol) asm("__real_" symbol)
#define GSORT_WRAP(symbol) asm("__wrap_" symbol)

namespace gsort::test {

// Hooks that ask the liar.
[[nodiscard]] EngineHooks lying_hooks();

// Whether lies at Seam::kReader may give a block twice: only where a chunk has room for it.
void let_reader_repeat(bool may_repeat);

[[nodiscard]] std::unique_ptr<TierMemory> make_lying_tier(std::uint64_t bytes);

}  // namespace gsort::test
