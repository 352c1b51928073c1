// Actions of other processes at any moment of a call under test.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/system/sys.hpp"
#include "unit/io/support.hpp"

namespace gsort::test {

// Calls test() once for each of its calls of these kinds, with others() before that call; calls
// begin() first each time.
inline void at_every(const std::vector<io::sys::Call>& calls, const std::function<void()>& begin,
                     const std::function<void()>& others, const std::function<void()>& test) {
  for (const io::sys::Call call : calls) {
    bool has_come = true;
    for (std::uint64_t nth = 1; has_come && !testing::Test::HasFailure(); ++nth) {
      SCOPED_TRACE(std::string(io::sys::name_of(call)) + " " + std::to_string(nth));
      has_come = false;
      begin();
      const auto come = [&] {
        has_come = true;
        others();
      };
      const io::test::FaultScope at({call, nth, 0, false, come});
      test();
    }
  }
}

}  // namespace gsort::test
