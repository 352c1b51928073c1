#include "pipeline/share/part_file.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "unit/io/support.hpp"
#include "unit/pipeline/share/at_every.hpp"

namespace gsort {
namespace {

class PartFile : public testing::Test {
 protected:
  PartFile() {
    record_.job = 77;
    record_.file_bytes = 8;
  }

  [[nodiscard]] std::string name_of(std::uint64_t mark) const {
    PartRecord record = record_;
    record.mark = mark;
    return file_name("out", record);
  }

  // Twice, by two processes.
  [[nodiscard]] std::uint64_t make() const {
    const std::uint64_t mark = find_or_make_mark(place_, record_);
    EXPECT_EQ(find_or_make_mark(place_, record_), mark);
    EXPECT_EQ(find_mark(place_, record_), mark);
    EXPECT_EQ(std::filesystem::file_size(folder_ / name_of(mark)), 8U);
    return mark;
  }

  io::test::TempFolder folder_;
  const io::OutputPlace place_{folder_ / "out"};
  PartRecord record_;
};

TEST_F(PartFile, IsOneOfEachJob) {
  EXPECT_FALSE(find_mark(place_, record_));
  const std::uint64_t mark = make();
  ++record_.job;
  EXPECT_FALSE(find_mark(place_, record_));
  EXPECT_NE(make(), mark);
}

// The file system gives the next file the number of the one that was removed.
TEST_F(PartFile, HasAnotherMarkThanTheOneThatWasRemoved) {
  std::uint64_t mark = make();
  for (int times = 0; times < 3; ++times) {
    std::filesystem::remove(folder_ / name_of(mark));
    EXPECT_FALSE(find_mark(place_, record_));
    const std::uint64_t again = make();
    EXPECT_NE(again, mark);
    mark = again;
  }
}

TEST_F(PartFile, IsNotOneThatWasCutOff) {
  const std::uint64_t mark = make();
  std::filesystem::resize_file(folder_ / name_of(mark), 7);
  EXPECT_NE(make(), mark);
}

// At every call of the one, the other makes it, at first or after one that was removed.
TEST_F(PartFile, IsOneThoughTwoMakeIt) {
  for (const bool was_removed : {false, true}) {
    const auto begin = [&] {
      for (const std::string& name : folder_.entries()) std::filesystem::remove(folder_ / name);
      if (was_removed) std::filesystem::remove(folder_ / name_of(make()));
    };
    test::at_every(
        {io::sys::Call::kOpen, io::sys::Call::kFsync, io::sys::Call::kLink}, begin,
        [&] { (void)find_or_make_mark(place_, record_); },
        [&] {
          const std::uint64_t mark = find_or_make_mark(place_, record_);
          EXPECT_EQ(find_mark(place_, record_), mark);
          EXPECT_EQ(folder_.entries().size(), was_removed ? 3U : 2U);
        });
  }
}

// Records that somebody made, each of which says that the file of the other one was lost.
TEST_F(PartFile, IsFoundOrMadeWhateverRecordsSay) {
  const auto say = [&](std::optional<std::uint64_t> lost, const std::string& text) {
    io::write_record(place_, mark_name("out", record_, lost), text);
  };
  say(std::nullopt, "0000000000000001\n");
  say(1, "0000000000000002\n");
  say(2, "0000000000000001\n");
  EXPECT_FALSE(find_mark(place_, record_));
  for (const std::string text :
       {"", "1\n", "0000000000000001", "000000000000000g\n", "00000000000000001\n"}) {
    say(std::nullopt, text);
    EXPECT_FALSE(find_mark(place_, record_)) << text;
  }
}

}  // namespace
}  // namespace gsort
