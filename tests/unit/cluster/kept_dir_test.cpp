// The folder of --resume beside what others make in it.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "io/system/sys.hpp"
#include "unit/cluster/sort_words.hpp"
#include "unit/io/support.hpp"

namespace gsort::cluster {
namespace {

class KeptDir : public testing::Test {
 protected:
  KeptDir() { io::test::write_file(folder_ / "in", io::test::random_bytes(4000)); }

  // By one process; returns the error, if any.
  [[nodiscard]] std::string sort() const {
    const std::string input = folder_ / "in";
    const std::string output = folder_ / "out";
    Options options = test::options_of(
        {"-t", "u32", "-S31M", "--parallel=1", input.c_str(), "-o", output.c_str()});
    options.resume = folder_ / "dir";
    return test::sort_by(1, options).error;
  }
  [[nodiscard]] bool exists(const std::string& name) const {
    return std::filesystem::exists(folder_ / name);
  }

  const io::test::TempFolder folder_;
};

TEST_F(KeptDir, HoldsNoLinkUnderANameOfGsort) {
  std::filesystem::create_directory(folder_ / "dir");
  std::filesystem::create_directory(folder_ / "data");
  for (const char* const name : {"data/notes", "data/.gsort-notes"}) {
    io::test::write_file(folder_ / name, {});
  }
  std::filesystem::create_directory_symlink("../data", folder_ / "dir/gsort-0123456789abcdef");
  const std::string error = sort();
  EXPECT_TRUE(io::test::contains(error, "did not create this folder")) << error;
  EXPECT_TRUE(exists("data/notes"));
  EXPECT_TRUE(exists("data/.gsort-notes"));
}

// At each moment of the end, another one begins, which may also end before this one does.
TEST_F(KeptDir, GoesWithTheLastOfSeveralProcesses) {
  const std::string other = folder_ / "dir/gsort-0123456789abcdef";
  bool has_come = true;
  for (std::uint64_t nth = 1; has_come; ++nth) {
    SCOPED_TRACE(nth);
    has_come = false;
    {
      const io::test::FaultScope at({io::sys::Call::kUnlink, nth, 0, false, [&] {
                                       std::error_code problem;  // the folder may be gone
                                       std::filesystem::create_directory(other, problem);
                                       has_come = true;
                                     }});
      EXPECT_EQ(sort(), "");
    }
    EXPECT_TRUE(!exists("dir") || exists("dir/.gsort-made-this-folder"));
    std::filesystem::remove_all(folder_ / "dir");
  }
}

}  // namespace
}  // namespace gsort::cluster
