// Real integers: those that tools/dump_system finds on this machine, sorted with and without
// spilling.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "form/file_form.hpp"
#include "support/sort_run.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

// The dump, made once for all tests.
class RealInput : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    folder = new io::test::TempFolder();
    const std::string command = fmt::format("'{}' --library-bytes 20000000 '{}' > /dev/null",
                                            GSORT_DUMP_SYSTEM, folder->path());
    dumped = std::filesystem::exists(GSORT_DUMP_SYSTEM) && std::system(command.c_str()) == 0;
  }
  static void TearDownTestSuite() { delete folder; }

  static inline io::test::TempFolder* folder = nullptr;
  static inline bool dumped = false;
};

TEST_P(RealInput, IsSortedAsStdSortDoes) {
  if (!dumped) GTEST_SKIP() << "real input is not tested: " GSORT_DUMP_SYSTEM " does not run here";
  const test::Bytes input = io::test::read_file(*folder / GetParam());
  if (input.empty()) GTEST_SKIP() << GetParam() << ": there is nothing of that on this machine";
  const auto type = key_type_of_path(GetParam());
  ASSERT_TRUE(type.has_value());
  for (const KeyFormat& format : test::formats_of(*type)) {
    for (const char* const budget : {"4M", "64M"}) {
      SCOPED_TRACE(testing::Message() << test::words_of(format) << " in " << budget);
      test::SortRequest request;
      request.format = format;
      request.input = input;
      request.budget = budget;
      request.make_engine = test::engine_maker("cpu");
      const test::SortResult result = sort_in_folder(request);
      ASSERT_FALSE(result.error) << result.error->what();
      EXPECT_TRUE(result.output == test::sorted_copy(input, format));
      EXPECT_TRUE(result.left_in_temporary.empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dumps, RealInput,
                         testing::Values("inodes.u64", "sizes.u64", "mtimes.i64", "libraries.u32",
                                         "dependencies.u64"),
                         [](const auto& name) {
                           const std::string whole = name.param;
                           return whole.substr(0, whole.find('.'));
                         });

}  // namespace
}  // namespace gsort
