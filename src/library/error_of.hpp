// Errors as results, for programs that do not use exceptions.
//
//   if (const auto error = gsort::error_of([&] { gsort::sort_device_keys(...); })) {
//     std::fprintf(stderr, "%s\n", error->what());
//   }
#pragma once

#include <memory>
#include <optional>

#include "base/error.hpp"

namespace gsort {

// error_of for a function and what it is called with.
[[nodiscard]] std::optional<Error> error_of_call(void (*call)(const void*),
                                                 const void* argument) noexcept;

// Calls call(), which calls functions of gsort. Returns what they throw, or null when they return;
// std::bad_alloc and other exceptions become an Error as well. Works in code that is compiled with
// -fno-exceptions, too, if nothing in call() has to be destroyed. Ends the program if there is no
// memory even for the message.
template <class Call>
[[nodiscard]] std::optional<Error> error_of(const Call& call) noexcept {
  return error_of_call([](const void* argument) { (*static_cast<const Call*>(argument))(); },
                       std::addressof(call));
}

}  // namespace gsort
