// Starts threads, which the system may refuse.
#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.hpp"

namespace gsort {

// A thread that calls `work`. `purpose` is the noun in the message: "starting a thread for
// merging". Throws: Error(kResource) if the system allows no further thread; `work` is not called
// then.
template <class Work>
[[nodiscard]] std::jthread start_thread(std::string_view purpose, Work&& work) {
  try {
    return std::jthread(std::forward<Work>(work));
  } catch (const std::system_error& refused) {
    throw Error::from_errno(ErrorKind::kResource, "starting a thread for " + std::string(purpose),
                            refused.code().value())
        .hint("raise the limit with 'ulimit -u', or use fewer cores with --parallel");
  }
}

}  // namespace gsort
