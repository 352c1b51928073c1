// Shared by the calls on keys in host memory.
#pragma once

#include <string_view>

#include "base/current_error.hpp"
#include "options/caller_options.hpp"

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

}  // namespace gsort::library
