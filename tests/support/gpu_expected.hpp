// Whether tests of a card must find one: without it, they fail if there is a card or
// GSORT_TEST_GPU=1, and skip otherwise. With GSORT_TEST_GPU=0 none is expected.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace gsort::test {

inline bool gpu_is_expected() {
  if (const char* const asked = std::getenv("GSORT_TEST_GPU")) return std::string(asked) != "0";
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool hidden = visible != nullptr && (*visible == '\0' || std::string(visible) == "-1");
  std::error_code problem;
  return !hidden && std::filesystem::exists("/dev/nvidiactl", problem);
}

// Returns the reason why no GPU is tested; fails the test if there should be one.
inline std::string missing_gpu(const std::string& reason) {
  if (!reason.empty() && gpu_is_expected()) ADD_FAILURE() << "NOT TESTED: " << reason;
  return reason;
}

}  // namespace gsort::test
