// The main of suites that run on a card. As GoogleTest's own, but that a suite of which nothing ran
// has not passed: it ends with 77, which ctest takes for skipped, or with 1 where it found no test
// at all and a GPU is expected.
#include <cstdio>

#include "support/gpu_expected.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  const int skipped = tests.skipped_test_count();
  if (status != 0 || GTEST_FLAG_GET(list_tests) || tests.test_to_run_count() > skipped) {
    return status;
  }
  constexpr int kSkipped = 77;
  std::printf("NOTHING WAS TESTED: %d of %d tests were skipped\n", skipped,
              tests.test_to_run_count());
  return skipped == 0 && gsort::test::gpu_is_expected() ? 1 : kSkipped;
}
