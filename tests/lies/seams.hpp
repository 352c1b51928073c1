// The seams at which the liar is asked. Those of engines and of a device's memory are test doubles;
// those of concrete classes are functions that the linker puts in the place of gsort's own
// (--wrap, see CMakeLists.txt): they call these, before or behind the lie.
#pragma once

#include <memory>

#include "base/tier_memory.hpp"
#include "support/engine_wrap.hpp"

namespace gsort::test {

// Hooks that ask the liar.
[[nodiscard]] EngineHooks lying_hooks();

// What the process's lies are told of: blocks of the reader may be given twice only where a chunk
// has room for them.
void let_reader_repeat(bool may_repeat);

[[nodiscard]] std::unique_ptr<TierMemory> make_lying_tier(std::uint64_t bytes);

}  // namespace gsort::test
