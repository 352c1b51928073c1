// Shared by the calls on keys in host memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/current_error.hpp"
#include "engine/cpu/in_place/in_place_sort.hpp"
#include "options/caller_options.hpp"
#include "pipeline/survey.hpp"

namespace gsort::library {

// Calls work(). `threads` is an argument of the call named `call`.
// Throws: Error(kUsage) for too many threads; exceptions of work() as an Error.
template <class Work>
void keys_call(unsigned threads, std::string_view call, const Work& work) {
  try {
    require_bounded_threads(threads, call);
    work();
  } catch (...) {
    throw current_error();
  }
}

// Sorting fewer keys takes less time than asking the host for its cores.
inline unsigned cores_for_bytes(std::size_t bytes, unsigned threads) {
  if (bytes < cpu::kLeastSharedBytes) return 1;
  return cores_for(threads == 0 ? std::nullopt : std::optional(threads));
}

}  // namespace gsort::library
