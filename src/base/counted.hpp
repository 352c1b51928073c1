// A number with its noun: "1 core", "2 cores", "1,000 processes".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/units.hpp"

namespace gsort {

[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view noun,
                                         std::string_view plural = "s") {
  return format_count(count).append(" ").append(noun).append(count == 1 ? "" : plural);
}

}  // namespace gsort
