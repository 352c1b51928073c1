#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "io/input/input.hpp"
#include "io/output/shared_file.hpp"
#include "pipeline/share/join_parts.hpp"
#include "pipeline/share/part_file.hpp"
#include "pipeline/share/part_record.hpp"
#include "unit/io/support.hpp"
#include "unit/pipeline/share/at_every.hpp"

namespace gsort {
namespace {

using io::test::bytes_of;

// One part of two elements of one byte each, which replaces the input "ba".
class ReplacedInput : public testing::TestWithParam<bool> {
 protected:
  void begin() {
    for (const std::string& name : folder_.entries()) std::filesystem::remove(folder_ / name);
    io::test::write_file(input_, bytes_of("ba"));
    PartRecord record;
    record.has_own_file = GetParam();
    record.elements = record.end = record.file_bytes = 2;
    record.input = record.output = {2, 30, 70};
    record.content = io::content_sum_of(0, bytes_of("ab"));
    record.replaced = io::Input(input_).state();
    record.mark = 5;
    if (!record.has_own_file) record.mark = find_or_make_mark(place_, record);
    const io::SharedFile file(
        place_, file_name("in", record),
        record.has_own_file ? io::SharedFile::Access::kMake : io::SharedFile::Access::kLook);
    file.write_at(0, bytes_of("ab"));
    io::write_record(place_, record_name("in", record), encode_part(record));
  }
  void join() const {
    (void)(GetParam() ? join_own_parts(input_, {input_}) : join_parts(input_, 1));
  }
  void append() const { std::ofstream(input_, std::ios::app) << 'c'; }

  io::test::TempFolder folder_;
  const std::string input_ = folder_ / "in";
  const io::OutputPlace place_{input_};
};

// The last look at the input comes after all data is synced, and before the rename.
TEST_P(ReplacedInput, LosesNothingThatIsAppendedWhileTheOutputIsSynced) {
  unsigned errors = 0;
  test::at_every(
      {io::sys::Call::kFsync}, [this] { begin(); }, [this] { append(); },
      [&] {
        try {
          join();
          EXPECT_NE(io::test::read_file(input_), bytes_of("bac"));
        } catch (const Error& error) {
          EXPECT_EQ(error.reason(), "it has changed since --form read it");
          EXPECT_EQ(io::test::read_file(input_), bytes_of("bac"));
          ++errors;
        }
      });
  EXPECT_GT(errors, 0U);
}

INSTANTIATE_TEST_SUITE_P(OneFileAndOwn, ReplacedInput, testing::Bool());

}  // namespace
}  // namespace gsort
