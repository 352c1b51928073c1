// The Error of a call that must fail.
#pragma once

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace gsort::test {

// The Error that `act` throws; fails the test if it throws none.
template <class Act>
Error error_of(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no Error was thrown";
  return Error(ErrorKind::kUsage, "nothing", "was thrown");
}

}  // namespace gsort::test
