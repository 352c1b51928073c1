// SomeOf: chooses some of a test's long cases by a seed, which it prints. GSORT_SEED=N repeats a
// choice; with GSORT_EVERY_CASE, the test takes all.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace gsort::test {

// Returns the seed of this process; the first call prints it.
inline std::uint64_t seed_of_cases() {
  static const std::uint64_t seed = [] {
    const char* const given = std::getenv("GSORT_SEED");
    const std::uint64_t chosen =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("GSORT_SEED=%llu\n", static_cast<unsigned long long>(chosen));
    return chosen;
  }();
  return seed;
}

// Takes one of every `one_in` cases, different ones in each test.
class SomeOf {
 public:
  explicit SomeOf(unsigned one_in)
      : one_in_(std::getenv("GSORT_EVERY_CASE") != nullptr ? 1 : one_in), random_(seed_of_cases()) {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    for (const char letter : std::string(test.test_suite_name()) + test.name()) {
      random_.discard(static_cast<unsigned char>(letter));
    }
  }

  [[nodiscard]] bool takes() {
    if (place_ == 0) chosen_ = random_() % one_in_;
    const bool takes = place_ == chosen_;
    place_ = (place_ + 1) % one_in_;
    return takes;
  }

 private:
  std::uint64_t one_in_;
  std::uint64_t place_ = 0;   // among the next `one_in_` cases
  std::uint64_t chosen_ = 0;  // the one that is taken
  std::mt19937_64 random_;
};

}  // namespace gsort::test
