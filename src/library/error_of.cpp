#include "library/error_of.hpp"

#include "base/current_error.hpp"

namespace gsort {

std::optional<Error> error_of_call(void (*call)(const void*), const void* argument) noexcept {
  try {
    call(argument);
    return std::nullopt;
  } catch (...) {
    return current_error();
  }
}

}  // namespace gsort
